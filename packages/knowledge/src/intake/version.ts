import { InlayError, type IngestionDocument, type IngestionRequest, validationFailed } from '@inlay/protocol'
import type { StoredDocument } from '../contracts/stored-document.ts'

/** One version of a document, ready to be stored. */
export interface Version {
  readonly id: string
  readonly pairId: number
  /** SHA-256 of {@link content}, as hexadecimal digits: equal for identical documents only. */
  readonly hash: string
  /** JSON of a {@link StoredDocument} with its fields in fixed order. */
  readonly content: string
  readonly semanticIdentifier: string
  /** First link of the sections; "" when there is none. */
  readonly link: string
  readonly source: string
}

/**
 * Makes the version that a request stands for. A request without id gets one from its pair, source, semantic
 * identifier and first link, so that sending it again updates the same document.
 * @throws VALIDATION_FAILED for an id that cannot be stored or addressed, CONNECTOR_NOT_FOUND for a number no pair has
 */
export async function toVersion(request: IngestionRequest): Promise<Version> {
  const { document } = request
  const pairId = request.cc_pair_id || 1
  // Ids are 32 bits wide: Postgres refuses wider numbers instead of finding nothing, and with them a whole commit.
  if (pairId < 1 || pairId > 2_147_483_647) throw new InlayError('CONNECTOR_NOT_FOUND')
  const link = document.sections.find((section) => section.link)?.link ?? ''
  const stored = toStored(document)
  const content = JSON.stringify(stored)
  const id = document.id || (await madeUpId([pairId, stored.source, stored.semantic_identifier, link]))
  const fault = faultOf(id)
  if (fault) throw validationFailed([{ loc: ['body', 'document', 'id'], msg: fault, type: 'value_error' }])
  return {
    id,
    pairId,
    hash: await sha256(content),
    content,
    semanticIdentifier: stored.semantic_identifier,
    link,
    source: stored.source,
  }
}

function faultOf(id: string): string | undefined {
  if (!id.isWellFormed() || id.includes('\0')) return 'must not hold NUL characters or unpaired surrogates'
  // Clients and proxies take these out of a path, however they are encoded: the document could never be asked for.
  if (id === '.' || id === '..') return 'must not be "." or "..", which no address can name: choose another id'
  return undefined
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

async function madeUpId(parts: readonly (string | number)[]): Promise<string> {
  return `ingestion_api_${(await sha256(JSON.stringify(parts))).slice(0, 32)}`
}

const encoder = new TextEncoder()

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
  let digits = ''
  for (const byte of bytes) digits += hexadecimal[byte]
  return digits
}

const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
