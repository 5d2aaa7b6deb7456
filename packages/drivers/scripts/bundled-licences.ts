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

/** Writes the licences of other people's code that a build contains into `fileName`; nothing when it contains none. */
export function bundledLicences(fileName: string): Exclude<UserConfig['plugins'], undefined> {
  return {
    name: 'bundled-licences',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const modules = chunks.flatMap(({ fileName, moduleIds }) => (/\.[cm]?js$/.test(fileName) ? moduleIds : []))
      const folders = [...new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))].sort()
      if (folders.length === 0) return
      const source = folders.map(licenceOf).join(`\n\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName, source: `${source}\n` })
    },
  }
}
