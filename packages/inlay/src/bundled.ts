import { readFileSync } from 'node:fs'
import { InlayError } from '@inlay/protocol'

/**
 * Checks that this code lies in its own package: a native part, workers and scripts are loaded from beside it.
 * @throws UNSUPPORTED in a bundle, which could accept documents and never index them
 */
export function checkUnbundled(): void {
  if (packageName() === 'inlay') return
  throw new InlayError('UNSUPPORTED', {
    message:
      'Inlay was bundled into another file, away from its native part and its workers. Keep the package "inlay" external: ' +
      'esbuild --external:inlay, rollup external: [/^inlay/], webpack externals: { inlay: "module inlay" }.',
  })
}

/** Undefined in a bundle of CommonJS as well, where there is no address. */
function packageName(): unknown {
  try {
    // Checked by the caller.
    return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined
  }
}
