import type { SearchDoc } from '@inlay/protocol'
import { type ReadHit, decodeChunkMetadata, textOf, titleOf } from '../chunking/chunk-metadata.ts'
import type { FoundPassage } from '../contracts/search.ts'
import type { DocumentMetadata } from '../contracts/stored-document.ts'
import type { Hit } from '../contracts/vector-index.ts'
import type { Highlighter } from './highlights.ts'

/** Most chunks in one passage: about what a reader, or a model, takes in at once. */
const mostChunks = 4

/** Hits that make one passage. */
export interface JoinedHits {
  readonly best: ReadHit
  /** By position, without gaps; all of one link, so that a citation never leads elsewhere. */
  readonly chunks: readonly ReadHit[]
}

/**
 * Joins hits that follow each other in a document under the same link.
 * @param hits by falling score
 * @returns by the score of the best hit of each
 */
export function joinHits(hits: readonly Hit[]): JoinedHits[] {
  const byGeneration = Map.groupBy(hits, (hit) => hit.generation)
  return [...byGeneration.values()]
    .flatMap((ofDocument) =>
      joinWithin(ofDocument.map((hit) => ({ hit, metadata: decodeChunkMetadata(hit.chunkMetadata) }))),
    )
    .toSorted((left, right) => right.best.hit.score - left.best.hit.score)
}

/** Hits of one document, best first: each joins what it adjoins on either side, as far as there is room. */
function joinWithin(hits: readonly ReadHit[]): JoinedHits[] {
  const [byFirst, byLast] = [new Map<number, JoinedHits>(), new Map<number, JoinedHits>()]
  const joined = (left: JoinedHits, right: JoinedHits): JoinedHits => {
    byLast.delete(left.chunks.at(-1)!.hit.position)
    byFirst.delete(right.chunks[0]!.hit.position)
    const best = left.best.hit.score >= right.best.hit.score ? left.best : right.best
    return { best, chunks: [...left.chunks, ...right.chunks] }
  }
  for (const chunk of hits) {
    let passage: JoinedHits = { best: chunk, chunks: [chunk] }
    const before = byLast.get(chunk.hit.position - 1)
    if (before && isOnePassage(before, passage)) passage = joined(before, passage)
    const after = byFirst.get(chunk.hit.position + 1)
    if (after && isOnePassage(passage, after)) passage = joined(passage, after)
    byFirst.set(passage.chunks[0]!.hit.position, passage)
    byLast.set(passage.chunks.at(-1)!.hit.position, passage)
  }
  return [...byFirst.values()]
}

function isOnePassage(left: JoinedHits, right: JoinedHits): boolean {
  return left.chunks.length + right.chunks.length <= mostChunks && left.best.metadata.link === right.best.metadata.link
}

/** How a passage is shown. */
export interface PassageContext {
  /** Marks the words of the query. */
  readonly highlight?: Highlighter
  /** Metadata of the document, when its rows do not carry it. */
  readonly metadata?: DocumentMetadata
}

/** Shows joined hits as a passage. */
export function toPassage(
  { best: { hit: best, metadata }, chunks }: JoinedHits,
  context: PassageContext = {},
): FoundPassage {
  const text = textOf(chunks)
  let highlights: readonly string[] | undefined
  const document: SearchDoc = {
    document_id: best.documentId,
    chunk_ind: best.position,
    semantic_identifier: metadata.semanticIdentifier.trim() === '' ? 'Unknown' : metadata.semanticIdentifier,
    link: metadata.link ?? null,
    blurb: toBlurb(best.text || titleOf(metadata)),
    source_type: best.source,
    boost: 0,
    hidden: false,
    metadata: metadata.metadata ?? context.metadata ?? {},
    score: best.score,
    is_relevant: null,
    relevance_explanation: null,
    // Made when somebody reads them: of many passages only some are shown.
    get match_highlights() {
      return (highlights ??= context.highlight?.(text) ?? [])
    },
    updated_at: new Date(best.updatedAt).toISOString(),
    primary_owners: metadata.primaryOwners ?? null,
    secondary_owners: metadata.secondaryOwners ?? null,
    is_internet: false,
    file_id: metadata.imageId ?? metadata.fileId ?? null,
  }
  return {
    document,
    content: text || titleOf(metadata),
    ...(chunks.length > 1 && { core: best.text }),
    headings: chunks[0]!.metadata.headings ?? [],
    span: { first: chunks[0]!.hit.position, last: chunks.at(-1)!.hit.position },
  }
}

/** About 128 tokens, as in the reference. */
const longestBlurb = 480
const sentenceEnd = /[.!?…](?=\s)|[。！？]/g

/** How a text begins: whole sentences if that gives a fair length, else whole words; on one line, without `#` marks. */
export function toBlurb(text: string): string {
  const plain = text.slice(0, longestBlurb * 4).replaceAll(/^ {0,3}#{1,6} /gm, '')
  const start = plain.replaceAll(/\s+/g, ' ').trim()
  if (start.length <= longestBlurb) return start
  const window = start.slice(0, longestBlurb)
  const end = [...window.matchAll(sentenceEnd)].at(-1)
  if (end && end.index >= longestBlurb / 3) return window.slice(0, end.index + 1)
  const space = window.lastIndexOf(' ')
  return `${window.slice(0, space > longestBlurb / 2 ? space : lastWordEnd(window))}…`
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Of a text that was cut anywhere: where its last whole word ends, in scripts without spaces, too. */
function lastWordEnd(window: string): number {
  const from = Math.max(0, window.length - 60)
  return from + ([...segmenter.segment(window.slice(from))].at(-1)?.index ?? 0)
}
