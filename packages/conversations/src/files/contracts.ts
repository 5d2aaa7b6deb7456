import type { FileSearch, FileSection, IncomingFile, OpenedFile, StoredFile } from '@inlay/agent'
import type { Principal } from '@inlay/protocol'

/**
 * Storage for file contents: any unstorage `Storage`. Values are chunks of a few MiB; keys contain letters, digits, `-`
 * and `:`.
 */
export interface BlobStorage {
  setItemRaw(key: string, value: Uint8Array): Promise<void>
  /** The bytes, in any form that unstorage gives them; null when there are none. */
  getItemRaw(key: string): Promise<unknown>
  /** No error when it is not there. */
  removeItem(key: string): Promise<void>
}

/**
 * Reads a file as text; the `FileExtractor` of the knowledge is one. A file that cannot be read rejects with
 * INVALID_INPUT or PAYLOAD_TOO_LARGE and a message for people; any other failure is tried again.
 */
export type FileReader = (
  file: { readonly name: string; readonly mediaType?: string; readonly bytes: Uint8Array },
  options?: { readonly signal?: AbortSignal },
) => Promise<{ readonly sections: readonly FileSection[] }>

/**
 * Makes files searchable that are too long for a prompt. Only the owner can find them: the engine searches only files
 * it has checked, and nothing else may search them.
 */
export interface FileIndex extends FileSearch {
  /**
   * Resolves once the file is safely queued; with `waitMs` once it is searchable or the time is up. Repeating does no
   * harm.
   */
  put(file: IndexedFile, options?: { readonly waitMs?: number }): Promise<void>
  /** No error when it is not there. */
  remove(id: string): Promise<void>
}

export interface IndexedFile {
  readonly id: string
  /** Id of the owner: files of several people take turns. */
  readonly ownerId: string
  readonly name: string
  readonly sections: readonly FileSection[]
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

export interface Upload {
  /** In the order in which they came; `tempId` is the client's own name of each. */
  readonly files: readonly (StoredFile & { readonly tempId: string | null })[]
  readonly rejected: readonly { readonly name: string; readonly reason: string }[]
}

/** Other fields of an upload, available once its last file has arrived. */
export interface UploadDetails {
  /** The project the files are linked to. */
  readonly projectId: number | null
  /** The client's own ids, by name of the file. */
  readonly tempIds: Readonly<Record<string, string>>
}

export interface Sheet {
  readonly name: string
  readonly csv: string
  /** Whether the text was cut. */
  readonly truncated: boolean
}

/** Objects that use a file, so that it is kept. */
export interface FileHolders {
  readonly projects: readonly string[]
  /** Names of agents. */
  readonly personas: readonly string[]
  /** Whether a document names it. */
  readonly isInDocument: boolean
}

/**
 * Files of callers, by either of their ids. Each call rejects with NOT_FOUND for a file that is unknown, removed or
 * somebody else's.
 */
export interface Files {
  /**
   * Uploads files as streams, with a piece in memory at a time. Refused files are returned with a reason and the others
   * are stored; if the call rejects, none is.
   * @throws NOT_FOUND (project), UNSUPPORTED without a storage
   */
  upload(
    files: AsyncIterable<IncomingFile>,
    options: { readonly caller: Principal; readonly details?: () => UploadDetails },
  ): Promise<Upload>
  /** Stores a file that an action made; it can be fetched and attached, and is not listed. */
  keep(file: IncomingFile, caller: Principal): Promise<StoredFile>
  /** Like {@link keep}, for a picture of an agent, which is removed with the agent. INVALID_INPUT for other files. */
  keepPicture(file: IncomingFile, caller: Principal): Promise<StoredFile>
  get(id: string, caller: Principal): Promise<StoredFile>
  /** Files of the caller among the ids, in the given order. */
  find(ids: readonly string[], caller: Principal): Promise<readonly StoredFile[]>
  /** Uploads, newest use first, without those that failed. */
  list(caller: Principal): Promise<readonly StoredFile[]>
  open(id: string, caller: Principal): Promise<OpenedFile>
  /**
   * As {@link open}, whoever the file belongs to: for the host itself, and for parts that have checked who may see it.
   */
  openById(id: string): Promise<OpenedFile>
  /**
   * Text of a file; waits until it has been read. Rejects with the reason if the file cannot be read. [] for images.
   */
  read(id: string, caller: Principal, signal?: AbortSignal): Promise<readonly FileSection[]>
  /** A spreadsheet as CSV, 500 000 characters a sheet. INVALID_INPUT for any other file. */
  sheets(id: string, caller: Principal): Promise<readonly Sheet[]>
  /**
   * Reads all bytes that are stored, a piece at a time, to find what the storage lost.
   * @returns how many files there are, and the ids of those whose bytes are not all there
   */
  check(signal: AbortSignal): Promise<{ readonly files: number; readonly lost: readonly string[] }>
  /** Removes a file unless something uses it; returns what does. */
  remove(id: string, caller: Principal): Promise<FileHolders>
}
