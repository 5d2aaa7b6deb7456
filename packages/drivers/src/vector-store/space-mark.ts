import type { IndexFigures, VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import type { Space } from '../hybrid-search/open-state.ts'

/** Holds which space the rows are of. No search finds it, and no document has such a generation. */
const markGeneration = 'inlay vector space'

/** The space that the rows are of: null when they have no vectors, undefined when nothing says so. */
export async function spaceIn(words: VectorIndex): Promise<Space | null | undefined> {
  const [mark] = await words.read(markGeneration, 0, 0)
  // Written below.
  return mark && (JSON.parse(mark.text) as Space | null)
}

/** Another handle may note the space, and append rows, between two looks. */
const mostLooks = 3

/** Notes the space of the rows to come; INDEX_MISMATCH when there are rows of another one. */
export async function claimSpace(words: VectorIndex, space: Space | undefined): Promise<void> {
  const text = JSON.stringify(space ? { id: space.id, dimensions: space.dimensions } : null)
  for (let look = 1; look <= mostLooks; look++) {
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

/** Figures of the rows alone. */
export function withoutMark(figures: IndexFigures): IndexFigures {
  return { ...figures, rows: Math.max(0, figures.rows - 1) }
}

/** Whether a generation is not the mark. */
export function isOfRows(generation: string): boolean {
  return generation !== markGeneration
}
