/**
 * Runs before and after packing (`prepack`, `postpack`). The published manifest has no entry for internals, which is for
 * the tests of this workspace. Licence, author and addresses of the project are copied from the root, as is the readme of
 * `inlay`.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

const file = 'package.json'
const kept = '.package.json.kept'
const isMain = basename(process.cwd()) === 'inlay'
const made = isMain ? ['LICENSE', 'README.md'] : ['LICENSE']

/** The readme of the main package, with links that work outside the repository. */
function mainReadme(address) {
  const text = readFileSync('../../README.md', 'utf8')
  return text.replace(/\]\((?!https?:|#)([^)]+)\)/g, (_, path) => `](${address}/blob/main/${path})`)
}

if (process.argv[2] === 'restore') {
  if (existsSync(kept)) {
    renameSync(kept, file)
    for (const name of made) rmSync(name, { force: true })
  }
} else {
  const text = readFileSync(existsSync(kept) ? kept : file, 'utf8')
  const { scripts: _, exports, ...manifest } = JSON.parse(text)
  const { repository, author } = JSON.parse(readFileSync('../../package.json', 'utf8'))
  delete exports['./internal/*']
  const address = repository.url.replace(/^git\+|\.git$/g, '')
  const packed = {
    ...manifest,
    author,
    homepage: `${address}#readme`,
    bugs: `${address}/issues`,
    repository: { ...repository, directory: `packages/${basename(process.cwd())}` },
    publishConfig: { access: 'public', provenance: true },
    exports,
  }
  writeFileSync(kept, text)
  writeFileSync(file, `${JSON.stringify(packed, undefined, 2)}\n`)
  copyFileSync('../../LICENSE', 'LICENSE')
  if (isMain) writeFileSync('README.md', mainReadme(address))
}
