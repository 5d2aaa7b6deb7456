import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { InlayError } from '@inlay/protocol'

/** A file to be taken in. */
export interface SourcePath {
  readonly path: string
  /** Name of its folder as given and the way from there, with slashes: the same wherever the command is called. */
  readonly id: string
  /** The way from the folder given, with slashes. */
  readonly below: string
}

/** Extensions of files that are read. */
export const readableExtensions: readonly string[] = [
  '.md',
  '.markdown',
  '.mdx',
  '.txt',
  '.text',
  '.html',
  '.htm',
  '.pdf',
  '.docx',
  '.pptx',
  '.xlsx',
  '.csv',
  '.eml',
]

/**
 * Finds the readable files in folders and among files, by name. Hidden files and folders and `node_modules` are left out
 * unless they are named; a file that is named is taken with its folder's name, so it keeps its id when later its folder
 * is taken.
 * @throws INVALID_INPUT for a path that does not exist, and for a named file of another kind
 */
export async function findSourceFiles(paths: readonly string[]): Promise<SourcePath[]> {
  const found = new Map<string, SourcePath>()
  for (const given of paths) {
    const path = resolve(given)
    const facts = await stat(path).catch(() => undefined)
    if (facts === undefined)
      throw new InlayError('INVALID_INPUT', { message: `there is no file or folder "${given}".` })
    const root = facts.isDirectory() ? path : dirname(path)
    if (!facts.isDirectory() && !isReadable(path)) {
      throw new InlayError('INVALID_INPUT', {
        message: `"${given}" is not of a kind that is read: ${readableExtensions.join(', ')}.`,
      })
    }
    for (const file of facts.isDirectory() ? await filesIn(path) : [path]) found.set(file, toSource(file, root))
  }
  return [...found.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function toSource(path: string, root: string): SourcePath {
  const below = relative(root, path).split(sep).join('/')
  return { path, below, id: `${basename(root)}/${below}` }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesIn(path)
      // Links are followed to files, never to folders: a link upwards would not end.
      const isFile =
        entry.isFile() || (entry.isSymbolicLink() && (await stat(path).catch(() => undefined))?.isFile() === true)
      return isFile && isReadable(path) ? [path] : []
    }),
  )
  return found.flat()
}

function isReadable(path: string): boolean {
  return readableExtensions.includes(extname(path).toLowerCase())
}
