import * as v from 'valibot'
import {
  boolean,
  choice,
  exactText,
  fault,
  integer,
  isStorable,
  model,
  named,
  orNull,
  rule,
  type Sent,
  storable,
  text,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { isJsonObject } from '../json.ts'
import { dateTime } from '../timestamps.ts'
import { sourceSchema } from '../sources.ts'

/** Metadata as sent by clients: any JSON object. */
export type MetadataInput = Readonly<Record<string, unknown>>

/** Metadata as stored: strings and lists of strings. */
export type Metadata = Readonly<Record<string, string | readonly string[]>>

const isKept = (value: unknown): value is string => typeof value === 'string' && isStorable(value)

function isMetadata(input: MetadataInput): input is Metadata {
  for (const key in input) {
    const value = input[key]
    if (key === '__proto__' || !isStorable(key)) return false
    if (!(Array.isArray(value) ? value.every(isKept) : isKept(value))) return false
  }
  return true
}

/** More keys have no use as filters and make the object slow to read. */
const maxKeys = 5_000
/** Maximum length of all keys together, in UTF-16 units: each is put into an index. */
const maxKeyCharacters = 500_000

const keyCharacters = (metadata: object): number => Object.keys(metadata).reduce((sum, key) => sum + key.length, 0)

/** A title; it is a part of each chunk. */
const title = v.pipe(text, v.maxLength(10_000))

/** Text of one metadata value; undefined for null, which is dropped. @throws RangeError when nested too deeply */
function toText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return storable(typeof value === 'string' ? value : JSON.stringify(value))
}

function toMetadata(input: MetadataInput): Metadata {
  const entries: [string, string | string[]][] = []
  for (const [key, value] of Object.entries(input)) {
    // Never a legitimate key, and a later `target[key] = …` would change a prototype.
    if (key === '__proto__') continue
    const kept = Array.isArray(value) ? value.map(toText).filter((item) => item !== undefined) : toText(value)
    if (kept !== undefined) entries.push([storable(key), kept])
  }
  return Object.fromEntries(entries)
}

/**
 * Metadata of a document. Numbers, booleans and objects become their JSON text, null values are dropped; list items
 * likewise. Anything but an object is refused.
 */
export const metadataSchema: WireSchema<Metadata, MetadataInput> = v.pipe(
  // Not `record`, which drops keys such as `constructor`.
  v.custom<MetadataInput>(isJsonObject, fault('dict_type', 'must be an object')),
  v.metadata({ type: 'object', additionalProperties: true }),
  rule('too_long', `must not have more than ${maxKeys} keys`, (value) => Object.keys(value).length <= maxKeys),
  rule(
    'too_long',
    `must not have more than ${maxKeyCharacters} characters of keys`,
    (value) => keyCharacters(value) <= maxKeyCharacters,
  ),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    try {
      // Most metadata is stored unchanged, and rebuilding an object with thousands of keys is slow.
      return isMetadata(dataset.value) ? dataset.value : toMetadata(dataset.value)
    } catch {
      // JSON.stringify recurses; only extreme nesting exhausts the stack.
      addIssue({ message: fault('recursion_loop', 'holds values that are nested too deeply') })
      return NEVER
    }
  }),
)

const isEntryChange = (value: unknown): boolean =>
  value === null ||
  typeof value === 'string' ||
  (Array.isArray(value) && value.every((item) => typeof item === 'string'))

/** Metadata entries to set; null removes an entry. */
type MetadataChange = Readonly<Record<string, string | readonly string[] | null>>

/** Entries of {@link metadataSchema} to set or remove. They are merged before unstorable characters are removed. */
export const metadataChangeSchema: WireSchema<MetadataChange, MetadataChange> = v.pipe(
  // Not `record`, as above.
  v.custom<MetadataChange>(isJsonObject, fault('dict_type', 'must be an object')),
  v.metadata({
    type: 'object',
    additionalProperties: {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }],
    },
  }),
  rule('value_error', 'must hold texts, lists of texts or null', (value) => Object.values(value).every(isEntryChange)),
)

/** One piece of a document's content. */
export type Section = TextSection | ImageSection | TabularSection

/** A section in a request; without `type` the kind is inferred from the fields. */
export interface SectionInput {
  readonly type?: 'text' | 'image' | 'tabular' | null | undefined
  readonly text?: string | null | undefined
  readonly link?: string | null | undefined
  readonly image_file_id?: string | null | undefined
  readonly csv_file_id?: string | null | undefined
  readonly heading?: string | null | undefined
}

const textSection = model('TextSection', {
  /** Kind of the section; if absent, inferred from the fields. */
  type: v.nullish(v.literal('text'), 'text'),
  /** The text. */
  text,
  /** Link target for citations of this section. */
  link: orNull(text),
  /** Id of an uploaded image that belongs to the text. */
  image_file_id: orNull(text),
  /** Heading of the section. */
  heading: orNull(text),
})

/** A text section, optionally with an image. */
export type TextSection = Wire<typeof textSection>

const imageSection = model('ImageSection', {
  /** Kind of the section; if absent, inferred from the fields. */
  type: v.nullish(v.literal('image'), 'image'),
  /** Id of the uploaded image. */
  image_file_id: text,
  /** Link target for citations of this section. */
  link: orNull(text),
  /** Heading of the section. */
  heading: orNull(text),
})

/** A section that is an uploaded image. */
export type ImageSection = Wire<typeof imageSection>

const tabularSection = model('TabularSection', {
  /** Kind of the section; if absent, inferred from the fields. */
  type: v.nullish(v.literal('tabular'), 'tabular'),
  /** Id of the uploaded table. */
  csv_file_id: text,
  /** Link target for citations of this section. */
  link: text,
  /** Heading of the section. */
  heading: orNull(text),
})

/** A section that is an uploaded table. */
export type TabularSection = Wire<typeof tabularSection>

/** Reports a section whose `type` is none of the three, and nothing else. */
const sectionOfUnknownKind: v.GenericSchema = model('SectionOfUnknownKind', {
  type: v.picklist(['text', 'image', 'tabular']),
})

function sectionSchemaFor(value: unknown): v.GenericSchema {
  if (typeof value !== 'object' || value === null) return textSection
  const {
    type,
    text: content,
    csv_file_id: table,
    image_file_id: image,
  }: Partial<Record<string, unknown>> = { ...value }
  if (type === 'image') return imageSection
  if (type === 'tabular') return tabularSection
  if ((type ?? 'text') !== 'text') return sectionOfUnknownKind
  if (type === 'text' || (content ?? null) !== null) return textSection
  if ((table ?? null) !== null) return tabularSection
  return (image ?? null) === null ? textSection : imageSection
}

export const sectionSchema: WireSchema<Section, SectionInput> = named(
  'Section',
  choice([textSection, imageSection, tabularSection], sectionSchemaFor),
)

export const ownerSchema = model('Owner', {
  /** Name to show. */
  display_name: orNull(text),
  /** First name. */
  first_name: orNull(text),
  /** Initial of the middle name. */
  middle_initial: orNull(text),
  /** Last name. */
  last_name: orNull(text),
  /** E-mail address. */
  email: orNull(text),
})

/** An owner of a document; every field may be unknown. */
export type Owner = Wire<typeof ownerSchema>

export const ingestionDocumentSchema = model('IngestionDocument', {
  /** Stored exactly as given; null or "" generates one from the content. */
  id: orNull(exactText),
  /** Display title; can be "". */
  semantic_identifier: title,
  /** Sections in reading order. */
  sections: v.array(sectionSchema),
  /** Custom data for filters; numbers, booleans and objects become their JSON text. */
  metadata: metadataSchema,
  /** Source of the document. */
  source: v.nullish(sourceSchema, 'ingestion_api'),
  /** Title for search; null: the semantic identifier, "": none. */
  title: orNull(title),
  /** Time of the last change. ISO 8601 with `Z`, like every date here. */
  doc_updated_at: orNull(dateTime),
  /** Creation time; a date-time without an offset is taken as UTC. */
  doc_created_at: orNull(dateTime),
  /** Main owners. */
  primary_owners: orNull(v.array(ownerSchema)),
  /** Other owners. */
  secondary_owners: orNull(v.array(ownerSchema)),
  /** Id of the raw file the document was made from. */
  file_id: orNull(text),
  // Part of the documented shape, so it is validated, but has no effect.
  chunk_count: v.pipe(orNull(integer), v.description('Checked and ignored.')),
  from_ingestion_api: v.pipe(orNull(boolean), v.description('Checked and ignored.')),
})

/** A document to index, with all defaults applied. */
export type IngestionDocument = Omit<Wire<typeof ingestionDocumentSchema>, 'chunk_count' | 'from_ingestion_api'>

/** A document in a request; `semantic_identifier`, `sections` and `metadata` are required. */
export type IngestionDocumentInput = Sent<typeof ingestionDocumentSchema>

export const ingestionRequestSchema = model('IngestionRequest', {
  /** The document to index. */
  document: ingestionDocumentSchema as WireSchema<IngestionDocument, IngestionDocumentInput>,
  /** Connector/credential pair; absent, null and 0 mean 1, the public default pair. */
  cc_pair_id: v.pipe(
    v.nullish(integer, 1),
    v.transform((id) => (id === 0 ? 1 : id)),
  ),
})

/** Body of `POST /service-api/ingestion` with all defaults applied. */
export type IngestionRequest = Wire<typeof ingestionRequestSchema>

/** Request body for the ingestion of one document. */
export type IngestionInput = Sent<typeof ingestionRequestSchema>
