import type { ChunkMetadata } from './chunk-metadata.ts'
import type { Hit } from '../contracts/vector-index.ts'

/** A hit with its metadata. */
export interface ReadHit {
  readonly hit: Hit
  readonly metadata: ChunkMetadata
}

/**
 * Chunks that follow each other as the one text they were cut from: without what the cuts added to a table or a code
 * block.
 */
export function textOf(chunks: readonly ReadHit[]): string {
  let text = ''
  for (const [at, { hit, metadata }] of chunks.entries()) {
    const [closing, opening] = metadata.addedByCut ?? [0, 0]
    if (at === 0) text = hit.text
    else text = text.slice(0, text.length - closing) + (metadata.seam ?? '\n\n') + hit.text.slice(opening)
  }
  return text
}
