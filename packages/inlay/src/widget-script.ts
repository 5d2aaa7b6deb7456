import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

let script: Promise<string> | undefined

/** The script of `<inlay-chat>`; undefined where it was not built, as in a fresh clone. Read once. */
export async function widgetScript(): Promise<string | undefined> {
  try {
    const packages = createRequire(import.meta.url)
    script ??= readFile(packages.resolve('@inlay/widget/inlay-chat.js'), 'utf8')
    return await script
  } catch {
    // It may be built by the next request.
    script = undefined
    return undefined
  }
}
