import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

let script: Promise<string> | undefined

/** The script of `<inlay-chat>`; undefined if it was not built, as in a fresh clone. Read once. */
export async function widgetScript(): Promise<string | undefined> {
  try {
    const packages = createRequire(import.meta.url)
    script ??= readFile(packages.resolve('@inlay/widget/inlay-chat.js'), 'utf8')
    return await script
  } catch {
    // Not cached, since it may be built later.
    script = undefined
    return undefined
  }
}
