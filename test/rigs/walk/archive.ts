import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** A file of an archive. */
export interface ArchivedFile {
  readonly path: string
  readonly text: string
}

const block = 512

/** The Markdown files of a `.tar.gz`, in its order. Names of more than 255 characters are not read. */
export function readArchive(path: string): ArchivedFile[] {
  const bytes = gunzipSync(readFileSync(path))
  const files: ArchivedFile[] = []
  for (let at = 0; at + block <= bytes.length && bytes[at] !== 0;) {
    const field = (from: number, length: number): string => {
      const text = bytes.toString('utf8', at + from, at + from + length)
      return text.slice(0, text.includes('\0') ? text.indexOf('\0') : length)
    }
    const size = Number.parseInt(field(124, 12), 8) || 0
    const [kind, prefix] = [field(156, 1), field(345, 155)]
    const name = prefix === '' ? field(0, 100) : `${prefix}/${field(0, 100)}`
    const start = at + block
    if ((kind === '' || kind === '0') && name.endsWith('.md'))
      files.push({ path: name, text: bytes.toString('utf8', start, start + size) })
    at = start + Math.ceil(size / block) * block
  }
  return files
}
