import { InlayError, ingestionRequestSchema, parseWith, setTextPieces, type IngestionRequest } from '@inlay/protocol'
import type { Accepted } from '../contracts/documents.ts'
import type { ExtractedFile, FileDocument, FileDocumentOptions, FileExtractor, SourceFile } from '../contracts/files.ts'
import type { Knowledge } from '../contracts/knowledge.ts'
import { largeCharacters, storablePieces } from './large-content.ts'
import { datedByDisk } from './read-document.ts'

/** Creates the intake of files. @param extract absent: files are refused with UNSUPPORTED */
export function createFileIntake(
  extract: FileExtractor | undefined,
  accept: Knowledge['accept'],
): (given: FileDocument, options?: FileDocumentOptions) => Promise<Accepted> {
  return async (given, options = {}) => {
    if (!extract)
      throw new InlayError('UNSUPPORTED', { message: 'No file extractor is configured: send the text as a document.' })
    const extracted = await extract(given.file, { signal: options.signal })
    return accept(await toLongRequest(given, extracted), options)
  }
}

/** Refused, since a document without text would be accepted but never found. */
function withoutText({ mediaType }: ExtractedFile): InlayError {
  const message =
    mediaType === 'application/pdf'
      ? 'The file contains no text, like a scan: turn on OCR (INLAY_OCR), or make its text readable yourself, and send it again.'
      : 'The file contains no text, or only on pictures in it: check that it was saved and sent completely.'
  return new InlayError('INVALID_INPUT', { message, data: { reason: 'no_text' } })
}

/** Enough characters to find the first heading. */
const beginning = 65_536
/** A longer title in a file is cut; it would be refused. */
const maxTitleLength = 10_000

/**
 * Like {@link toFileRequest}, but splits long texts into pieces: checking them as a whole would block the event loop.
 */
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

/** @throws VALIDATION_FAILED for fields that no document can have, INVALID_INPUT for a file without text */
export function toFileRequest(
  given: Omit<FileDocument, 'file'> & { readonly file: Pick<SourceFile, 'name'> },
  extracted: ExtractedFile,
): IngestionRequest {
  const { title, sections, metadata, createdAt, updatedAt } = extracted
  if (sections.length === 0) throw withoutText(extracted)
  const name = given.file.name.replace(/^.*[\\/]/, '')
  const document = {
    id: given.id ?? (given.link === undefined ? pathOf(given.file.name) : undefined),
    semantic_identifier: given.title ?? (title ?? firstHeading(sections[0]?.text))?.slice(0, maxTitleLength) ?? name,
    source: given.source ?? 'file',
    sections: sections.map(({ text, heading, link }) => ({ text, heading, link: link ?? given.link })),
    metadata: { ...metadata, ...given.metadata },
    doc_created_at: toDate(createdAt),
    doc_updated_at: toDate(updatedAt ?? createdAt ?? given.updatedAt),
  }
  const fields = { document, ...(given.pairId === undefined ? {} : { cc_pair_id: given.pairId }) }
  const request = parseWith(ingestionRequestSchema, fields, 'body')
  if (updatedAt === undefined && createdAt === undefined) datedByDisk.add(request.document)
  return request
}

/**
 * The way to a file below a folder, as its id: files of one name in several folders are several documents. Undefined for a
 * bare name, and for a path from the root of a disk, which says more than the place of the document.
 */
function pathOf(name: string): string | undefined {
  const path = name.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
  const steps = path.split('/')
  const isBelow = steps.length > 1 && !steps.some((step) => step === '' || step === '..' || /^[a-z]:$/i.test(step))
  return isBelow ? path : undefined
}

/** The heading at the beginning of a text, at any level and after anchors. */
function firstHeading(text: string | undefined): string | undefined {
  const line = /^(?:\s|<[^<>\n]*>)*#{1,6}[ \t]+(\S[^\r\n]*)/.exec(text ?? '')?.[1]?.trimEnd()
  if (line === undefined) return undefined
  // Not a regular expression: on a long line, a pattern for closing marks would take quadratic time.
  let end = line.length
  while (line[end - 1] === '#') end--
  const heading = line.slice(0, end).trimEnd() || line
  return heading.replace(/[`*_]/g, '')
}

function toDate(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
