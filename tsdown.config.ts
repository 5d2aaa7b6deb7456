import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { UserConfig } from 'tsdown'
import { bundledLicences } from './packages/drivers/scripts/bundled-licences.ts'
import { lancedbBundle } from './packages/drivers/scripts/lancedb-bundle.ts'
import { optionalMembers } from './packages/inlay/scripts/optional-members.ts'
import { descriptionsFile } from './packages/protocol/scripts/descriptions.ts'
import { flatDeclarations } from './packages/protocol/scripts/flat-declarations.ts'

/** Sources that a package's manifest exports: the build has exactly these entries, so the two cannot disagree. */
function entriesOf(manifest: {
  exports: Record<string, Record<string, string> | string>
  bin?: Record<string, string>
}): string[] {
  const exported = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'object' && target['@inlay/source'] ? [target['@inlay/source']] : [],
  )
  const commands = Object.values(manifest.bin ?? {}).map((file) =>
    file.replace('dist/', 'src/').replace(/\.js$/, '.ts'),
  )
  return [...new Set([...exported, ...commands])]
}

/** Packages that are published; the page is built by Vite and lies in `inlay`. */
const manifests = globSync('packages/*/package.json')
  .filter((file) => JSON.parse(readFileSync(file, 'utf8')).private !== true)
  .sort()

const configs: UserConfig[] = await Promise.all(
  manifests.map(async (file): Promise<UserConfig> => {
    const manifest = (await import(`./${file}`, { with: { type: 'json' } })).default
    // A package that is one script for pages has its own build; here it gets its types.
    const isScript = manifest.exports['./inlay-chat.js'] !== undefined
    const { './internal/*': _, ...publicExports } = manifest.exports
    return {
      name: basename(dirname(file)),
      cwd: dirname(file),
      entry: isScript ? ['src/index.ts'] : entriesOf(manifest),
      root: 'src',
      tsconfig: '../../tsconfig.json',
      format: 'esm',
      // neutral: plain .js and .d.ts names, also for packages that use Node built-ins.
      platform: 'neutral',
      target: 'es2024',
      // Internals are for the tests of this workspace, which read the sources.
      dts: {
        entry: isScript ? undefined : entriesOf({ exports: publicExports }).map((path) => join(dirname(file), path)),
        sourcemap: true,
        generator: 'oxc',
        ...(isScript && { emitDtsOnly: true }),
      },
      clean: true,
      // The sources are packed beside the maps.
      sourcemap: true,
      outputOptions: { sourcemapExcludeSources: true },
      // h3 goes into our file: a host app may need another major version of it where ours would be installed.
      deps: { neverBundle: [/^node:/, /^#/], onlyBundle: ['h3', 'rou3', 'srvx', 'uuid'] },
      plugins: [
        flatDeclarations(),
        bundledLicences('LICENSES.txt'),
        optionalMembers,
        manifest.imports?.['#descriptions'] && descriptionsFile,
      ],
    }
  }),
)

const all: UserConfig[] = [...configs, lancedbBundle]

export default all
