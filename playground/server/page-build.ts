import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Sources of the page, relative to the project; a change in any of them requires a build. */
const inputs = ['packages/page/index.html', 'packages/page/vite.config.ts', 'packages/page/src']
const packages = [
  'packages/protocol/src',
  'packages/client/src',
  'packages/widget/src',
  'packages/text/src',
  'package-lock.json',
]

/**
 * Builds the page if it was never built or its sources have changed. Takes about a second, or a few milliseconds if
 * there is nothing to do.
 * @param root folder of the project
 */
export async function buildPage(root: string): Promise<string> {
  const folder = join(root, 'packages', 'page', 'dist')
  const mark = join(folder, '.built-from')
  const fingerprint = await fingerprintOf(root)
  if (existsSync(join(folder, 'index.html')) && existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint)
    return folder
  const { build } = await import('vite')
  const { buildWidget } = await import('../../packages/widget/scripts/build.ts')
  await build({
    root: join(root, 'packages', 'page'),
    configFile: join(root, 'packages', 'page', 'vite.config.ts'),
    logLevel: 'warn',
    // Another start may be reading the files of the previous build.
    build: { emptyOutDir: false },
  })
  await buildWidget()
  // Written last, so that an interrupted build does not count.
  writeFileSync(mark, fingerprint)
  return folder
}

/** Names, sizes and times of all sources, since reading their content would take longer than most starts. */
async function fingerprintOf(root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const input of [...inputs, ...packages]) {
    const path = join(root, input)
    const facts = await stat(path).catch(() => undefined)
    if (facts === undefined) continue
    const names = facts.isDirectory()
      ? (await readdir(path, { recursive: true })).sort().map((name) => join(path, name))
      : [path]
    for (const name of names) {
      const file = await stat(name)
      if (file.isFile()) hash.update(`${name.slice(root.length)}\0${file.size}\0${file.mtimeMs}\0`)
    }
  }
  return hash.digest('hex')
}
