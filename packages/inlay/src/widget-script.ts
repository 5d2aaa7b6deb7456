import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const packages = createRequire(import.meta.url)
let script: Promise<string> | undefined

/** The script of `<inlay-chat>`; undefined where it was not built, as in a fresh clone. Read once. */
export async function widgetScript(): Promise<string | undefined> {
  try {
    script ??= readFile(packages.resolve('@inlay/widget/inlay-chat.js'), 'utf8')
    return await script
  } catch {
    // It may be built by the next request.
    script = undefined
    return undefined
  }
}
