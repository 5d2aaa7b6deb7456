import type { FileKind, FileStatus, Principal } from '@inlay/protocol'
import type { Storage } from 'unstorage'
import type { Excerpt, Passage, Span } from '../contracts.ts'
import type { BaseFilters } from '@inlay/protocol'

/** Where bytes are kept: any unstorage `Storage`. Values are pieces of a few MiB, keys hold letters, digits, `-` and `:`. */
export type BlobStorage = Pick<Storage, 'setItemRaw' | 'getItemRaw' | 'removeItem'>

/** A part of a read file: a page, a slide, a sheet, or the whole. */
export interface FileSection {
  /** Markdown or plain text; never blank. */
  readonly text: string
  /** What names the part: a slide's title, a sheet. */
  readonly heading?: string
  /** Number of the page or slide, from 1. */
  readonly page?: number
}

/**
 * Reads a file as text; the `FileExtractor` of the knowledge is one. A file that cannot be read rejects with
 * INVALID_INPUT or PAYLOAD_TOO_LARGE and a message for people; any other failure is tried again.
 */
export type FileReader = (
  file: { readonly name: string; readonly mediaType?: string; readonly bytes: Uint8Array },
  options?: { readonly signal?: AbortSignal },
) => Promise<{ readonly sections: readonly FileSection[] }>

/** Makes files searchable that are too long for a prompt. What is found belongs to its owner alone: the agent asks for
 * files it has checked, and nothing else may find them. */
export interface FileIndex {
  /** Resolves once the file is safely queued; with `waitMs` once it is searchable or the time is up. Repeating does no harm. */
  put(file: IndexedFile, options?: { readonly waitMs?: number }): Promise<void>
  /** No error when it is not there. */
  remove(id: string): Promise<void>
  /** Passages of these files alone, best first; `document_id` of each is the file's id. Filters bind as in any search. */
  search(query: {
    readonly text: string
    readonly fileIds: readonly string[]
    readonly filters?: BaseFilters | null
    readonly limit: number
    readonly signal?: AbortSignal
  }): Promise<readonly Passage[]>
  /** What stands around a passage of a file, as {@link ExcerptReader} reads it of a document. Default: passages stay as they are. */
  excerpt?(
    query: Span & {
      readonly fileId: string
      readonly around: number
      readonly signal?: AbortSignal
    },
  ): Promise<Excerpt | undefined>
}

/** A file as it is searched. */
export interface IndexedFile {
  readonly id: string
  readonly name: string
  readonly sections: readonly FileSection[]
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/** A file as it arrives. */
export interface IncomingFile {
  /** As the client says it; a path is cut down to its last part. */
  readonly name: string
  /** What the client says it is; "" when it does not. */
  readonly mediaType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A stored file. */
export interface StoredFile {
  /** UUID: `user_file_id` of a descriptor. */
  readonly id: string
  /** UUID: `id` of a descriptor, and what the bytes are fetched by. */
  readonly fileId: string
  readonly ownerId: string
  readonly name: string
  readonly mediaType: string
  readonly kind: FileKind
  readonly sizeBytes: number
  readonly status: FileStatus
  /** Why it failed or was skipped, for people. */
  readonly reason: string | null
  /** Estimated; null until the file is read. */
  readonly tokens: number | null
  /** Milliseconds since 1970 UTC, as `usedAt`. */
  readonly createdAt: number
  /** When it was last sent with a message; null when never. */
  readonly usedAt: number | null
}

/** What became of an upload. */
export interface Upload {
  /** In the order in which they came; `tempId` is the client's own name of each. */
  readonly files: readonly (StoredFile & { readonly tempId: string | null })[]
  readonly rejected: readonly { readonly name: string; readonly reason: string }[]
}

/** What an upload tells besides its files; asked for once the last of them has arrived. */
export interface UploadDetails {
  /** The project the files are linked to. */
  readonly projectId: number | null
  /** The client's own ids, by name of the file. */
  readonly tempIds: Readonly<Record<string, string>>
}

/** The bytes of a file. */
export interface OpenedFile {
  readonly file: StoredFile
  /** In order; read once. Throws INTERNAL_ERROR when the storage lost some. */
  readonly bytes: ReadableStream<Uint8Array>
}

/** One sheet of a spreadsheet. */
export interface Sheet {
  readonly name: string
  readonly csv: string
  /** Whether the text was cut. */
  readonly truncated: boolean
}

/** Files of callers. Each call: NOT_FOUND for a file that is unknown, removed or somebody else's; both ids of a file do. */
export interface Files {
  /**
   * Takes files as they arrive, each held in memory by the piece. A file that cannot be taken is rejected with a
   * reason, the others are kept; when the call rejects none is.
   * @throws NOT_FOUND (project), UNSUPPORTED without a storage
   */
  upload(
    files: AsyncIterable<IncomingFile>,
    options: { readonly caller: Principal; readonly details?: () => UploadDetails },
  ): Promise<Upload>
  /** Stores a file that an action made; it can be fetched and attached, and is not listed. */
  keep(file: IncomingFile, caller: Principal): Promise<StoredFile>
  get(id: string, caller: Principal): Promise<StoredFile>
  /** Those of the ids that the caller owns, in the order given. */
  find(ids: readonly string[], caller: Principal): Promise<readonly StoredFile[]>
  /** Uploads, newest use first, without those that failed. */
  list(caller: Principal): Promise<readonly StoredFile[]>
  open(id: string, caller: Principal): Promise<OpenedFile>
  /** As {@link open}, whoever the file belongs to: for the host itself, and for parts that have checked who may see it. */
  lend(id: string): Promise<OpenedFile>
  /** What a file says; waits until it is read. Rejects with the reason of a file that cannot be. [] for images. */
  read(id: string, caller: Principal, signal?: AbortSignal): Promise<readonly FileSection[]>
  /** A spreadsheet as CSV, 500 000 characters a sheet. INVALID_INPUT for any other file. */
  sheets(id: string, caller: Principal): Promise<readonly Sheet[]>
  /** Removes a file that nothing holds; else tells what does and keeps it. */
  remove(
    id: string,
    caller: Principal,
  ): Promise<{ readonly projects: readonly string[]; readonly personas: readonly string[] }>
}
