import { InlayError, ingestionRequestSchema, parseWith, type IngestionRequest } from '@inlay/protocol'
import type { Accepted } from '../contracts/documents.ts'
import type { ExtractedFile, FileDocument, FileDocumentOptions, FileExtractor, SourceFile } from '../contracts/files.ts'
import type { Knowledge } from '../contracts/knowledge.ts'

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
