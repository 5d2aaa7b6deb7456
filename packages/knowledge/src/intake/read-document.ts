import {
  type IngestionDocument,
  type IngestionRequest,
  InlayError,
  textPieces,
  validationFailed,
  ingestionRequestSchema,
  parseWith,
} from '@inlay/protocol'
import { nextSlice } from '@inlay/protocol/concurrency'
import { filesOf } from '../chunking/rows.ts'
import { largeCharacters, toLargeContent, type LargeContent } from './large-content.ts'
import type { FileExtractor, FileStore } from '../contracts/files.ts'
import type { ImageStore } from '../contracts/models.ts'
import type { Caller } from '../contracts/pairs.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import type { AcceptInput } from '../contracts/document-input.ts'
import { generatedId, keptId, sha256 } from './document-ids.ts'

/** One version of a document, ready to be stored. */
export interface Version {
  readonly id: string
  readonly pairId: number
  /** SHA-256 as hexadecimal digits: equal for identical documents only. */
  readonly hash: string
  /** JSON of a {@link StoredDocument} with its fields in fixed order; "" for a large document. */
  readonly content: string
  /** Content of a large document. */
  readonly large?: LargeContent
  /** How long the content is. */
  readonly characters: number
  readonly semanticIdentifier: string
  /** First link of the sections; "" when there is none. */
  readonly link: string
  readonly source: string
  /** Ids of the files that it names. */
  readonly files: readonly string[]
}

/**
 * The version that a request stands for. A request without id gets one from its pair, source, semantic identifier and
 * first link, so that sending it again updates the same document.
 * @throws VALIDATION_FAILED for an id that cannot be stored or addressed, CONNECTOR_NOT_FOUND for a number no pair has
 */
export async function toVersion(request: IngestionRequest): Promise<Version> {
  const { document } = request
  const pairId = request.cc_pair_id || 1
  // Ids are 32 bits wide: Postgres refuses wider numbers instead of finding nothing, and with them a whole commit.
  if (pairId < 1 || pairId > 2_147_483_647) throw new InlayError('CONNECTOR_NOT_FOUND')
  const link = document.sections.find((section) => section.link)?.link ?? ''
  const stored = toStored(document)
  let characters = 0
  for (const section of stored.sections)
    if ('text' in section) for (const { length } of textPieces.get(section) ?? [section.text]) characters += length
  const large = characters > largeCharacters ? await toLargeContent(stored) : undefined
  const content = large ? '' : JSON.stringify(stored)
  if (content.length > 65_536) await nextSlice()
  const id = await keptId(document.id, [pairId, stored.source, stored.semantic_identifier, link])
  return {
    id,
    pairId,
    hash: large ? await largeHash(large) : await sha256(content),
    content,
    large,
    characters: large ? characters + large.document.length : content.length,
    semanticIdentifier: stored.semantic_identifier,
    link,
    source: stored.source,
    files: filesOf(stored),
  }
}

/** Metadata is sorted by key: a client that writes it in another order still sends the same document. */
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

/** Hashes the hashes of the parts, so that no long text is hashed at once. */
async function largeHash({ document, parts }: LargeContent): Promise<string> {
  const hashes: string[] = []
  for (const part of [document, ...parts]) {
    await nextSlice()
    hashes.push(await sha256(part))
  }
  return sha256(hashes.join())
}

/** Stores of the files that documents reference. */
export interface NamedFiles {
  /** Without it, ids of images are taken as they come. */
  readonly images?: ImageStore
  /** Without it, `file_id` is taken as it comes, and tables are refused. */
  readonly files?: FileStore
  readonly readFile?: FileExtractor
}

type Location = readonly string[]

interface NamedFile {
  readonly id: string
  readonly loc: Location
}

/**
 * Refuses a document that names a file which is unknown or somebody else's.
 * @throws VALIDATION_FAILED that names each such field
 */
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
    ...(await missing(pictures, images, caller)).map((file) => toRefusal(file, 'names no image of the caller')),
    ...(files && readFile
      ? (await missing(tables, files, caller)).map((file) => toRefusal(file, 'names no file of the caller'))
      : tables.map(({ loc }) => ({ loc, msg: 'tables cannot be read here: send their text', type: 'value_error' }))),
    ...(await missing(raw, files, caller)).map((file) => toRefusal(file, 'names no file of the caller')),
  ]
  if (refusals.length > 0) throw validationFailed(refusals)
}

async function missing(
  named: readonly NamedFile[],
  store: Pick<FileStore, 'find'> | undefined,
  caller: Caller | undefined,
): Promise<readonly NamedFile[]> {
  if (!store || named.length === 0) return []
  const existing = new Set(await store.find([...new Set(named.map(({ id }) => id))], caller))
  return named.filter(({ id }) => !existing.has(id))
}

function toRefusal({ loc }: NamedFile, fault: string): { loc: Location; msg: string; type: string } {
  return { loc, msg: `${fault}: upload it first`, type: 'value_error' }
}

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
  const id = await generatedId([JSON.stringify(toStored(read.document))])
  return { ...read, document: { ...read.document, id } }
}

function firstLine(sections: unknown): string {
  const texts = Array.isArray(sections) ? sections.map((section) => String(section?.text ?? '').trim()) : []
  const line = texts.find((text) => text !== '')?.split('\n', 1)[0] ?? ''
  return line.length > titleCharacters ? `${line.slice(0, titleCharacters - 1).trimEnd()}…` : line
}
