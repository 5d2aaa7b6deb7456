import { glob, readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { adviceForUnreadFile, InlayError, readableExtensions } from '@inlay/protocol'

export interface SourcePath {
  readonly path: string
  /** Id of the document: the name of the given folder and the path in it, with slashes. */
  readonly id: string
  /** The path in the given folder. */
  readonly below: string
}

/**
 * Finds the readable files in folders and among files, by id. Hidden files and folders and `node_modules` are skipped
 * unless given explicitly. A single file gets the id it would have if the first folder of its path were given:
 * `handbook/travel/trains.md` is the same document as in `handbook`.
 * @param onSkipped called with each file in a folder that has an unsupported type
 * @param onUnreadable called with the id of each folder that may not be read
 * @param hasOcr whether pictures are read; in folders they mostly are no documents, and are skipped
 * @throws INVALID_INPUT for a path that does not exist, and for a given file with an unsupported type
 */
export async function findSourceFiles(
  paths: readonly string[],
  workingFolder: string = process.cwd(),
  onSkipped: (path: string) => void = () => {},
  hasOcr = false,
  onUnreadable: (id: string) => void = () => {},
): Promise<SourcePath[]> {
  const sources = new Map<string, SourcePath>()
  for (const given of paths) {
    const path = resolve(workingFolder, given)
    const facts = await stat(path).catch(() => undefined)
    if (facts === undefined) throw new InlayError('INVALID_INPUT', { message: absent(given) })
    const tellUnreadable = (folder: string): void => onUnreadable(toSource(folder, path).id)
    if (facts.isDirectory())
      for (const file of await filesIn(path, onSkipped, tellUnreadable)) sources.set(file, toSource(file, path))
    else if (!facts.isFile()) throw new InlayError('INVALID_INPUT', { message: `"${given}" is not a regular file.` })
    else if (isReadable(path) || (hasOcr && isPicture(path)))
      sources.set(path, toSource(path, folderOf(path, workingFolder)))
    else {
      throw new InlayError('INVALID_INPUT', { message: `"${given}" ${refusalOf(given)}` })
    }
  }
  return [...sources.values()].sort((left, right) => (left.id < right.id ? -1 : 1))
}

function absent(given: string): string {
  const isAddress = /^\w+:\/\/|^www\./i.test(given)
  return `there is no file or folder "${given}".${isAddress ? ' URLs begin with http:// or https://.' : ''}`
}

function refusalOf(name: string): string {
  const advice = adviceForUnreadFile(name)
  switch (advice?.step) {
    case 'save as':
      return `is of a kind that is not read: save it as ${advice.extension}.`
    case 'turn OCR on':
      return 'is a picture: set INLAY_OCR to have its text read (inlay help settings).'
    case 'save as picture':
      return 'is a picture of a kind that is not read: save it as .png, and set INLAY_OCR to have its text read.'
    case 'unpack':
      return 'is an archive: unpack it and give the folder.'
    case 'transcribe':
      return 'is a recording: give a transcript of it.'
    default:
      return `has an unsupported type: use ${readableExtensions.join(', ')}.`
  }
}

/** One sentence for each kind of unread files among these extensions that has a remedy. */
export function adviceForExtensions(extensions: readonly string[]): readonly string[] {
  const advices = extensions.map((extension) => ({ extension, advice: adviceForUnreadFile(extension) }))
  const having = (step: string, as?: string): string =>
    advices
      .filter(({ advice }) => advice?.step === step && (advice.step !== 'save as' || advice.extension === as))
      .map(({ extension }) => extension)
      .join(', ')
  const targets = new Set(advices.flatMap(({ advice }) => (advice?.step === 'save as' ? [advice.extension] : [])))
  const [pictures, others] = [having('turn OCR on'), having('save as picture')]
  const [archives, recordings] = [having('unpack'), having('transcribe')]
  return [
    ...[...targets].map((target) => `Save ${having('save as', target)} as ${target}.`),
    ...(pictures === '' ? [] : [`For texts in ${pictures}, set INLAY_OCR and give them by name or pattern.`]),
    ...(others === '' ? [] : [`For texts in ${others}, save them as .png first.`]),
    ...(archives === '' ? [] : [`Unpack ${archives}.`]),
    ...(recordings === '' ? [] : [`Transcribe ${recordings}.`]),
  ]
}

/** Replaces patterns by the files they match; other paths stay unchanged. @throws INVALID_INPUT if nothing matches */
export async function expandPatterns(paths: readonly string[], hasOcr = false): Promise<string[]> {
  const expanded = await Promise.all(
    paths.map(async (path) => {
      if (!/[*?[{]/.test(path) || (await stat(path).catch(() => undefined)) !== undefined) return [path]
      const matches: string[] = []
      const others = new Set<string>()
      for await (const match of glob(path)) {
        // Also links that lead nowhere, and folders.
        if ((await stat(match).catch(() => undefined))?.isFile() !== true) continue
        if (isReadable(match) || (hasOcr && isPicture(match))) matches.push(match)
        else others.add(extname(match).toLowerCase())
      }
      if (matches.length > 0) return matches
      const advice = ['', ...adviceForExtensions([...others])].join(' ')
      throw new InlayError('INVALID_INPUT', { message: `no file with a supported type matches "${path}".${advice}` })
    }),
  )
  return expanded.flat()
}

/** The paths that are folders, as absolute paths. */
export async function foldersOf(paths: readonly string[]): Promise<string[]> {
  const resolved = paths.map((path) => resolve(path))
  const facts = await Promise.all(resolved.map((path) => stat(path).catch(() => undefined)))
  return resolved.filter((_, at) => facts[at]?.isDirectory() === true)
}

/** The files to ingest at a path in a folder: the path itself, or the files in it. */
export async function findBelow(folder: string, path: string): Promise<SourcePath[]> {
  const facts = await stat(path).catch(() => undefined)
  if (facts === undefined) return []
  const files = facts.isDirectory() ? await filesIn(path) : isReadable(path) ? [path] : []
  return files.map((file) => toSource(file, folder))
}

/** The first folder on the path from the working directory; for files elsewhere, the folder that contains them. */
function folderOf(path: string, workingFolder: string): string {
  const way = relative(workingFolder, path).split(sep)
  return way.length > 1 && way[0] !== '..' && !isAbsolute(way.join(sep)) ? join(workingFolder, way[0]!) : dirname(path)
}

export function toSource(path: string, folder: string): SourcePath {
  const below = relative(folder, path).split(sep).join('/')
  return { path, below, id: `${basename(folder)}/${below}` }
}

async function filesIn(
  folder: string,
  onSkipped: (path: string) => void = () => {},
  onUnreadable: (folder: string) => void = () => {},
): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
    onUnreadable(folder)
    return []
  })
  const paths = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesIn(path, onSkipped, onUnreadable)
      // Links to files are followed, but not links to folders: a link to a parent would never end.
      const isFile =
        entry.isFile() || (entry.isSymbolicLink() && (await stat(path).catch(() => undefined))?.isFile() === true)
      if (isFile && isReadable(path)) return [path]
      if (isFile) onSkipped(path)
      return []
    }),
  )
  return paths.flat()
}

function isPicture(path: string): boolean {
  return ['.png', '.jpg', '.jpeg'].includes(extname(path).toLowerCase())
}

function isReadable(path: string): boolean {
  return readableExtensions.includes(extname(path).toLowerCase())
}
