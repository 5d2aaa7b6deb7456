/**
 * What a package does around its packing (`prepack`, `postpack`): the door to its internals is for the tests of this
 * workspace, so the published manifest goes without it.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

const file = 'package.json'
const kept = '.package.json.kept'

if (process.argv[2] === 'restore') {
  if (existsSync(kept)) renameSync(kept, file)
} else {
  const text = readFileSync(existsSync(kept) ? kept : file, 'utf8')
  const { scripts: _, exports, ...manifest } = JSON.parse(text)
  delete exports['./internal/*']
  writeFileSync(kept, text)
  writeFileSync(file, `${JSON.stringify({ ...manifest, exports }, undefined, 2)}\n`)
}
