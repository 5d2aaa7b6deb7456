import { isInlayError } from '@inlay/protocol'
import type { TurnFiles } from '../contracts/action.ts'
import type { StoredFile } from '../contracts/file-store.ts'
import type { CodeFile } from '../contracts/code-runner.ts'

const maxNameLength = 120

/**
 * Reads the files of a turn for a program. A file keeps its name unless the name is invalid or taken by a newer file.
 * Files named in the code come first, then newer ones, until the limit is reached.
 */
export async function stageFiles(
  files: Pick<TurnFiles, 'list' | 'open'>,
  { code, maxBytes, signal }: { readonly code: string; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<{
  readonly files: readonly CodeFile[]
  /** Notices for the model: renamed and missing files. */
  readonly notices: readonly string[]
}> {
  const newestFirst = (await files.list()).toReversed()
  const take = createNames()
  const named = newestFirst.map((file) => ({ name: take(file.name), file }))
  const isAsked = ({ name }: { readonly name: string }): boolean => code.includes(name)
  const ordered = [...named.filter(isAsked), ...named.filter((file) => !isAsked(file))]
  const staged: CodeFile[] = []
  const notices = named.flatMap(({ name, file }) =>
    name === file.name ? [] : [`${quoted(file.name)} is there as ${quoted(name)}.`],
  )
  let left = maxBytes
  for (const { name, file } of ordered) {
    signal.throwIfAborted()
    if (file.sizeBytes > left) {
      notices.push(`${quoted(name)} is not there: all files together may have ${Math.round(maxBytes / 1e6)} MB.`)
      continue
    }
    const bytes = await readBytes(files, file)
    if (bytes) {
      left -= bytes.byteLength
      staged.push({ name, bytes })
    } else notices.push(`${quoted(name)} is not there: it cannot be read.`)
  }
  return { files: staged, notices }
}

/** Creates a function that makes names unique, ignoring case: `sales.csv`, `sales-2.csv`. */
export function createNames(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    const plain = toPlainName(wanted)
    const dot = plain.lastIndexOf('.')
    const [stem, extension] = dot > 0 ? [plain.slice(0, dot), plain.slice(dot)] : [plain, '']
    let name = plain
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${stem}-${number}${extension}`
    taken.add(name.toLowerCase())
    return name
  }
}

/** A file name valid on every system: no folders, control characters or leading dot; `file` when nothing is left. */
export function toPlainName(name: string): string {
  const last =
    name
      .toWellFormed()
      .normalize('NFC')
      .split(/[/\\]/)
      .findLast((part) => part.trim() !== '') ?? ''
  const plain = last
    // oxlint-disable-next-line no-control-regex -- they are what is not wanted
    .replace(/[\u0000-\u001f\u007f-\u009f:*?"<>|\u2028\u2029]/g, '_')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '')
  if (plain.length <= maxNameLength) return plain === '' ? 'file' : plain
  const extension = /\.[^.]{1,10}$/.exec(plain)?.[0] ?? ''
  return `${plain.slice(0, maxNameLength - extension.length).toWellFormed()}${extension}`
}

async function readBytes(files: Pick<TurnFiles, 'open'>, file: StoredFile): Promise<Uint8Array | undefined> {
  try {
    const { bytes } = await files.open(file.fileId)
    return new Uint8Array(await new Response(bytes).arrayBuffer())
  } catch (error) {
    // A file that was deleted, or never uploaded completely, is reported to the model; the program may not need it.
    if (isInlayError(error)) return undefined
    throw error
  }
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 200))
}
