import { adviceForUnreadFile, readableExtensions, type UnreadFileAdvice } from '@inlay/protocol'
import { documentTexts } from '../texts/view-texts.ts'

/** Largest file the service takes as a document, in bytes. */
const maxBytes = 100 * 2 ** 20

/** A file a person hands in, and the way to it from the folder they handed in; its name when it came alone. */
export interface HandedFile {
  readonly file: File
  readonly path: string
}

export function refusalOf({ file, path }: HandedFile): string | undefined {
  const isReadable = readableExtensions.some((ending) => file.name.toLowerCase().endsWith(ending))
  const advice = isReadable ? undefined : adviceForUnreadFile(path)
  // The service knows whether it reads pictures; those in folders mostly are no documents.
  const isNamedPicture = advice?.step === 'turn OCR on' && !path.includes('/')
  if (!isReadable && !isNamedPicture) return kindRefusalOf(advice)
  if (file.size === 0) return documentTexts.isEmpty
  if (file.size > maxBytes) return documentTexts.isTooLarge
  return undefined
}

function kindRefusalOf(advice: UnreadFileAdvice | undefined): string {
  switch (advice?.step) {
    case 'save as':
      return documentTexts.saveAs(advice.extension)
    case 'turn OCR on':
      return documentTexts.isPicture
    case 'save as picture':
      return documentTexts.isOtherPicture
    case 'unpack':
      return documentTexts.isArchive
    case 'transcribe':
      return documentTexts.isRecording
    default:
      return documentTexts.isOfUnknownKind
  }
}

/**
 * Id of the document of a file, that of the command line and the API as well: the same file again replaces it.
 * @param copy counts files that share a path, from 1
 */
export function documentIdOf({ path }: HandedFile, copy = 1): string {
  return copy === 1 ? path : `${path} (${copy})`
}

/** Files that were chosen, with the folders they lie in where a folder was chosen. */
export function chosenFiles(files: Iterable<File>): readonly HandedFile[] {
  return [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }))
}

/** Files that were dropped; folders with all that is in them but hidden files. */
export async function droppedFiles(data: DataTransfer): Promise<readonly HandedFile[]> {
  // Asked for at once: the list is empty as soon as the event is over.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  if (entries.length === 0) return chosenFiles(data.files)
  return (await Promise.all(entries.map(filesOf))).flat()
}

async function filesOf(entry: FileSystemEntry): Promise<readonly HandedFile[]> {
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    return [{ file, path: entry.fullPath.replace(/^\//, '') }]
  }
  if (!isFolderEntry(entry)) return []
  const reader = entry.createReader()
  const inside: FileSystemEntry[] = []
  for (;;) {
    // A folder is read in parts; an empty one ends it.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) break
    inside.push(...part)
  }
  return (await Promise.all(inside.filter(({ name }) => !name.startsWith('.')).map(filesOf))).flat()
}

const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolderEntry = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
