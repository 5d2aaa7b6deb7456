import { isInPairs } from '../access-and-filters/documents.ts'
import { pairsFor, type PairScope } from '../access-and-filters/permissions-and-filters.ts'
import { estimateTokens } from '../chunking/blocks.ts'
import { type ReadHit, decodeChunkMetadata, textOf } from '../chunking/chunk-metadata.ts'
import type { DocumentSize, Excerpt, ExcerptRequest } from '../contracts/search.ts'
import type { VectorIndex } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'

/** Most chunks of one excerpt. */
const mostChunks = 64

export interface ExcerptContext {
  readonly db: Records
  readonly index: Pick<VectorIndex, 'read'>
}

/**
 * Reads a stretch of the visible version of a document; undefined when the caller may not see it, or it is gone.
 * @param given pairs that the document is to be in, instead of those the caller may see
 */
export async function readExcerpt(
  { documentId, first, last, chunk, caller }: ExcerptRequest,
  { db, index }: ExcerptContext,
  given?: readonly number[],
): Promise<Excerpt | undefined> {
  const generation = await visibleGeneration(documentId, db, given ?? (await pairsFor(db, caller)))
  if (generation === undefined) return undefined
  const from = Math.max(0, first, chunk - mostChunks)
  const hits = await index.read(generation, from, Math.min(last, from + mostChunks - 1))
  const chunks = ofOneLink(
    hits.map((hit) => ({ hit, metadata: decodeChunkMetadata(hit.chunkMetadata) })),
    chunk,
  )
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

/** Counts chunks and tokens of the visible version of a document; undefined when the caller may not see it, or it is gone. */
export async function readSize(
  { documentId, caller }: Pick<ExcerptRequest, 'documentId' | 'caller'>,
  { db, index }: ExcerptContext,
): Promise<DocumentSize | undefined> {
  const generation = await visibleGeneration(documentId, db, await pairsFor(db, caller))
  if (generation === undefined) return undefined
  let [chunks, tokens] = [0, 0]
  for (let first = 0; ; first += mostChunks) {
    const hits = await index.read(generation, first, first + mostChunks - 1)
    chunks += hits.length
    const text = textOf(hits.map((hit) => ({ hit, metadata: decodeChunkMetadata(hit.chunkMetadata) })))
    tokens += estimateTokens(text)
    // Numbers of chunks have no gaps.
    if (hits.length < mostChunks) return { chunks, tokens: Math.ceil(tokens) }
  }
}

async function visibleGeneration(
  documentId: string,
  db: Records,
  pairs: PairScope | readonly number[] | undefined,
): Promise<string | undefined> {
  const all = db.selectFrom('inlay_documents').select('visible_generation').where('id', '=', documentId)
  const row = await (pairs ? all.where(isInPairs(db, pairs)) : all).executeTakeFirst()
  return row?.visible_generation ?? undefined
}

/** The chunks that surround one without a gap and lead to the same place as it. */
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
