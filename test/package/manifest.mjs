/**
 * What a package does around its packing (`prepack`, `postpack`): the door to its internals is for the tests of this
 * workspace, so the published manifest goes without it. Licence, readme and the address of the sources come from the
 * root, where they stand once.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

const file = 'package.json'
const kept = '.package.json.kept'
const made = ['LICENSE', 'README.md']

/** The readme of the main package, with links that work outside the repository. */
function mainReadme(address) {
  const text = readFileSync('../../README.md', 'utf8')
  return text.replace(/\]\((?!https?:|#)([^)]+)\)/g, (_, path) => `](${address}/blob/main/${path})`)
}

function partReadme({ name, description }) {
  return `# ${name}\n\n${description}\n\nA part of [Inlay](https://www.npmjs.com/package/inlay), which most apps install instead.\n`
}

if (process.argv[2] === 'restore') {
  if (existsSync(kept)) {
    renameSync(kept, file)
    for (const name of made) rmSync(name, { force: true })
  }
} else {
  const text = readFileSync(existsSync(kept) ? kept : file, 'utf8')
  const { scripts: _, exports, ...manifest } = JSON.parse(text)
  const { repository } = JSON.parse(readFileSync('../../package.json', 'utf8'))
  delete exports['./internal/*']
  const packed = {
    ...manifest,
    repository: { ...repository, directory: `packages/${basename(process.cwd())}` },
    publishConfig: { access: 'public', provenance: true },
    exports,
  }
  writeFileSync(kept, text)
  writeFileSync(file, `${JSON.stringify(packed, undefined, 2)}\n`)
  copyFileSync('../../LICENSE', 'LICENSE')
  const address = repository.url.replace(/^git\+|\.git$/g, '')
  writeFileSync('README.md', manifest.name === 'inlay' ? mainReadme(address) : partReadme(manifest))
}
