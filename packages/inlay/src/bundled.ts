import { readFileSync } from 'node:fs'
import { InlayError } from '@inlay/protocol'

/**
 * Checks that this code is in its own package, since native parts, workers and scripts are loaded relative to it.
 * @throws UNSUPPORTED in a bundle, which would accept documents but never index them
 */
export function checkUnbundled(): void {
  if (packageName() === 'inlay') return
  throw new InlayError('UNSUPPORTED', {
    message:
      'Inlay was bundled into another file and cannot find its native part and workers. Keep the ' +
      'package "inlay" external: esbuild --external:inlay, rollup external: [/^inlay/], webpack ' +
      'externals: { inlay: "module inlay" }.',
  })
}

/** Also undefined in a CommonJS bundle, where `import.meta.url` is missing. */
function packageName(): unknown {
  try {
    // Only the field `name` is used, and the caller compares it.
    return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined
  }
}
