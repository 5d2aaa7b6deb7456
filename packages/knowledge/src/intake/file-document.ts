import { InlayError, ingestionRequestSchema, parseWith, type IngestionRequest } from '@inlay/protocol'
import type { Accepted, Caller, Knowledge } from '../contracts.ts'
import type { ExtractedFile, FileExtractor, SourceFile } from './file-contracts.ts'

/** A file to be taken in as a document, and what the file does not say itself. */
export interface FileDocument {
  readonly file: SourceFile
  /** Id of the document. Default: made from the other fields as for any document, the same for the same name. */
  readonly id?: string
  /** Default: what the file calls itself, else the heading it begins with, else its name without folders. */
  readonly title?: string
  /** Kind of the source, of those the ingestion API takes. Default `file`. */
  readonly source?: string
  /** Where people open the document; sections with a link of their own keep it. Default: none. */
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
}

/** Creates the way in for files. @param extract absent: files are refused with UNSUPPORTED */
export function createFileIntake(
  extract: FileExtractor | undefined,
  accept: Knowledge['accept'],
): (given: FileDocument, options?: FileDocumentOptions) => Promise<Accepted> {
  return async (given, options = {}) => {
    if (!extract)
      throw new InlayError('UNSUPPORTED', { message: 'No reader of files is configured: send the text as a document.' })
    return accept(toFileRequest(given, await extract(given.file, { signal: options.signal })), options)
  }
}

/** What is accepted of a file that was read. VALIDATION_FAILED for fields that no document may have. */
export function toFileRequest(
  given: Omit<FileDocument, 'file'> & { readonly file: Pick<SourceFile, 'name'> },
  { title, sections, metadata, createdAt, updatedAt }: ExtractedFile,
): IngestionRequest {
  const name = given.file.name.replace(/^.*[\\/]/, '')
  const document = {
    id: given.id,
    semantic_identifier: given.title ?? title ?? firstHeading(sections[0]?.text) ?? name,
    source: given.source ?? 'file',
    sections: sections.map(({ text, heading, link }) => ({ text, heading, link: link ?? given.link })),
    metadata: { ...metadata, ...given.metadata },
    doc_created_at: toDate(createdAt),
    doc_updated_at: toDate(updatedAt),
  }
  const request = { document, ...(given.pairId === undefined ? {} : { cc_pair_id: given.pairId }) }
  return parseWith(ingestionRequestSchema, request, 'body')
}

/** The heading a text begins with, at any level and after anchors. */
function firstHeading(text: string | undefined): string | undefined {
  const heading = /^(?:\s|<[^<>\n]*>)*#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|$)/.exec(text ?? '')?.[1]
  return heading?.replace(/[`*_]/g, '')
}

function toDate(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
