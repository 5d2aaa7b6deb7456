import type { FileKind, FileStatus, Principal } from '@inlay/protocol'

/** A part of a read file: a page, a slide, a sheet, or the whole. */
export interface FileSection {
  /** Markdown or plain text; never blank. */
  readonly text: string
  /** Name of the part: a slide's title, a sheet. */
  readonly heading?: string
  /** Number of the page or slide, from 1. */
  readonly page?: number
}

/** A file as it arrives. */
export interface IncomingFile {
  /** As the client says it; a path is cut down to its last part. */
  readonly name: string
  /** Media type given by the client; "" if none. */
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

/** The bytes of a file. */
export interface OpenedFile {
  readonly file: StoredFile
  /** In order; read once. Throws INTERNAL_ERROR when the storage lost some. */
  readonly bytes: ReadableStream<Uint8Array>
}

/** The files of a turn: those that came with messages, those of a project or agent, those that actions made. */
export interface FileStore {
  /** Whether `keep` takes files. Actions that make or read files exist only then. */
  readonly canKeep: boolean
  /** Those of the ids that the caller owns, in the order given; both ids of a file do. */
  find(ids: readonly string[], caller: Principal): Promise<readonly StoredFile[]>
  /** Files by their own ids, whoever owns them: for ids that come from a checked place. Unknown ids are left out. */
  byIds(ids: readonly string[]): Promise<readonly StoredFile[]>
  /**
   * The text of a file; waits until it is read. [] for images.
   * @throws INVALID_INPUT with a reason for people when the file cannot be read
   */
  sections(file: StoredFile, signal?: AbortSignal): Promise<readonly FileSection[]>
  bytes(file: StoredFile): Promise<Uint8Array>
  /** Opens a file by either of its ids, whoever owns it. NOT_FOUND. */
  lend(id: string): Promise<OpenedFile>
  /** Stores a file that an action made. UNSUPPORTED where `canKeep` is false. */
  keep(file: IncomingFile, caller: Principal): Promise<StoredFile>
  /** Notes that files were sent with a message. */
  noteUse(ids: readonly string[]): Promise<void>
  /** Makes files searchable; resolves when they are, or after `waitMs`. */
  ensureIndexed(files: readonly StoredFile[], waitMs: number): Promise<void>
}

/** Joins the sections of a file into one text, each under its heading. */
export function toFileText(sections: readonly FileSection[]): string {
  return sections.map(({ heading, text }) => (heading === undefined ? text : `## ${heading}\n\n${text}`)).join('\n\n')
}
