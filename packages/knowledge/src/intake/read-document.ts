import {
  type IngestionDocument,
  type IngestionRequest,
  InlayError,
  textPieces,
  validationFailed,
  ingestionRequestSchema,
  parseWith,
} from '@inlay/protocol'
import { nextSlice } from '@inlay/scheduling'
import { filesOf } from '../chunking/rows.ts'
import { largeCharacters, toLargeContent, type LargeContent } from './large-content.ts'
import type { FileExtractor, FileStore } from '../contracts/files.ts'
import type { ImageStore } from '../contracts/models.ts'
import type { Caller } from '../contracts/pairs.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import type { AcceptInput } from '../contracts/document-input.ts'
import { idsOf } from '../schema/sql.ts'

export interface Version {
  readonly id: string
  readonly pairId: number
  /** SHA-256 in hexadecimal; equal only for identical documents. */
  readonly hash: string
  /** JSON of a {@link StoredDocument} with its fields in fixed order; "" for a large document. */
  readonly content: string
  readonly large?: LargeContent
  readonly characters: number
  readonly semanticIdentifier: string
  /** First link of the sections; "" if there is none. */
  readonly link: string
  readonly source: string
  readonly files: readonly string[]
}

/** Documents whose date is that of their file on disk: a fresh checkout changes the date but not the document. */
export const datedByDisk: WeakSet<IngestionDocument> = new WeakSet()

/**
 * The version in a request. Without an id, the id is generated from pair, source, semantic identifier and first link,
 * so that sending the request again updates the same document.
 * @throws VALIDATION_FAILED for an id that cannot be stored or addressed, CONNECTOR_NOT_FOUND for an id out of range
 */
export async function toVersion(request: IngestionRequest, hash: Sha256 = sha256): Promise<Version> {
  const { document } = request
  const pairId = request.cc_pair_id || 1
  // Ids have 32 bits: Postgres rejects larger numbers with an error, which would fail the whole commit.
  if (pairId < 1 || pairId > 2_147_483_647) throw new InlayError('CONNECTOR_NOT_FOUND')
  const link = document.sections.find((section) => section.link)?.link ?? ''
  const stored = toStored(document)
  let characters = 0
  for (const section of stored.sections)
    if ('text' in section) for (const { length } of textPieces.get(section) ?? [section.text]) characters += length
  const large = characters > largeCharacters ? await toLargeContent(stored) : undefined
  const content = large ? '' : JSON.stringify(stored)
  if (content.length > 65_536) await nextSlice()
  const id = document.id || (await generatedId([pairId, stored.source, stored.semantic_identifier, link], hash))
  const fault = idFault(id)
  if (fault) throw validationFailed([{ loc: ['body', 'document', 'id'], msg: fault, type: 'value_error' }])
  return {
    id,
    pairId,
    hash: await hashOf({ large, content, isDateKept: !datedByDisk.has(document) }, hash),
    content,
    large,
    characters: large ? characters + large.document.length : content.length,
    semanticIdentifier: stored.semantic_identifier,
    link,
    source: stored.source,
    files: filesOf(stored),
  }
}

/** Metadata is sorted by key, so that the order of keys does not make another document. */
function toStored(document: IngestionDocument): StoredDocument {
  return {
    semantic_identifier: document.semantic_identifier,
    title: document.title ?? null,
    source: document.source ?? 'ingestion_api',
    sections: document.sections,
    metadata: Object.fromEntries(
      Object.entries(document.metadata).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    ),
    doc_updated_at: document.doc_updated_at ?? null,
    doc_created_at: document.doc_created_at ?? null,
    primary_owners: document.primary_owners ?? null,
    secondary_owners: document.secondary_owners ?? null,
    file_id: document.file_id ?? null,
  }
}

async function hashOf(
  { large, content, isDateKept }: Pick<Version, 'large' | 'content'> & { readonly isDateKept: boolean },
  hash: Sha256,
): Promise<string> {
  const json = large?.document ?? content
  const dated = isDateKept ? json : JSON.stringify({ ...(JSON.parse(json) as StoredDocument), doc_updated_at: null })
  return large ? largeHash({ ...large, document: dated }, hash) : hash(dated)
}

/** Hashes the hashes of the parts, so that no long text is hashed at once. */
async function largeHash({ document, parts }: LargeContent, hash: Sha256): Promise<string> {
  const hashes: string[] = []
  for (const part of [document, ...parts]) {
    await nextSlice()
    hashes.push(await hash(part))
  }
  return hash(hashes.join())
}

export interface NamedFiles {
  /** Without it, image ids are not checked. */
  readonly images?: ImageStore
  /** Without it, `file_id` is not checked, and tables are refused. */
  readonly files?: FileStore
  readonly readFile?: FileExtractor
}

interface NamedFile {
  readonly id: string
  readonly loc: readonly string[]
}

/** @throws VALIDATION_FAILED with an issue per file that does not exist or that the caller may not use */
export async function checkNamedFiles(
  document: IngestionDocument,
  { images, files, readFile }: NamedFiles,
  caller: Caller | undefined,
): Promise<void> {
  const [pictures, tables]: [NamedFile[], NamedFile[]] = [[], []]
  for (const [at, section] of document.sections.entries()) {
    const loc = ['body', 'document', 'sections', String(at)]
    if ('image_file_id' in section && section.image_file_id)
      pictures.push({ id: section.image_file_id, loc: [...loc, 'image_file_id'] })
    if ('csv_file_id' in section && section.csv_file_id)
      tables.push({ id: section.csv_file_id, loc: [...loc, 'csv_file_id'] })
  }
  const raw = document.file_id ? [{ id: document.file_id, loc: ['body', 'document', 'file_id'] }] : []
  if (pictures.length + tables.length + raw.length === 0) return
  const refusals = [
    ...(await missing(pictures, images, caller)).map((file) => toRefusal(file, 'is not an image of the caller')),
    ...(files && readFile
      ? (await missing(tables, files, caller)).map((file) => toRefusal(file, 'is not a file of the caller'))
      : tables.map(({ loc }) => ({ loc, msg: 'tables are not supported here: send their text', type: 'value_error' }))),
    ...(await missing(raw, files, caller)).map((file) => toRefusal(file, 'is not a file of the caller')),
  ]
  if (refusals.length > 0) throw validationFailed(refusals)
}

async function missing(
  named: readonly NamedFile[],
  store: Pick<FileStore, 'find'> | undefined,
  caller: Caller | undefined,
): Promise<readonly NamedFile[]> {
  if (!store || named.length === 0) return []
  const existing = new Set(await store.find([...new Set(idsOf(named))], caller))
  return named.filter(({ id }) => !existing.has(id))
}

function toRefusal({ loc }: NamedFile, fault: string): { loc: readonly string[]; msg: string; type: string } {
  return { loc, msg: `${fault}: upload it first`, type: 'value_error' }
}

/** Maximum length of a first line used as title. */
const titleCharacters = 100

/**
 * Reads a document as a host writes it. Without id, title and link, its id is generated from its content.
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
  const id = await generatedId([JSON.stringify(toStored(read.document))])
  return { ...read, document: { ...read.document, id } }
}

function firstLine(sections: unknown): string {
  const texts = Array.isArray(sections) ? sections.map((section) => String(section?.text ?? '').trim()) : []
  const line = texts.find((text) => text !== '')?.split('\n', 1)[0] ?? ''
  return line.length > titleCharacters ? `${line.slice(0, titleCharacters - 1).trimEnd()}…` : line
}

/** Generates the id of a document sent without one: the same for the same parts. */
async function generatedId(parts: readonly (string | number)[], hash: Sha256 = sha256): Promise<string> {
  return `ingestion_api_${(await hash(JSON.stringify(parts))).slice(0, 32)}`
}

/** SHA-256 of UTF-8 text, as hexadecimal digits. */
export type Sha256 = (text: string) => string | Promise<string>

/** Longer texts are hashed on another thread. */
const maxHashedHere = 65_536

/** Uses a synchronous hash for texts short enough for it. */
export function withSyncHash(hash: ((text: string) => string) | undefined): Sha256 {
  return hash ? (text) => (text.length > maxHashedHere ? sha256(text) : hash(text)) : sha256
}

const encoder = new TextEncoder()

/** {@link Sha256} by WebCrypto, which every runtime has. */
async function sha256(text: string): Promise<string> {
  const encoded = encoder.encode(text)
  // Hashing copies the bytes.
  if (encoded.byteLength > 2 ** 20) await nextSlice()
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoded))
  let digits = ''
  for (const byte of bytes) digits += hexadecimal[byte]
  return digits
}

const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Reason why an id is invalid; undefined if it is valid. */
function idFault(id: string): string | undefined {
  if (!id.isWellFormed() || id.includes('\0')) return 'must not contain NUL characters or unpaired surrogates'
  // Clients and proxies remove these segments from a path, even if encoded, so the document could never be requested.
  if (id === '.' || id === '..') return 'must not be "." or "..", which URLs cannot contain: choose another id'
  if (id.length > maxIdBytes || new TextEncoder().encode(id).length > maxIdBytes)
    return `must not be longer than ${maxIdBytes} bytes, to fit into a URL and an index`
  return undefined
}

/** An index of PostgreSQL takes 2,704 bytes, with whatever stands beside an id. */
const maxIdBytes = 2000
