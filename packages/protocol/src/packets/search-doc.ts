import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type WireSchema } from '../fields.ts'
import { timestamp } from '../timestamps.ts'

/** A document shown with an answer: one matching chunk of it. */
export interface SearchDoc {
  /** Stored id; for a web result, `WEB_SEARCH_DOC_` plus its URL; for an attached file, the upload id. */
  readonly document_id: string
  /** Index of the matching chunk in its document, from 0. */
  readonly chunk_ind: number
  /** Display title; `Unknown` if there is none. */
  readonly semantic_identifier: string
  /** First link of the matching chunk. */
  readonly link: string | null
  /** Beginning of the chunk; for a web result, its snippet. */
  readonly blurb: string
  /** Source of the document. */
  readonly source_type: string
  /** 0 for ordinary documents, 1 for web results and attached files. */
  readonly boost: number
  /** Always false here; other servers may hide documents. */
  readonly hidden: boolean
  /** Metadata of the document. */
  readonly metadata: Readonly<Record<string, string | readonly string[]>>
  /** Relevance score; higher is better. Comparable only within one search. */
  readonly score: number | null
  /** Always null here. */
  readonly is_relevant: boolean | null
  /** Always null here. */
  readonly relevance_explanation: string | null
  /** Excerpts of the chunk with matching words in `<hi>`…`</hi>`. */
  readonly match_highlights: readonly string[]
  /** ISO 8601 in UTC, with `Z`. */
  readonly updated_at: string | null
  /** Names of the main owners. */
  readonly primary_owners: readonly string[] | null
  /** Names of other owners. */
  readonly secondary_owners: readonly string[] | null
  /** Whether it is a web result. */
  readonly is_internet: boolean
  /** Id of a raw file attached to the document. */
  readonly file_id: string | null
}

/** An image created by an answer. */
export interface GeneratedImage {
  /** Id of the image, for `GET /chat/file/{file_id}`. */
  readonly file_id: string
  /** Path below the host, e.g. `/api/chat/file/{file_id}`. */
  readonly url: string
  /** The final prompt for the image model. */
  readonly revised_prompt: string
  /** `square`, `portrait` or `landscape`. */
  readonly shape: string | null
}

const strings = v.array(v.string())

const fields = {
  document_id: v.string(),
  chunk_ind: integer,
  semantic_identifier: v.string(),
  link: orNull(v.string()),
  blurb: v.string(),
  source_type: v.string(),
  boost: v.number(),
  hidden: boolean,
  metadata: dictionary(v.union([v.string(), strings])),
  score: orNull(v.number()),
  is_relevant: orNull(boolean),
  relevance_explanation: orNull(v.string()),
  match_highlights: strings,
  updated_at: orNull(timestamp),
  primary_owners: orNull(strings),
  secondary_owners: orNull(strings),
  is_internet: v.optional(boolean, false),
  file_id: orNull(v.string()),
}

export const searchDocSchema: WireSchema<SearchDoc> = model('SearchDoc', fields)

/** A document stored with an answer. */
export interface SavedSearchDoc extends SearchDoc {
  /** Position among the documents of the answer, from 1. */
  readonly db_doc_id: number
}

export const savedSearchDocSchema: WireSchema<SavedSearchDoc> = model('SavedSearchDoc', {
  ...fields,
  db_doc_id: integer,
})

export const generatedImageSchema: WireSchema<GeneratedImage> = model('GeneratedImage', {
  file_id: v.string(),
  url: v.string(),
  revised_prompt: v.string(),
  shape: orNull(v.string()),
})

/** Document used in examples. */
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
