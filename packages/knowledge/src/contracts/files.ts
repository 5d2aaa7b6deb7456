import type { HostTransaction } from '@inlay/records'
import type { Caller } from './pairs.ts'

/** A file as it was uploaded or read. */
export interface SourceFile {
  /** Name with its extension; may be a path or "". Helps to detect the type if the content does not. */
  readonly name: string
  /** Media type given by the sender; used only if neither content nor name determines it. */
  readonly mediaType?: string
  readonly bytes: Uint8Array
}

/** A part of a file: a page, a slide, a sheet, an attachment, or the whole file if it has no such parts. */
export interface ExtractedSection {
  /** Markdown with headings, lists, tables, code and links, or plain text for plain text files; never blank. */
  readonly text: string
  /** Name of the part, such as the title of a slide or the name of a sheet or attachment. Not repeated in `text`. */
  readonly heading?: string
  /** Link to the part; only if the file itself contains one. */
  readonly link?: string
  /** Number of the page or slide, from 1. */
  readonly page?: number
}

export interface ExtractedFile {
  /** Null if the file contains no title. */
  readonly title: string | null
  /** Media type detected from the content, e.g. `application/pdf`. */
  readonly mediaType: string
  /** In reading order. Empty when there is no text, e.g. in a scanned PDF. */
  readonly sections: readonly ExtractedSection[]
  /** Metadata in the file: `author`, `subject`, `keywords`, front matter fields, … */
  readonly metadata: Readonly<Record<string, string | string[]>>
  /** Milliseconds since 1970 UTC; absent if the file contains no date. */
  readonly createdAt?: number
  /** Milliseconds since 1970 UTC; absent if the file contains no date. */
  readonly updatedAt?: number
}

/**
 * Extracts the text of a file. Guarantees: the caller's bytes are not changed; a file that cannot be read rejects with
 * INVALID_INPUT (empty, broken, encrypted, unknown type) or PAYLOAD_TOO_LARGE, with the reason in `data.reason` and a
 * message that says what to do; an aborted call rejects with the signal's reason; calls may run concurrently.
 */
export type FileExtractor = (file: SourceFile, options?: { readonly signal?: AbortSignal }) => Promise<ExtractedFile>

/**
 * Reads the text on images, such as scanned pages, with headings, lists and tables as Markdown if it can.
 *
 * Guarantees: the caller's bytes are not changed; an image without text gives ""; one that cannot be read rejects with
 * INVALID_INPUT, which costs only its page, anything else that goes wrong with another code; calls may run concurrently;
 * an aborted call rejects with the signal's reason.
 */
export interface ImageReader {
  /** Loads what reading needs, such as a model. Called before each image; resolves at once when it is there. */
  prepare?: ((signal: AbortSignal) => Promise<void>) | undefined
  /** @param mediaType `image/png` or `image/jpeg` */
  read(bytes: Uint8Array, mediaType: string, signal: AbortSignal): Promise<string>
  /** Ends its threads; it is not used again. */
  close?: (() => Promise<void>) | undefined
}

/** Files that documents refer to by `csv_file_id` and `file_id`. The content of an id never changes. */
export interface FileStore {
  /**
   * The given ids of existing files that the caller may use in documents. Without a caller: of all existing files.
   */
  find(ids: readonly string[], caller?: Caller): Promise<readonly string[]>
  /** Reads a file that `find` returned; undefined if it was deleted. */
  read(id: string): Promise<SourceFile | undefined>
}

/** A file to ingest as a document, with details that the file does not contain. */
export interface FileDocument {
  readonly file: SourceFile
  /**
   * Id of the document. Default: derived from the other fields like that of any document, so the same name gives the
   * same id.
   */
  readonly id?: string
  /** Default: the title in the file, otherwise its first heading, otherwise its name without folders. */
  readonly title?: string
  /** Source of the document, one of the values of the ingestion API. Default `file`. */
  readonly source?: string
  /** URL of the document for readers; sections with their own link keep it. Default: none. */
  readonly link?: string
  /** Added to the metadata in the file; takes precedence for the same name. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>
  /** Time of the last change on disk, in milliseconds since 1970 UTC; used if the file itself contains no date. */
  readonly updatedAt?: number
  /** Connector/credential pair. Default: the default pair. */
  readonly pairId?: number
}

/** Options for ingesting a file or a document. */
export interface FileDocumentOptions {
  /** Absent for the host itself, which has no restriction. */
  readonly caller?: Caller
  /** Maximum wait until the document is searchable or failed, in milliseconds; 0 (default) returns at once. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
  /** Called when the document is stored, before the wait. */
  readonly onStored?: ((documentId: string) => void) | undefined
  /**
   * A transaction in the PostgreSQL database of the records: a client of `pg`, or see `inlay/transactions`. The
   * document is stored with its commit, and accepted and indexed after that; a rollback leaves nothing.
   */
  readonly transaction?: HostTransaction | undefined
}
