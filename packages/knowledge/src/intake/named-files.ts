import { type IngestionDocument, validationFailed } from '@inlay/protocol'
import type { FileExtractor, FileStore } from '../contracts/files.ts'
import type { ImageStore } from '../contracts/models.ts'
import type { Caller } from '../contracts/pairs.ts'

/** Where the files that documents name are. */
export interface NamedFiles {
  /** Without it, ids of images are taken as they come. */
  readonly images?: ImageStore
  /** Without it, `file_id` is taken as it comes, and tables are refused. */
  readonly files?: FileStore
  readonly readFile?: FileExtractor
}

type Location = readonly string[]

interface NamedFile {
  readonly id: string
  readonly loc: Location
}

/**
 * Refuses a document that names a file which is unknown or somebody else's.
 * @throws VALIDATION_FAILED that names each such field
 */
export async function checkNamedFiles(
  document: IngestionDocument,
  { images, files, readFile }: NamedFiles,
  caller: Caller | undefined,
): Promise<void> {
  const pictures = inSections(document, 'image_file_id')
  const tables = inSections(document, 'csv_file_id')
  const raw = document.file_id ? [{ id: document.file_id, loc: ['body', 'document', 'file_id'] }] : []
  const refusals = [
    ...(await missing(pictures, images, caller)).map((file) => toRefusal(file, 'names no image of the caller')),
    ...(files && readFile
      ? (await missing(tables, files, caller)).map((file) => toRefusal(file, 'names no file of the caller'))
      : tables.map(({ loc }) => ({ loc, msg: 'tables cannot be read here: send their text', type: 'value_error' }))),
    ...(await missing(raw, files, caller)).map((file) => toRefusal(file, 'names no file of the caller')),
  ]
  if (refusals.length > 0) throw validationFailed(refusals)
}

function inSections({ sections }: IngestionDocument, field: 'image_file_id' | 'csv_file_id'): NamedFile[] {
  return sections.flatMap((section, at) => {
    const id: unknown = Reflect.get(section, field)
    if (typeof id !== 'string' || id === '') return []
    return [{ id, loc: ['body', 'document', 'sections', String(at), field] }]
  })
}

async function missing(
  named: readonly NamedFile[],
  store: Pick<FileStore, 'find'> | undefined,
  caller: Caller | undefined,
): Promise<readonly NamedFile[]> {
  if (!store || named.length === 0) return []
  const existing = new Set(await store.find([...new Set(named.map(({ id }) => id))], caller))
  return named.filter(({ id }) => !existing.has(id))
}

function toRefusal({ loc }: NamedFile, fault: string): { loc: Location; msg: string; type: string } {
  return { loc, msg: `${fault}: upload it first`, type: 'value_error' }
}
