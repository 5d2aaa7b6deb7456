import * as v from 'valibot'
import { exactText, integer, model, orNull, type Wire } from '../fields.ts'
import { queryInteger } from '../query.ts'
import { answeredTime } from '../timestamps.ts'

const documentChunkSchema = model('DocumentChunk', {
  /** Index in the document, from 0. */
  chunk: integer,
  /** Markdown. */
  content: v.string(),
  /** Text between the chunk and the previous one: the contents joined by it are the document. */
  separator: v.string(),
  /** Headings above the chunk, outermost first. */
  headings: v.array(v.string()),
  /** URL of this part of the document. */
  link: orNull(v.string()),
  /** Id of the image that belongs to the chunk. */
  image_file_id: orNull(v.string()),
})

/** A part of a document, as it is displayed. */
export type DocumentChunkView = Wire<typeof documentChunkSchema>

export const documentChunksSchema = model('DocumentChunks', {
  /** Id of the document. */
  document_id: v.string(),
  /** Its display title. */
  semantic_identifier: v.string(),
  /** Kind of source. */
  source_type: v.string(),
  /** When the document was last changed, or accepted if it does not say. */
  updated_at: answeredTime,
  /** Id of its raw file, if it was stored. */
  file_id: orNull(v.string()),
  /** The chunks, in order. */
  chunks: v.array(documentChunkSchema),
  /** `first` of the next request; null after the last chunk. */
  next: orNull(integer),
})

/** Answer of `GET /document/chunks`. */
export type DocumentChunksView = Wire<typeof documentChunksSchema>

/** Query of `GET /document/chunks`. */
export const documentChunksQuerySchema = model('DocumentChunksQuery', {
  /** Id of the document. */
  document_id: exactText,
  /** Index of the first chunk, from 0. */
  first: v.optional(queryInteger({ least: 0 }), '0'),
  /** 1 to 64. */
  limit: v.optional(queryInteger({ least: 1, most: 64 }), '32'),
})
