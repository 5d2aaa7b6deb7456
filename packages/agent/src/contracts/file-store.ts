import type { FileKind, FileStatus, Principal } from '@inlay/protocol'

/** A section of a file: a page, a slide, a sheet, or all of it. */
export interface FileSection {
  /** Markdown or plain text; never blank. */
  readonly text: string
  /** Title of a slide, or name of a sheet. */
  readonly heading?: string
  /** Number of the page or slide, from 1. */
  readonly page?: number
}

/** A file being uploaded. */
export interface IncomingFile {
  /** Name given by the client; of a path, only the last part is used. */
  readonly name: string
  /** Media type given by the client; "" if none. */
  readonly mediaType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface StoredFile {
  /** UUID: `user_file_id` of a descriptor. */
  readonly id: string
  /** UUID: `id` of a descriptor, by which the bytes are fetched. */
  readonly fileId: string
  readonly ownerId: string
  readonly name: string
  readonly mediaType: string
  readonly kind: FileKind
  readonly sizeBytes: number
  readonly status: FileStatus
  /** Why it failed or was skipped, as text for people. */
  readonly reason: string | null
  /** Estimated; null until the file is read. */
  readonly tokens: number | null
  /** Milliseconds since 1970 UTC, as `usedAt`. */
  readonly createdAt: number
  /** When it was last sent with a message; null for never. */
  readonly usedAt: number | null
}

export interface OpenedFile {
  readonly file: StoredFile
  /** In order; can be read once. Throws INTERNAL_ERROR when the storage lost some. */
  readonly bytes: ReadableStream<Uint8Array>
}

/** The files of a turn: attached to messages, of a project or agent, or created by actions. */
export interface FileStore {
  /** Whether `keep` works. Without it, no actions that create or read files are offered. */
  readonly canKeep: boolean
  /** The files that the caller owns, in the given order; accepts both ids of a file. */
  find(ids: readonly string[], caller: Principal): Promise<readonly StoredFile[]>
  /** Files by their own ids, whoever owns them: only for ids that were checked before. Unknown ids are omitted. */
  byIds(ids: readonly string[]): Promise<readonly StoredFile[]>
  /**
   * The text of a file; waits until the file is read. [] for images.
   * @throws INVALID_INPUT with a reason for people when the file cannot be read
   */
  sections(file: StoredFile, signal?: AbortSignal): Promise<readonly FileSection[]>
  bytes(file: StoredFile): Promise<Uint8Array>
  /** Opens a file by either of its ids, regardless of the owner. NOT_FOUND. */
  openById(id: string): Promise<OpenedFile>
  /** Stores a file that an action created. UNSUPPORTED if `canKeep` is false. */
  keep(file: IncomingFile, caller: Principal): Promise<StoredFile>
  /** Records that files were sent with a message. NOT_FOUND if one is being removed. */
  noteUse(ids: readonly string[]): Promise<void>
  /** Makes files searchable; resolves when they are, or after `waitMs`. */
  ensureIndexed(files: readonly StoredFile[], waitMs: number): Promise<void>
}

/** Joins the sections of a file into one text, each under its heading. */
export function toFileText(sections: readonly FileSection[]): string {
  return sections.map(({ heading, text }) => (heading === undefined ? text : `## ${heading}\n\n${text}`)).join('\n\n')
}
