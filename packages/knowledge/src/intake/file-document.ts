import { InlayError, ingestionRequestSchema, parseWith, setTextPieces, type IngestionRequest } from '@inlay/protocol'
import type { Accepted } from '../contracts/documents.ts'
import type { ExtractedFile, FileDocument, FileDocumentOptions, FileExtractor, SourceFile } from '../contracts/files.ts'
import type { Knowledge } from '../contracts/knowledge.ts'
import { largeCharacters, storablePieces } from './large-content.ts'

/** Creates the way in for files. @param extract absent: files are refused with UNSUPPORTED */
export function createFileIntake(
  extract: FileExtractor | undefined,
  accept: Knowledge['accept'],
): (given: FileDocument, options?: FileDocumentOptions) => Promise<Accepted> {
  return async (given, options = {}) => {
    if (!extract)
      throw new InlayError('UNSUPPORTED', { message: 'No reader of files is configured: send the text as a document.' })
    return accept(await toLongRequest(given, await extract(given.file, { signal: options.signal })), options)
  }
}

/** Enough to find a first heading in. */
const beginning = 65_536

/** As {@link toFileRequest}, with long texts in pieces: to check one as a whole would hold others up. */
async function toLongRequest(given: FileDocument, extracted: ExtractedFile): Promise<IngestionRequest> {
  const long = extracted.sections.map(({ text }) => text.length > largeCharacters)
  const sections = extracted.sections.map((section, at) =>
    long[at] ? { ...section, text: section.text.slice(0, beginning) } : section,
  )
  const request = toFileRequest(given, { ...extracted, sections })
  for (const [at, section] of request.document.sections.entries())
    if (long[at]) setTextPieces(section, await storablePieces(extracted.sections[at]!.text))
  return request
}

/** Builds the document for a file that was read. VALIDATION_FAILED for fields that no document can have. */
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
  const line = /^(?:\s|<[^<>\n]*>)*#{1,6}[ \t]+(\S[^\r\n]*)/.exec(text ?? '')?.[1]?.trimEnd()
  if (line === undefined) return undefined
  // By hand: a pattern for closing marks would look from each place of a long line.
  let end = line.length
  while (line[end - 1] === '#') end--
  const heading = line.slice(0, end).trimEnd() || line
  return heading.replace(/[`*_]/g, '')
}

function toDate(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
