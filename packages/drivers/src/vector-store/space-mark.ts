import type { IndexFigures, VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import type { Space } from '../hybrid-search/open-state.ts'

/** Generation of a row that records the space of the index. No search finds it, and no document has this generation. */
const markGeneration = 'inlay vector space'

/** The recorded space: null if the rows have no vectors, undefined if nothing is recorded. */
export async function spaceIn(words: VectorIndex): Promise<Space | null | undefined> {
  const [mark] = await words.read(markGeneration, 0, 0)
  // Written only by `claimSpace`.
  return mark && (JSON.parse(mark.text) as Space | null)
}

/** Another handle may record the space, and append rows, between two reads. */
const maxReads = 3

/** Records the space of the rows. @throws INDEX_MISMATCH if there are rows of another space */
export async function claimSpace(words: VectorIndex, space: Space | undefined): Promise<void> {
  const text = JSON.stringify(space ? { id: space.id, dimensions: space.dimensions } : null)
  for (let look = 1; look <= maxReads; look++) {
    const known = await spaceIn(words)
    if (known !== undefined && JSON.stringify(known) === text) return
    const { rows } = await words.figures()
    if (rows > (known === undefined ? 0 : 1)) continue
    if (known !== undefined) await words.remove([markGeneration])
    const mark = { documentId: markGeneration, generation: markGeneration, position: 0, text, searchText: '' }
    const none = { source: '', tags: [], pairs: [], updatedAt: 0, ownUpdatedAt: null, createdAt: null }
    await words.append([{ ...mark, ...none, chunkMetadata: '{}' }])
  }
  const known = await spaceIn(words)
  if (known === undefined || JSON.stringify(known) !== text) throw new InlayError('INDEX_MISMATCH')
}

export function withoutMark(figures: IndexFigures): IndexFigures {
  return { ...figures, rows: Math.max(0, figures.rows - 1) }
}

export function isOfRows(generation: string): boolean {
  return generation !== markGeneration
}
