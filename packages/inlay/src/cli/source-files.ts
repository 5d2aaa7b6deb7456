import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { InlayError, readableExtensions } from '@inlay/protocol'

/** A file to be taken in. */
export interface SourcePath {
  readonly path: string
  /** Names the document: the folder that was given, and the way from there to the file, with slashes. */
  readonly id: string
  /** The same without the folder that was given. */
  readonly below: string
}

/**
 * Finds the readable files in folders and among files, by id. Hidden files and folders and `node_modules` are left out
 * unless they are named. A file that is named has the id it has when the first folder of its path is taken from the same
 * place: `handbook/travel/trains.md` is the same document as in `handbook`.
 * @param onSkipped hears of each file of a folder that is of another kind
 * @throws INVALID_INPUT for a path that does not exist, and for a named file of another kind
 */
export async function findSourceFiles(
  paths: readonly string[],
  workingFolder: string = process.cwd(),
  onSkipped: (path: string) => void = () => {},
): Promise<SourcePath[]> {
  const sources = new Map<string, SourcePath>()
  for (const given of paths) {
    const path = resolve(workingFolder, given)
    const facts = await stat(path).catch(() => undefined)
    if (facts === undefined)
      throw new InlayError('INVALID_INPUT', { message: `there is no file or folder "${given}".` })
    if (facts.isDirectory()) for (const file of await filesIn(path, onSkipped)) sources.set(file, toSource(file, path))
    else if (isReadable(path)) sources.set(path, toSource(path, folderOf(path, workingFolder)))
    else {
      throw new InlayError('INVALID_INPUT', {
        message: `"${given}" is not of a kind that is read: ${readableExtensions.join(', ')}.`,
      })
    }
  }
  return [...sources.values()].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/** The first folder on the way from the working folder to a file; outside of it, or directly in it, the file's own. */
function folderOf(path: string, workingFolder: string): string {
  const way = relative(workingFolder, path).split(sep)
  return way.length > 1 && way[0] !== '..' && !isAbsolute(way.join(sep)) ? join(workingFolder, way[0]!) : dirname(path)
}

function toSource(path: string, folder: string): SourcePath {
  const below = relative(folder, path).split(sep).join('/')
  return { path, below, id: `${basename(folder)}/${below}` }
}

async function filesIn(folder: string, onSkipped: (path: string) => void): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const paths = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesIn(path, onSkipped)
      // Links are followed to files, never to folders: a link upwards would not end.
      const isFile =
        entry.isFile() || (entry.isSymbolicLink() && (await stat(path).catch(() => undefined))?.isFile() === true)
      if (isFile && isReadable(path)) return [path]
      if (isFile) onSkipped(path)
      return []
    }),
  )
  return paths.flat()
}

function isReadable(path: string): boolean {
  return readableExtensions.includes(extname(path).toLowerCase())
}
