import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UserConfig } from 'tsdown'

/** Folder of the package that a module comes from; undefined for modules of ours. */
const packageFolder = (id: string): string | undefined => /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]

/** Licence and notices of a package, which have to go wherever its code goes. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = globSync('{LICENSE,LICENCE,NOTICE,CopyrightNotice}*', { cwd: folder }).sort()
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version}, ${license}`, ...texts].join('\n\n')
}

/**
 * LanceDB's JavaScript and Arrow in one file. Installed from npm it brings transformers, onnxruntime, sharp and openai
 * as optional dependencies, which no package that depends on it can leave out; only its native parts are needed.
 */
export const lancedbBundle: UserConfig = {
  name: 'lancedb',
  cwd: 'packages/drivers',
  entry: { native: 'src/lancedb/native.cjs' },
  outDir: 'dist/lancedb',
  format: 'cjs',
  target: 'es2024',
  dts: false,
  minify: true,
  outputOptions: { keepNames: true },
  clean: false,
  deps: { alwaysBundle: /./, neverBundle: [/^node:/, /^@lancedb\/lancedb-/], onlyBundle: false },
  plugins: [
    {
      name: 'lancedb-companions',
      // These two import the companions that are left out.
      load: (id) => (/\/lancedb\/dist\/embedding\/(openai|transformers)\.js$/.test(id) ? 'exports = {}' : undefined),
      generateBundle(_, bundle) {
        const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
        const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))
        const source = [...folders]
          .sort()
          .map(licenceOf)
          .join(`\n\n${'-'.repeat(80)}\n\n`)
        this.emitFile({ type: 'asset', fileName: 'native.LICENSES.txt', source: `${source}\n` })
      },
    },
  ],
}
