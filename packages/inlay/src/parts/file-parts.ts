import type { BlobStorage, Conversations, FileIndex } from '@inlay/conversations'
import type { Caller, FileExtractor, FileStore, ImageStore, Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { filesFolder } from '../data-folder.ts'

/** A reader of files, and what ends it. */
export interface ClosableReader {
  readonly read: FileExtractor
  close(): Promise<void>
}

/** Keeps files in the folder `files` of the data folder. */
export async function defaultStorage(dataFolder: string): Promise<BlobStorage> {
  const { blobFolder } = await import('@inlay/drivers/blob-folder')
  return blobFolder({ folder: filesFolder(dataFolder) })
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

/** Searches files among the private files of the knowledge, where nothing but their ids finds them. */
export function toFileIndex({ privateFiles }: Pick<Knowledge, 'privateFiles'>): FileIndex {
  return {
    put: ({ name, createdAt, ...file }, options) =>
      privateFiles.put({ ...file, title: name, source: 'user_file', updatedAt: createdAt }, options),
    remove: (id) => privateFiles.remove(id),
    search: ({ fileIds, ...query }) => privateFiles.search({ ...query, documentIds: fileIds }),
    excerpt: ({ fileId, ...part }) => privateFiles.excerpt({ ...part, documentId: fileId }),
  }
}

/** Models take no larger ones. */
const largestImageBytes = 20 * 2 ** 20

type Uploads = () => Conversations['files']
type Lent = Awaited<ReturnType<Conversations['files']['lend']>>

async function lend(uploads: Uploads, id: string): Promise<Lent | undefined> {
  try {
    return await uploads().lend(id)
  } catch (error) {
    if (isInlayError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** Uploads by either of their ids: callers put their own into documents, the host any. */
async function findUploads(
  uploads: Uploads,
  ids: readonly string[],
  caller: Caller | undefined,
): Promise<Lent['file'][]> {
  if (caller) return [...(await uploads().find(ids, caller))]
  return (await Promise.all(ids.map((id) => lend(uploads, id)))).flatMap((lent) => lent?.file ?? [])
}

const bytesOf = async ({ bytes }: Lent): Promise<Uint8Array> => new Uint8Array(await new Response(bytes).arrayBuffer())

/** Uploaded pictures as the images of documents. */
export function toImageStore(uploads: Uploads): ImageStore {
  return {
    find: async (ids, caller) => {
      const files = await findUploads(uploads, ids, caller)
      const images = new Set(files.filter(({ kind }) => kind === 'image').flatMap(({ id, fileId }) => [id, fileId]))
      return ids.filter((id) => images.has(id))
    },
    read: async (id) => {
      const lent = await lend(uploads, id)
      if (!lent || lent.file.sizeBytes > largestImageBytes) return undefined
      return { bytes: await bytesOf(lent), mediaType: lent.file.mediaType }
    },
  }
}

/** Uploads as the tables and raw files of documents. */
export function toFileStore(uploads: Uploads): FileStore {
  return {
    find: async (ids, caller) => {
      const files = new Set((await findUploads(uploads, ids, caller)).flatMap(({ id, fileId }) => [id, fileId]))
      return ids.filter((id) => files.has(id))
    },
    read: async (id) => {
      const lent = await lend(uploads, id)
      return lent && { name: lent.file.name, mediaType: lent.file.mediaType, bytes: await bytesOf(lent) }
    },
  }
}
