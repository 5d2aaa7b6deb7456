import { join } from 'node:path'
import type { FileIndex, FileReader } from '@inlay/agent'
import type { Knowledge } from '@inlay/knowledge'
import type { Storage } from 'unstorage'

/** A reader of files, and what ends it. */
export interface ClosableReader {
  readonly read: FileReader
  close(): Promise<void>
}

/** Keeps files in the folder `files` of the data folder. */
export async function defaultStorage(dataFolder: string): Promise<Storage> {
  const [{ createStorage }, { blobFolder }] = await Promise.all([
    import('unstorage'),
    import('@inlay/drivers/blob-folder'),
  ])
  return createStorage({ driver: blobFolder({ folder: join(dataFolder, 'files') }) })
}

/** Reads PDF, Office, HTML, mails and text in a thread of its own, which starts with the first file. */
export function defaultReader(): ClosableReader {
  let loading: Promise<FileReader & { close(): Promise<void> }> | undefined
  const load = async (): Promise<FileReader & { close(): Promise<void> }> => {
    const { fileExtractor } = await import('@inlay/drivers/file-extraction')
    return fileExtractor()
  }
  return {
    read: async (file, options) => (await (loading ??= load()))(file, options),
    close: async () => (await loading)?.close(),
  }
}

/** Searches files on the shelf of the knowledge, where nothing but their ids finds them. */
export function toFileIndex({ shelf }: Pick<Knowledge, 'shelf'>): FileIndex {
  return {
    put: ({ id, name, sections, createdAt }, options) =>
      shelf.put({ id, title: name, source: 'user_file', sections, updatedAt: createdAt }, options),
    remove: (id) => shelf.remove(id),
    search: ({ fileIds, ...query }) => shelf.search({ ...query, documentIds: fileIds }),
  }
}
