import type { Caller } from './pairs.ts'

/** A file as it was sent or read. */
export interface SourceFile {
  /** Name with its extension; a path or "" is fine. It helps to tell the type where the content does not. */
  readonly name: string
  /** Media type given by the sender; used only if neither content nor name determines it. */
  readonly mediaType?: string
  readonly bytes: Uint8Array
}

/** A part of a file: a page, a slide, a sheet, an attachment, or the whole of a file that has no such parts. */
export interface ExtractedSection {
  /** Markdown with headings, lists, tables, code and links, or plain text for files that are; never blank. */
  readonly text: string
  /** Name of the part: the slide's title, the sheet, the attachment. Not repeated in `text`. */
  readonly heading?: string
  /** Link to the part; only if the file itself contains one. */
  readonly link?: string
  /** Number of the page or slide, from 1. */
  readonly page?: number
}

/** Text extracted from a file. */
export interface ExtractedFile {
  /** Null when the file does not name itself. */
  readonly title: string | null
  /** Media type detected from the content, e.g. `application/pdf`. */
  readonly mediaType: string
  /** In reading order. Empty when there is no text, e.g. in a scanned PDF. */
  readonly sections: readonly ExtractedSection[]
  /** Metadata in the file: `author`, `subject`, `keywords`, front matter fields, … */
  readonly metadata: Readonly<Record<string, string | string[]>>
  /** Milliseconds since 1970 UTC; absent when the file does not say. */
  readonly createdAt?: number
  /** Milliseconds since 1970 UTC; absent when the file does not say. */
  readonly updatedAt?: number
  /** Pictures whose content is not in the text. */
  readonly imageCount: number
}

/**
 * Reads a file as text. Guarantees: the caller's bytes stay as they are; a file that cannot be read rejects with INVALID_INPUT
 * (empty, broken, encrypted, of no known type) or PAYLOAD_TOO_LARGE (beyond a limit), `data.reason` names the reason
 * and the message what to do about it; an aborted call rejects with the signal's reason; calls may run concurrently.
 */
export type FileExtractor = (file: SourceFile, options?: { readonly signal?: AbortSignal }) => Promise<ExtractedFile>

/** Files that documents name by `csv_file_id` and `file_id`. What an id names never changes. */
export interface FileStore {
  /** Those of the ids that are files which the caller may put into documents; without a caller: that are files. */
  find(ids: readonly string[], caller?: Caller): Promise<readonly string[]>
  /** A file that `find` has let through; undefined when it is gone. */
  read(id: string): Promise<SourceFile | undefined>
}

/** A file to be taken in as a document, and what the file does not say itself. */
export interface FileDocument {
  readonly file: SourceFile
  /** Id of the document. Default: made from the other fields as for any document, the same for the same name. */
  readonly id?: string
  /** Default: what the file calls itself, else the heading it begins with, else its name without folders. */
  readonly title?: string
  /** Kind of the source, of those the ingestion API takes. Default `file`. */
  readonly source?: string
  /** URL of the document for readers; sections with their own link keep it. Default: none. */
  readonly link?: string
  /** Beside what the file says of itself; the same name wins over it. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>
  /** Connector/credential pair. Default: the default one. */
  readonly pairId?: number
}

/** How the document of a file is taken in; see `Knowledge.accept`. */
export interface FileDocumentOptions {
  readonly caller?: Caller
  readonly waitMs?: number
  readonly signal?: AbortSignal
  readonly onStored?: ((documentId: string) => void) | undefined
}
