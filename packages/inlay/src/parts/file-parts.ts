import type { BlobStorage, Conversations, FileIndex } from '@inlay/conversations'
import type { FileExtractor, ImageStore, Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { filesFolder } from '../data-folder.ts'

/** A reader of files, and what ends it. */
export interface ClosableReader {
  readonly read: FileExtractor
  close(): Promise<void>
}

/** Keeps files in the folder `files` of the data folder. */
export async function defaultStorage(dataFolder: string): Promise<BlobStorage> {
  const [{ createStorage }, { blobFolder }] = await Promise.all([
    import('unstorage'),
    import('@inlay/drivers/blob-folder'),
  ])
  return createStorage({ driver: blobFolder({ folder: filesFolder(dataFolder) }) })
}

/** Reads PDF, Office, HTML, mails and text in a thread of its own, which starts with the first file. */
export function defaultReader(): ClosableReader {
  let loading: Promise<FileExtractor & { close(): Promise<void> }> | undefined
  const load = async (): Promise<FileExtractor & { close(): Promise<void> }> => {
    const { fileExtractor } = await import('@inlay/drivers/file-extraction')
    return fileExtractor()
  }
  return {
    read: async (file, options) => (await (loading ??= load()))(file, options),
    close: async () => (await loading)?.close(),
  }
}

/** Searches files on the privateFiles of the knowledge, where nothing but their ids finds them. */
export function toFileIndex({ privateFiles }: Pick<Knowledge, 'privateFiles'>): FileIndex {
  return {
    put: ({ id, name, sections, createdAt }, options) =>
      privateFiles.put({ id, title: name, source: 'user_file', sections, updatedAt: createdAt }, options),
    remove: (id) => privateFiles.remove(id),
    search: ({ fileIds, ...query }) => privateFiles.search({ ...query, documentIds: fileIds }),
    excerpt: ({ fileId, ...part }) => privateFiles.excerpt({ ...part, documentId: fileId }),
  }
}

/** Models take no larger ones. */
const largestImageBytes = 20 * 2 ** 20

/** Uploaded pictures as the images of documents: callers put their own into documents, the host any. */
export function toImageStore(files: () => Conversations['files']): ImageStore {
  type Lent = Awaited<ReturnType<Conversations['files']['lend']>>
  const lend = async (id: string): Promise<Lent | undefined> => {
    try {
      return await files().lend(id)
    } catch (error) {
      if (isInlayError(error) && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }
  return {
    find: async (ids, caller) => {
      const found = caller
        ? await files().find(ids, caller)
        : (await Promise.all(ids.map(lend))).flatMap((lent) => lent?.file ?? [])
      const images = new Set(found.filter(({ kind }) => kind === 'image').flatMap(({ id, fileId }) => [id, fileId]))
      return ids.filter((id) => images.has(id))
    },
    read: async (id) => {
      const lent = await lend(id)
      if (!lent || lent.file.sizeBytes > largestImageBytes) return undefined
      return { bytes: new Uint8Array(await new Response(lent.bytes).arrayBuffer()), mediaType: lent.file.mediaType }
    },
  }
}
