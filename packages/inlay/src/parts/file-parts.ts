import type { BlobStorage, Conversations, FileIndex } from '@inlay/conversations'
import type { Caller, FileExtractor, FileStore, ImageReader, ImageStore, Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { filesFolder } from '../data-folder.ts'

export async function defaultStorage(dataFolder: string): Promise<BlobStorage> {
  const { blobFolder } = await import('@inlay/drivers/blob-folder')
  return blobFolder({ folder: filesFolder(dataFolder) })
}

/** Extracts text of PDF, Office, HTML, mail and text files in a worker thread, which starts with the first file. */
export function defaultReader(openOcr: () => Promise<ImageReader | undefined>): {
  readonly read: FileExtractor
  close(): Promise<void>
} {
  let loading: Promise<FileExtractor & { close(): Promise<void> }> | undefined
  const load = async (): Promise<FileExtractor & { close(): Promise<void> }> => {
    const [{ fileExtractor }, ocr] = await Promise.all([import('@inlay/drivers/file-extraction'), openOcr()])
    const extract = fileExtractor({ ocr })
    return Object.assign(extract.bind(undefined), {
      close: async () => {
        await extract.close()
        await ocr?.close?.()
      },
    })
  }
  return {
    read: async (file, options) => {
      loading ??= load().catch((error: unknown) => {
        // The next file tries again.
        loading = undefined
        throw error
      })
      return (await loading)(file, options)
    },
    close: async () => (await loading?.catch(() => undefined))?.close(),
  }
}

/** Searches uploaded files through the private files of the knowledge, which can only be found by their ids. */
export function toFileIndex({ privateFiles }: Pick<Knowledge, 'privateFiles'>): FileIndex {
  return {
    put: ({ name, createdAt, ...file }, options) =>
      privateFiles.put({ ...file, title: name, source: 'user_file', updatedAt: createdAt }, options),
    remove: (id) => privateFiles.remove(id),
    search: ({ fileIds, ...query }) => privateFiles.search({ ...query, documentIds: fileIds }),
    excerpt: ({ fileId, ...part }) => privateFiles.excerpt({ ...part, documentId: fileId }),
  }
}

/** Models do not accept larger images. */
const maxImageBytes = 20 * 2 ** 20

type Uploads = () => Conversations['files']
type OpenedUpload = Awaited<ReturnType<Conversations['files']['openById']>>

async function openUpload(uploads: Uploads, id: string): Promise<OpenedUpload | undefined> {
  try {
    return await uploads().openById(id)
  } catch (error) {
    if (isInlayError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** Finds uploads by either of their ids: callers only find their own, the host finds any. */
async function findUploads(
  uploads: Uploads,
  ids: readonly string[],
  caller: Caller | undefined,
): Promise<OpenedUpload['file'][]> {
  if (caller) return [...(await uploads().find(ids, caller))]
  return (await Promise.all(ids.map((id) => openUpload(uploads, id)))).flatMap((opened) => opened?.file ?? [])
}

const bytesOf = async ({ bytes }: OpenedUpload): Promise<Uint8Array> =>
  new Uint8Array(await new Response(bytes).arrayBuffer())

/** Uploaded pictures as images of documents. */
export function toImageStore(uploads: Uploads): ImageStore {
  return {
    find: async (ids, caller) => {
      const files = await findUploads(uploads, ids, caller)
      const images = new Set(files.filter(({ kind }) => kind === 'image').flatMap(({ id, fileId }) => [id, fileId]))
      return ids.filter((id) => images.has(id))
    },
    read: async (id) => {
      const opened = await openUpload(uploads, id)
      if (!opened || opened.file.sizeBytes > maxImageBytes) return undefined
      return { bytes: await bytesOf(opened), mediaType: opened.file.mediaType }
    },
  }
}

/** Uploaded files as tables and raw files of documents. */
export function toFileStore(uploads: Uploads): FileStore {
  return {
    find: async (ids, caller) => {
      const files = new Set((await findUploads(uploads, ids, caller)).flatMap(({ id, fileId }) => [id, fileId]))
      return ids.filter((id) => files.has(id))
    },
    read: async (id) => {
      const opened = await openUpload(uploads, id)
      return opened && { name: opened.file.name, mediaType: opened.file.mediaType, bytes: await bytesOf(opened) }
    },
  }
}
