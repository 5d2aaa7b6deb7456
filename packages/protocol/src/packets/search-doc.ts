import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type Wire } from '../fields.ts'
import { timestamp } from '../timestamps.ts'

const strings = v.array(v.string())

export const searchDocSchema = model('SearchDoc', {
  /** Stored id; for a web result, `WEB_SEARCH_DOC_` plus its URL; for an attached file, the upload id. */
  document_id: v.string(),
  /** Index of the matching chunk in its document, from 0. */
  chunk_ind: integer,
  /** Display title; `Unknown` if there is none. */
  semantic_identifier: v.string(),
  /** First link of the matching chunk. */
  link: orNull(v.string()),
  /** Beginning of the chunk; for a web result, its snippet. */
  blurb: v.string(),
  /** Source of the document. */
  source_type: v.string(),
  /** 0 for ordinary documents, 1 for web results and attached files. */
  boost: v.number(),
  /** Always false here; other servers may hide documents. */
  hidden: boolean,
  /** Metadata of the document. */
  metadata: dictionary(v.union([v.string(), strings])),
  /** Relevance score; higher is better. Comparable only within one search. */
  score: orNull(v.number()),
  /** Always null here. */
  is_relevant: orNull(boolean),
  /** Always null here. */
  relevance_explanation: orNull(v.string()),
  /** Excerpts of the chunk with matching words in `<hi>`…`</hi>`. */
  match_highlights: strings,
  /** ISO 8601 in UTC, with `Z`. */
  updated_at: orNull(timestamp),
  /** Names of the main owners. */
  primary_owners: orNull(strings),
  /** Names of other owners. */
  secondary_owners: orNull(strings),
  /** Whether it is a web result. */
  is_internet: v.optional(boolean, false),
  /** Id of a raw file attached to the document. */
  file_id: orNull(v.string()),
})

/** A document shown with an answer: one matching chunk of it. */
export type SearchDoc = Wire<typeof searchDocSchema>

export const savedSearchDocSchema = model('SavedSearchDoc', {
  ...searchDocSchema.entries,
  /** Position among the documents of the answer, from 1. */
  db_doc_id: integer,
})

/** A document stored with an answer. */
export type SavedSearchDoc = Wire<typeof savedSearchDocSchema>

export const generatedImageSchema = model('GeneratedImage', {
  /** Id of the image, for `GET /chat/file/{file_id}`. */
  file_id: v.string(),
  /** Path below the host, e.g. `/api/chat/file/{file_id}`. */
  url: v.string(),
  /** The final prompt for the image model. */
  revised_prompt: v.string(),
  /** `square`, `portrait` or `landscape`. */
  shape: orNull(v.string()),
})

/** An image created by an answer. */
export type GeneratedImage = Wire<typeof generatedImageSchema>

export const exampleDoc: SearchDoc = {
  document_id: 'handbook/lab-access',
  chunk_ind: 0,
  semantic_identifier: 'Access to the laboratory',
  link: 'https://lab.example/handbook/access',
  blurb: 'The laboratory is open from 7:00 to 19:00.',
  source_type: 'web',
  boost: 0,
  hidden: false,
  metadata: { area: 'safety', tags: ['doors', 'hours'] },
  score: 0.82,
  is_relevant: null,
  relevance_explanation: null,
  match_highlights: ['The <hi>laboratory</hi> is <hi>open</hi> from 7:00 to 19:00.'],
  updated_at: '2026-02-03T08:00:00Z',
  primary_owners: ['Mira Sol'],
  secondary_owners: null,
  is_internet: false,
  file_id: null,
}
