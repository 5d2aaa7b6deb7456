import { InlayError } from '@inlay/protocol'
import { type ChunkMetadata, type Summary, readHits, textOf } from '../chunking/chunk-metadata.ts'
import { toEmbedText } from '../chunking/rows.ts'
import type { Hit, VectorIndex } from '../contracts/vector-index.ts'
import type { ClaimedDocument } from '../queue/claims.ts'
import { spaceOf } from '../schema/sql.ts'

/** Model results of visible rows, reused because most of a changed document stays the same. */
export interface KnownRows {
  /** Vectors by their text. */
  readonly vectors: Map<string, Float32Array>
  /** Summaries by {@link summaryKey}. */
  readonly summaries: Map<string, Summary>
  /** Descriptions of images by id. */
  readonly descriptions: Map<string, string>
}

/** Identifies a chunk of a document by its content. */
export function summaryKey(documentId: string, metadata: ChunkMetadata, text: string): string {
  return JSON.stringify([documentId, metadata.headings ?? [], text])
}

/** Bounds memory: larger documents are embedded again. */
const maxKnownChunks = 5000

/** Without vectors of another embedder. @throws SERVICE_UNAVAILABLE if the index cannot be read */
export async function readKnownRows(
  documents: readonly ClaimedDocument[],
  { index, space }: { index: VectorIndex; space: number },
): Promise<KnownRows> {
  const known: KnownRows = { vectors: new Map(), summaries: new Map(), descriptions: new Map() }
  for (const { id, visibleGeneration, chunkCount } of documents) {
    if (visibleGeneration === null || chunkCount > maxKnownChunks) continue
    const read = readHits(await readGeneration(index, visibleGeneration, chunkCount))
    for (const { hit, metadata } of read) {
      if (hit.vector && spaceOf(hit.generation) === space)
        known.vectors.set(toEmbedText(metadata, hit.text), hit.vector)
      if (metadata.documentSummary !== undefined || metadata.chunkSummary !== undefined)
        known.summaries.set(summaryKey(id, metadata, hit.text), {
          document: metadata.documentSummary ?? '',
          chunk: metadata.chunkSummary ?? '',
        })
    }
    const described = Map.groupBy(
      read.filter(({ metadata }) => metadata.isDescription),
      ({ metadata }) => metadata.imageId ?? '',
    )
    for (const [image, chunks] of described) known.descriptions.set(image, textOf(chunks))
  }
  return known
}

async function readGeneration(index: VectorIndex, generation: string, chunkCount: number): Promise<Hit[]> {
  try {
    return await index.read(generation, 0, Math.max(chunkCount - 1, 0), { vectors: true })
  } catch (cause) {
    throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The index could not be read.', cause })
  }
}
