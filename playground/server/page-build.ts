import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What the page is made of, relative to the project; a change of any file makes it stale. */
const inputs = ['playground/index.html', 'playground/vite.config.ts', 'playground/web', 'playground/public']
const packages = ['packages/protocol/src', 'packages/client/src', 'packages/widget/src', 'package-lock.json']

/**
 * Builds the page when it was never built or something it is made of has changed since; takes about a second, and a
 * few milliseconds when there is nothing to do.
 * @param root folder of the project
 * @returns folder of the built page
 */
export async function buildPage(root: string): Promise<string> {
  const folder = join(root, 'playground', 'dist')
  const mark = join(folder, '.built-from')
  const fingerprint = await fingerprintOf(root)
  if (existsSync(join(folder, 'index.html')) && existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint)
    return folder
  const { build } = await import('vite')
  const { buildWidget } = await import('../../packages/widget/scripts/build.ts')
  await build({
    root: join(root, 'playground'),
    configFile: join(root, 'playground', 'vite.config.ts'),
    logLevel: 'warn',
  })
  await buildWidget()
  // Last, so that an interrupted build counts as none.
  writeFileSync(mark, fingerprint)
  return folder
}

/** Names, sizes and times of all inputs: reading their content would take longer than most starts. */
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
