import { isInPairs } from '../access-and-filters/documents.ts'
import { pairsFor, type PairScope } from '../access-and-filters/permissions.ts'
import { estimateTokens } from '../chunking/blocks.ts'
import { type ReadHit, readHits, textOf } from '../chunking/chunk-metadata.ts'
import type { ChunksRequest, DocumentChunks, DocumentSize, Excerpt, ExcerptRequest } from '../contracts/search.ts'
import type { VectorIndex } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'

const maxChunks = 64

export interface ExcerptContext {
  readonly db: Records
  readonly index: Pick<VectorIndex, 'read'>
}

/**
 * Reads a range of the visible version of a document; undefined if the caller may not see it, or it was deleted.
 * @param given pairs that the document must be in, instead of those that the caller may see
 */
export async function readExcerpt(
  { documentId, first, last, chunk, caller }: ExcerptRequest,
  { db, index }: ExcerptContext,
  given?: PairScope,
): Promise<Excerpt | undefined> {
  const from = Math.max(0, first, chunk - maxChunks)
  const to = Math.min(last, from + maxChunks - 1)
  const pairs = given ?? (await pairsFor(db, caller))
  const hits = await ofVisible({ documentId, db, pairs }, (generation) => index.read(generation, from, to))
  const chunks = ofOneLink(readHits(hits ?? []), chunk)
  const [start, end] = [chunks[0], chunks.at(-1)]
  if (!start || !end) return undefined
  const content = textOf(chunks)
  return {
    content,
    headings: start.metadata.headings ?? [],
    span: { first: start.hit.position, last: end.hit.position },
    tokens: Math.ceil(estimateTokens(content)),
  }
}

/**
 * Reads consecutive chunks of the visible version of a document, whatever their links; undefined if the caller may not
 * see it, it was deleted, or it ends before the first chunk asked for.
 */
export async function readChunks(
  { documentId, first, limit, caller }: ChunksRequest,
  { db, index }: ExcerptContext,
): Promise<DocumentChunks | undefined> {
  const count = Math.min(Math.max(limit, 1), maxChunks)
  const pairs = await pairsFor(db, caller)
  // One more: its metadata says what splitting added to the last chunk, and it says whether there are others.
  const hits = await ofVisible({ documentId, db, pairs }, (generation) => index.read(generation, first, first + count))
  const all = readHits(hits ?? [])
  const [start] = all
  if (start === undefined) return undefined
  return {
    semanticIdentifier: start.metadata.semanticIdentifier,
    source: start.hit.source,
    updatedAt: start.hit.updatedAt,
    fileId: start.metadata.fileId ?? null,
    chunks: all.slice(0, count).map(({ hit, metadata }, at) => {
      const [, opening] = metadata.addedByCut ?? [0, 0]
      const [closing] = all[at + 1]?.metadata.addedByCut ?? [0, 0]
      return {
        position: hit.position,
        text: hit.text.slice(opening, hit.text.length - closing),
        separator: metadata.seam ?? '\n\n',
        headings: metadata.headings ?? [],
        link: metadata.link ?? null,
        imageId: metadata.imageId ?? null,
      }
    }),
    next: all[count]?.hit.position ?? null,
  }
}

/** Undefined if the caller may not see the document, or it was deleted. */
export async function readSize(
  { documentId, caller }: Pick<ExcerptRequest, 'documentId' | 'caller'>,
  { db, index }: ExcerptContext,
): Promise<DocumentSize | undefined> {
  const pairs = await pairsFor(db, caller)
  return ofVisible({ documentId, db, pairs }, (generation) => sizeOf(generation, index))
}

async function sizeOf(generation: string, index: ExcerptContext['index']): Promise<DocumentSize> {
  let [chunks, tokens] = [0, 0]
  for (let first = 0; ; first += maxChunks) {
    const hits = await index.read(generation, first, first + maxChunks - 1)
    chunks += hits.length
    tokens += estimateTokens(textOf(readHits(hits)))
    // Chunks are numbered without gaps.
    if (hits.length < maxChunks) return { chunks, tokens: Math.ceil(tokens) }
  }
}

interface VisibleDocument {
  readonly documentId: string
  readonly db: Records
  readonly pairs: PairScope | undefined
}

/** A document that is updated more often while it is read gives what was found of its last version. */
const maxReads = 3

/**
 * Reads the visible version of a document; undefined if there is none. If it was replaced meanwhile, its rows may be
 * gone already, and the next version is read.
 */
async function ofVisible<Result>(
  { documentId, db, pairs }: VisibleDocument,
  read: (generation: string) => Promise<Result>,
): Promise<Result | undefined> {
  let generation = await visibleGeneration(documentId, db, pairs)
  for (let reads = 1; generation !== undefined; reads++) {
    const result = await read(generation)
    const visible = await visibleGeneration(documentId, db, pairs)
    if (visible === generation || reads === maxReads) return result
    generation = visible
  }
  return undefined
}

async function visibleGeneration(
  documentId: string,
  db: Records,
  pairs: PairScope | undefined,
): Promise<string | undefined> {
  const all = db.selectFrom('inlay_documents').select('visible_generation').where('id', '=', documentId)
  const row = await (pairs ? all.where(isInPairs(pairs)) : all).executeTakeFirst()
  return row?.visible_generation ?? undefined
}

/** The consecutive chunks around a chunk that have the same link. */
function ofOneLink(chunks: readonly ReadHit[], chunk: number): readonly ReadHit[] {
  const at = chunks.findIndex(({ hit }) => hit.position === chunk)
  const link = chunks[at]?.metadata.link
  const fits = (place: number, neighbour: number): boolean => {
    const [chunk, other] = [chunks[place], chunks[neighbour]]
    return (
      chunk !== undefined &&
      chunk.metadata.link === link &&
      Math.abs(chunk.hit.position - (other?.hit.position ?? NaN)) === 1
    )
  }
  if (at === -1) return []
  let [first, last] = [at, at]
  while (fits(first - 1, first)) first--
  while (fits(last + 1, last)) last++
  return chunks.slice(first, last + 1)
}
