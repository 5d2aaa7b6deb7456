import { toSearchText, type Hit, type IndexRow, type VectorIndex } from '@inlay/knowledge'

/** A row with default values for missing fields; by default each has its own generation. */
export function sampleRow(id: string, text: string, rest: Partial<IndexRow> & { title?: string } = {}): IndexRow {
  const { title = '', ...given } = rest
  return {
    documentId: id,
    generation: `generation of ${id}`,
    position: 0,
    text,
    searchText: toSearchText({ title, text }),
    source: 'ingestion_api',
    tags: [],
    pairs: [1],
    updatedAt: 1_700_000_000_000,
    ownUpdatedAt: null,
    createdAt: null,
    chunkMetadata: '{}',
    ...given,
  }
}

/** Rows that only fill the index: none contains a word that other samples search for. */
export function fillerRows(count: number, make: (n: number) => Partial<IndexRow> = () => ({})): IndexRow[] {
  return Array.from({ length: count }, (_, n) =>
    sampleRow(`filler ${n}`, `Plain filling number ${n} of the shelf, kept for company.`, make(n)),
  )
}

/** Runs a loop with rows as appended, and after maintenance; each round gets what to add to its statements. */
export async function* beforeAndAfterUpkeep(index: VectorIndex): AsyncGenerator<string> {
  yield ''
  await index.maintain({ idle: true })
  yield ' after upkeep'
}

/** Ids of the documents found, best first. */
export function idsOf(hits: readonly Hit[]): string[] {
  return hits.map((hit) => hit.documentId)
}

/** Ids in a fixed order, for searches whose order does not matter. */
export async function foundBy(index: VectorIndex, query: Parameters<VectorIndex['search']>[0]): Promise<string[]> {
  return idsOf(await index.search(query)).sort()
}

/** A unit vector in the plane of the first two of eight axes; similar angles give similar vectors. */
export function vectorAt(degrees: number): Float32Array {
  const vector = new Float32Array(8)
  vector[0] = Math.cos((degrees * Math.PI) / 180)
  vector[1] = Math.sin((degrees * Math.PI) / 180)
  return vector
}

/** The space of {@link vectorAt}. */
export const sampleSpace: { id: string; dimensions: number } = { id: 'samples/plane@8', dimensions: 8 }
