import { ingestionRequestSchema, parseWith, type IngestionRequest } from '@inlay/protocol'
import type { AcceptInput } from '../contracts/document-input.ts'
import { contentId } from './version.ts'

/** Most characters of a first line that stands for a title. */
const titleCharacters = 100

/**
 * Reads a document as a host writes it. One without id, title and link is known by its content, so that no other
 * replaces it.
 * @throws VALIDATION_FAILED
 */
export async function readDocument(input: AcceptInput): Promise<IngestionRequest> {
  const { document } = input
  if (typeof document?.semantic_identifier === 'string' && document.metadata !== undefined)
    return parseWith(ingestionRequestSchema, input, 'body')
  const isNamed = Boolean(document?.id || document?.semantic_identifier || document?.title)
  const filled = {
    ...document,
    semantic_identifier: document?.semantic_identifier ?? document?.title ?? firstLine(document?.sections),
    metadata: document?.metadata ?? {},
  }
  const read = parseWith(ingestionRequestSchema, { ...input, document: filled }, 'body')
  if (isNamed || read.document.sections.some(({ link }) => link)) return read
  return { ...read, document: { ...read.document, id: await contentId(read.document) } }
}

function firstLine(sections: unknown): string {
  const texts = Array.isArray(sections) ? sections.map((section) => String(section?.text ?? '').trim()) : []
  const line = texts.find((text) => text !== '')?.split('\n', 1)[0] ?? ''
  return line.length > titleCharacters ? `${line.slice(0, titleCharacters - 1).trimEnd()}…` : line
}
