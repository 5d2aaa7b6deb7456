import { isAmong } from '@inlay/records'
import { mapConcurrent } from '@inlay/scheduling'
import { rowsOfHits } from '../chunking/rows.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import type { Hit, IndexRow, VectorIndex } from '../contracts/vector-index.ts'
import { idsOf, spaceOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import { type OpenedIndex, openOnUse, partOf, readSpaces } from './index-space.ts'

export interface IndexCopyOptions {
  readonly db: Records
  readonly from: VectorIndex
  readonly to: VectorIndex
}

/** Copies the passages of documents with their vectors to another index, where they keep their generations. */
export interface IndexCopy {
  /**
   * Copies the visible versions of documents. One that changes meanwhile, or that has no passages, is left out.
   * @param compares whether passages that are there are compared, too
   */
  copy(documentIds: readonly string[], compares: boolean): Promise<void>
  /** Removes versions that no document shows. @returns ids of documents whose versions are not there */
  finish(): Promise<string[]>
  close(): Promise<void>
}

/** Rows per commit, and reads at once. */
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
      for (const [number, documents] of Map.groupBy(await readShown(db, ids), ({ generation }) =>
        spaceOf(generation),
      )) {
        const part = opened.get(number)
        if (part) await copyDocuments({ db, ...part }, documents, compares)
      }
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
  readonly chunkCount: number
  readonly acceptedAt: number
}

async function readShown(db: Records, ids: readonly string[]): Promise<ShownDocument[]> {
  const rows = await db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation', 'chunk_count', 'accepted_at'])
    .where(isAmong(db, 'id', ids))
    .where('visible_generation', 'is not', null)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    // Chosen above.
    generation: row.visible_generation!,
    chunkCount: Math.max(1, row.chunk_count ?? 0),
    acceptedAt: Number(row.accepted_at),
  }))
}

async function rowsOf(db: Records, shown: readonly (ShownDocument & { readonly hits: Hit[] })[]): Promise<IndexRow[]> {
  const ids = idsOf(shown)
  const contents = await db
    .selectFrom('inlay_contents')
    .leftJoin('inlay_large_contents', 'inlay_large_contents.id', 'inlay_contents.large_id')
    .select(['inlay_contents.id', 'content', 'document'])
    .where(isAmong(db, 'inlay_contents.id', ids))
    .execute()
  const contentOfId = new Map(contents.map((row) => [row.id, row.document ?? row.content]))
  const pairs = await db
    .selectFrom('inlay_document_pairs')
    .selectAll()
    .where(isAmong(db, 'document_id', ids))
    .execute()
  const pairsOf = Map.groupBy(pairs, (pair) => pair.document_id)
  return shown.flatMap(({ id, acceptedAt, hits }) => {
    const content = contentOfId.get(id)
    // Removed meanwhile.
    if (content === undefined) return []
    const pairIds = (pairsOf.get(id) ?? []).map((pair) => pair.pair_id)
    // Written by this package from a validated request.
    return rowsOfHits({ id, acceptedAt, pairIds }, JSON.parse(content) as StoredDocument, hits)
  })
}

interface PartOfRecords extends Part {
  readonly db: Records
}

async function copyDocuments(part: PartOfRecords, shown: readonly ShownDocument[], compares: boolean): Promise<void> {
  const wanted = compares ? shown : shown.filter(({ generation }) => !part.held.has(generation))
  for (const large of wanted.filter(({ chunkCount }) => chunkCount > maxRows)) await copyLarge(part, large)
  let group: ShownDocument[] = []
  let rows = 0
  for (const document of wanted.filter(({ chunkCount }) => chunkCount <= maxRows)) {
    if (rows + document.chunkCount > maxRows) {
      await copyGroup(part, group)
      ;[group, rows] = [[], 0]
    }
    group.push(document)
    rows += document.chunkCount
  }
  await copyGroup(part, group)
}

/** Copies documents in one commit, except those that the target has as they are. */
async function copyGroup(part: PartOfRecords, documents: readonly ShownDocument[]): Promise<void> {
  const { db, source, target, held } = part
  const [here, there] = await Promise.all([
    readGenerations(source, documents),
    readGenerations(
      target,
      documents.filter(({ generation }) => held.has(generation)),
    ),
  ])
  // Without those that were replaced meanwhile: whoever notes changes copies the new version.
  const copied = documents.filter(({ generation, chunkCount }) => {
    const hits = here.get(generation) ?? []
    return hits.length >= chunkCount && contentOf(hits) !== contentOf(there.get(generation) ?? [])
  })
  await removeFrom(part, generationsOf(copied.filter(({ generation }) => held.has(generation))))
  const rows = await rowsOf(
    db,
    copied.map((each) => ({ ...each, hits: here.get(each.generation)! })),
  )
  if (rows.length > 0) await target.append(rows)
  for (const generation of generationsOf(copied)) held.add(generation)
}

/** Copies one with more rows than fit into a commit. */
async function copyLarge(part: PartOfRecords, document: ShownDocument): Promise<void> {
  const { db, source, target, held } = part
  const { generation, chunkCount } = document
  const ranges = Array.from({ length: Math.ceil(chunkCount / maxRows) }, (_, at) => at * maxRows)
  const readAt = (index: OpenedIndex, start: number): Promise<Hit[]> =>
    index.read(generation, start, start + maxRows - 1, { vectors: true })
  if (held.has(generation)) {
    let isEqual = true
    for (const start of ranges)
      isEqual &&= contentOf(await readAt(source, start)) === contentOf(await readAt(target, start))
    if (isEqual) return
    await removeFrom(part, [generation])
  }
  held.add(generation)
  for (const start of ranges) {
    const hits = await readAt(source, start)
    if (hits.length < Math.min(maxRows, chunkCount - start)) {
      await removeFrom(part, [generation])
      return
    }
    await target.append(await rowsOf(db, [{ ...document, hits }]))
  }
}

const generationsOf = (documents: readonly ShownDocument[]): string[] => documents.map(({ generation }) => generation)

async function readGenerations(
  index: OpenedIndex,
  documents: readonly ShownDocument[],
): Promise<ReadonlyMap<string, Hit[]>> {
  if (documents.length === 0) return new Map()
  const hits = index.readAll
    ? await index.readAll(generationsOf(documents))
    : await mapConcurrent(documents, maxReads, ({ generation, chunkCount }) =>
        index.read(generation, 0, chunkCount - 1, { vectors: true }),
      )
  return Map.groupBy(hits.flat(), ({ generation }) => generation)
}

/** The same text for the same passages and vectors. */
function contentOf(hits: readonly Hit[]): string {
  return JSON.stringify(
    hits.map(({ position, text, chunkMetadata, source, updatedAt, vector }) => [
      position,
      text,
      chunkMetadata,
      source,
      updatedAt,
      vector && Array.from(vector),
    ]),
  )
}
