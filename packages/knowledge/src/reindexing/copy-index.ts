import { isAmong } from '@inlay/records'
import { mapConcurrent } from '@inlay/scheduling'
import { rowsOfHits } from '../chunking/rows.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import type { Hit, IndexRow, VectorIndex } from '../contracts/vector-index.ts'
import { idsOf, spaceOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import { type OpenedIndex, openOnUse, partOf, readSpaces } from './index-space.ts'

export interface IndexCopyOptions {
  /** Records of the documents. */
  readonly db: Records
  readonly from: VectorIndex
  readonly to: VectorIndex
}

/** Copies the passages of documents with their vectors to another index, where they keep their generations. */
export interface IndexCopy {
  /**
   * Copies the visible versions of documents. One that changes meanwhile, or that has no passages, is left out.
   * @param compares whether passages that are there are compared, too
   * @returns how many versions were written
   */
  copy(documentIds: readonly string[], compares: boolean): Promise<number>
  /** Removes versions that no document shows. @returns ids of documents whose versions are not there */
  finish(): Promise<string[]>
  close(): Promise<void>
}

/** Rows per commit, and per read of a large document. */
const [maxRows, maxReads] = [1000, 8]

interface Part {
  readonly source: OpenedIndex
  readonly target: OpenedIndex
  /** Generations that the target has, whole or in part. */
  readonly held: Set<string>
}

/** Creates a copy. Neither index may be open; the copy opens and closes both. */
export function createIndexCopy({ db, from, to }: IndexCopyOptions): IndexCopy {
  const parts = new Map<number, Part>()
  const openParts = async (): Promise<ReadonlyMap<number, Part>> => {
    const spaces = (await readSpaces(db)).filter(({ isReadable }) => isReadable)
    for (const space of spaces) {
      if (parts.has(space.number)) continue
      const [source, target] = [from, to].map((index) => openOnUse(partOf(index, space.number), space))
      const part: Part = { source: source!, target: target!, held: new Set() }
      parts.set(space.number, part)
      await part.target.eachGeneration?.((generations) => generations.forEach((each) => part.held.add(each)))
    }
    return parts
  }
  return {
    copy: async (ids, compares) => {
      const opened = await openParts()
      let count = 0
      for (const [number, documents] of Map.groupBy(await readDocuments(db, ids), ({ space }) => space)) {
        const part = opened.get(number)
        if (part) count += await copyDocuments(part, documents, compares)
      }
      return count
    },
    finish: async () => {
      const missing: string[] = []
      const opened = await openParts()
      const unseen = new Map([...opened].map(([number, { held }]) => [number, new Set(held)]))
      for (let after = ''; ;) {
        const rows = await db
          .selectFrom('inlay_documents')
          .select(['id', 'visible_generation as generation', 'chunk_count as chunkCount'])
          .where('id', '>', after)
          .orderBy('id')
          .limit(maxRows)
          .execute()
        for (const { id, generation, chunkCount } of rows)
          if (generation !== null && !unseen.get(spaceOf(generation))?.delete(generation) && chunkCount)
            missing.push(id)
        if (rows.length < maxRows) break
        after = rows.at(-1)!.id
      }
      for (const [number, generations] of unseen) await removeFrom(opened.get(number)!, [...generations])
      return missing
    },
    close: async () => {
      for (const { source, target } of parts.values()) await Promise.all([source.close(), target.close()])
    },
  }
}

async function removeFrom({ target, held }: Part, generations: readonly string[]): Promise<void> {
  if (generations.length === 0) return
  await target.remove(generations)
  for (const generation of generations) held.delete(generation)
}

interface ShownDocument {
  readonly id: string
  readonly generation: string
  readonly space: number
  readonly chunkCount: number
  readonly acceptedAt: number
  readonly pairIds: readonly number[]
  readonly document: StoredDocument
}

async function readDocuments(db: Records, ids: readonly string[]): Promise<ShownDocument[]> {
  const rows = await db
    .selectFrom('inlay_documents')
    .innerJoin('inlay_contents', 'inlay_contents.id', 'inlay_documents.id')
    .leftJoin('inlay_large_contents', 'inlay_large_contents.id', 'inlay_contents.large_id')
    .select(['inlay_documents.id', 'visible_generation', 'chunk_count', 'accepted_at', 'content', 'document'])
    .where(isAmong(db, 'inlay_documents.id', ids))
    .where('visible_generation', 'is not', null)
    .execute()
  const pairs = await db
    .selectFrom('inlay_document_pairs')
    .selectAll()
    .where(isAmong(db, 'document_id', idsOf(rows)))
    .execute()
  const pairsOf = Map.groupBy(pairs, (pair) => pair.document_id)
  return rows.map((row) => ({
    id: row.id,
    // Chosen above.
    generation: row.visible_generation!,
    space: spaceOf(row.visible_generation!),
    chunkCount: Math.max(1, row.chunk_count ?? 0),
    acceptedAt: Number(row.accepted_at),
    pairIds: (pairsOf.get(row.id) ?? []).map((pair) => pair.pair_id),
    // Written by this package from a validated request.
    document: JSON.parse(row.document ?? row.content) as StoredDocument,
  }))
}

async function copyDocuments(part: Part, shown: readonly ShownDocument[], compares: boolean): Promise<number> {
  const rows: IndexRow[] = []
  let count = 0
  const flush = async (): Promise<void> => {
    const batch = rows.splice(0)
    if (batch.length > 0) await part.target.append(batch)
    for (const { generation } of batch) part.held.add(generation)
  }
  const copyOne = async (each: ShownDocument): Promise<void> => {
    if (part.held.has(each.generation)) {
      if (!compares || (await isEqual(part, each))) return
      await removeFrom(part, [each.generation])
    }
    const own: IndexRow[] = []
    for (let start = 0; start < each.chunkCount; start += maxRows) {
      const hits = await readFrom(part.source, each, start)
      // Replaced meanwhile: whoever notes changes copies the new version.
      if (hits.length < Math.min(maxRows, each.chunkCount - start))
        return void (await removeFrom(part, [each.generation]))
      own.push(...rowsOfHits(each, each.document, hits))
      if (own.length >= maxRows) {
        part.held.add(each.generation)
        await part.target.append(own.splice(0))
      }
    }
    rows.push(...own)
    count++
    if (rows.length >= maxRows) await flush()
  }
  await mapConcurrent(shown, maxReads, copyOne)
  await flush()
  return count
}

const readFrom = (index: VectorIndex, { generation }: ShownDocument, start: number): Promise<Hit[]> =>
  index.read(generation, start, start + maxRows - 1, { vectors: true })

/** Whether the target holds the same passages and vectors. */
async function isEqual({ source, target }: Part, document: ShownDocument): Promise<boolean> {
  const textOf = (hits: readonly Hit[]): string =>
    JSON.stringify(
      hits.map(({ position, text, chunkMetadata, source: kind, updatedAt, vector }) => [
        position,
        text,
        chunkMetadata,
        kind,
        updatedAt,
        vector && Array.from(vector),
      ]),
    )
  for (let start = 0; start < document.chunkCount; start += maxRows) {
    const [here, there] = await Promise.all([source, target].map((index) => readFrom(index, document, start)))
    if (textOf(here!) !== textOf(there!)) return false
  }
  return true
}
