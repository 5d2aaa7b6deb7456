import {
  type FileRemoval,
  fileRemovalSchema,
  type ParsedSheets,
  parsedSheetsSchema,
  type UploadAnswer,
  uploadAnswerSchema,
  type UserFile,
  userFileSchema,
} from '@inlay/protocol'
import { type CallOptions, read, readList } from './call.ts'
import { pause } from './pause.ts'
import type { Transport } from './transport.ts'

/** A file to upload: a `File` selected in a page, or bytes with a name. */
export type FileToUpload = File | { readonly name: string; readonly content: Blob }

export interface UploadOptions extends CallOptions {
  /** Project that the files are added to. */
  readonly projectId?: number
}

/** The caller's files. A message refers to a file with `file_descriptors: [{ id: file.file_id }]`. */
export interface FilesClient {
  /**
   * Uploads files in one request. Refused files are returned in `rejected_files` with the reason; the text of the
   * others is extracted in the background, see `whenRead`.
   */
  upload(files: Iterable<FileToUpload>, options?: UploadOptions): Promise<UploadAnswer>
  /** Newest first. */
  list(options?: CallOptions): Promise<readonly UserFile[]>
  /** By `id`. @throws NOT_FOUND */
  get(id: string, options?: CallOptions): Promise<UserFile>
  /** Several files by `id`, in that order; unknown ids are omitted. */
  statuses(ids: readonly string[], options?: CallOptions): Promise<readonly UserFile[]>
  /** Waits until the text of all files is extracted or failed. @returns the result of `statuses` */
  whenRead(ids: readonly string[], options?: CallOptions): Promise<readonly UserFile[]>
  /** Downloads a file by `file_id` or `id`, with name and media type; also images of documents. @throws NOT_FOUND */
  content(fileId: string, options?: CallOptions): Promise<File>
  /** The sheets of a spreadsheet as text. @throws NOT_FOUND, INVALID_INPUT for other files */
  sheets(fileId: string, options?: CallOptions): Promise<ParsedSheets>
  /** Deletes a file by `id`, unless a project or agent uses it: the result names them. @throws NOT_FOUND */
  remove(id: string, options?: CallOptions): Promise<FileRemoval>
}

const pathOf = (id: string): string => `/user/projects/file/${encodeURIComponent(id)}`
const contentPath = (fileId: string): string => `/chat/file/${encodeURIComponent(fileId)}`
const maxPauseMs = 4000

export function createFilesClient(transport: Transport): FilesClient {
  const { send } = transport
  const statuses: FilesClient['statuses'] = (ids, { signal } = {}) =>
    readList(userFileSchema, send('/user/projects/file/statuses', { method: 'POST', json: { file_ids: ids }, signal }))
  return {
    upload: (files, { projectId, signal } = {}) =>
      read(
        uploadAnswerSchema,
        send('/user/projects/file/upload', { method: 'POST', body: formOf(files, projectId), signal }),
      ),
    list: ({ signal } = {}) => readList(userFileSchema, send('/user/projects/file/', { signal })),
    get: (id, { signal } = {}) => read(userFileSchema, send(pathOf(id), { signal })),
    statuses,
    whenRead: async (ids, { signal } = {}) => {
      for (let delayMs = 250; ; delayMs = Math.min(maxPauseMs, delayMs * 2)) {
        const files = await statuses(ids, { signal })
        if (files.every(({ status }) => status !== 'PROCESSING')) return files
        await pause(delayMs, signal)
      }
    },
    content: async (fileId, { signal } = {}) => {
      const response = await send(contentPath(fileId), { signal })
      const bytes = await response.blob()
      return new File([bytes], nameOf(response) ?? fileId, { type: bytes.type })
    },
    sheets: (fileId, { signal } = {}) =>
      read(parsedSheetsSchema, send(`${contentPath(fileId)}?parsed=true`, { signal })),
    remove: (id, { signal } = {}) => read(fileRemovalSchema, send(pathOf(id), { method: 'DELETE', signal })),
  }
}

function formOf(files: Iterable<FileToUpload>, projectId: number | undefined): FormData {
  const form = new FormData()
  // Before the files, since the server reads the form as it arrives.
  if (projectId !== undefined) form.append('project_id', String(projectId))
  for (const file of files) form.append('files', 'content' in file ? file.content : file, file.name)
  return form
}

/** File name in `content-disposition`, in the format of the service. */
function nameOf(response: Response): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(response.headers.get('content-disposition') ?? '')?.[1]
  try {
    return encoded && decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
