import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge, type Embedder } from '@inlay/knowledge'
import { ingestionRequestSchema, parseWith } from '@inlay/protocol'
import { connect, Index } from '@lancedb/lancedb'
import { Kysely } from 'kysely'
import type { RetrievalSet } from './retrieval-set.ts'

/** Something that ranks the documents of one set. */
export interface RankingSystem {
  readonly name: string
  /** Ids of documents, best first, none twice. */
  rank(query: string): Promise<string[]>
  close(): Promise<void>
}

const mostDocuments = 100
const reportError = (error: unknown): void => console.error(error)

/** Options of {@link inlaySystem}. */
export interface InlaySystemOptions {
  readonly embedder?: Embedder
  readonly name?: string
  readonly depth?: number
}

/** Inlay as users get it: documents accepted, cut, indexed and searched with its default drivers. */
export async function inlaySystem(
  set: RetrievalSet,
  { embedder, name = embedder ? 'inlay, hybrid' : 'inlay', depth = mostDocuments }: InlaySystemOptions = {},
): Promise<RankingSystem> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-'))
  const db = new Kysely({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const index = lancedbIndex({ folder: join(folder, 'index') })
  // On a slow machine words alone would answer, and pass for hybrid search.
  const knowledge = createKnowledge({ db, index, embedder, queryVectorMs: 60_000, onError: reportError })
  await knowledge.start()
  for (let at = 0; at < set.documents.length; at += 500)
    await Promise.all(
      set.documents.slice(at, at + 500).map(({ id, title, text }) =>
        knowledge.accept(
          parseWith(
            ingestionRequestSchema,
            {
              document: { id, title, semantic_identifier: title, sections: [{ text }], source: 'file', metadata: {} },
            },
            'body',
          ),
        ),
      ),
    )
  await knowledge.whenIdle()
  const { documents } = await knowledge.figures()
  if (documents.failed > 0) throw new Error(`${documents.failed} documents could not be indexed.`)
  return {
    name,
    async rank(query) {
      const passages = await knowledge.search({ text: query, limit: depth })
      return [...new Set(passages.map(({ document }) => document.document_id))]
    },
    async close() {
      await knowledge.close()
      await db.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** LanceDB's full text alone: title and text in one column, stemming and stop words as they come. */
export async function textSystem(set: RetrievalSet, depth: number = mostDocuments): Promise<RankingSystem> {
  const connection = await connect('memory://text')
  const rows = set.documents.map(({ id, title, text }) => ({ id, text: title ? `${title}\n${text}` : text }))
  const table = await connection.createTable('documents', rows)
  await table.createIndex('text', { config: Index.fts({ stem: true, removeStopWords: true, asciiFolding: true }) })
  return {
    name: 'LanceDB full text',
    async rank(query) {
      const hits = await table.query().fullTextSearch(query).select(['id', '_score']).limit(depth).toArray()
      return hits.map(({ id }) => String(id))
    },
    close: async () => connection.close(),
  }
}

/** Rows that Inlay reads for ten passages, since neighbours are joined and the first thirty are ranked anew. */
const rowsOfSearch = 30

/**
 * LanceDB's full text doing what a search of Inlay needs of it: on disk, where others may write, and with the text and
 * the metadata of thirty rows. {@link textSystem} is the least that a search can cost.
 */
export async function diskTextSystem(set: RetrievalSet, depth: number = mostDocuments): Promise<RankingSystem> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-bare-'))
  const connection = await connect(folder, { readConsistencyInterval: 0 })
  const rows = set.documents.map(({ id, title, text }) => ({
    text,
    card: JSON.stringify({ id, title, source: 'file', updatedAt: 0 }),
    search: title ? `${title}\n${title}\n${text}` : text,
  }))
  const table = await connection.createTable('documents', rows)
  await table.createIndex('search', { config: Index.fts({ stem: true, removeStopWords: true, asciiFolding: true }) })
  return {
    name: 'LanceDB on disk',
    async rank(query) {
      const search = table.query().fullTextSearch(query).select(['text', 'card', '_score'])
      const stored = await search.limit(Math.max(depth, rowsOfSearch)).toArray()
      const hits = stored.map((row) => ({ text: String(row.text), ...(JSON.parse(row.card) as { id: string }) }))
      return hits.map(({ id }) => id).slice(0, depth)
    },
    close: async () => {
      connection.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** LanceDB's vector search alone, over whole documents. */
export async function vectorSystem(
  set: RetrievalSet,
  embedder: Embedder,
  name = 'LanceDB vectors',
): Promise<RankingSystem> {
  const connection = await connect('memory://vector')
  const vectors: Float32Array[] = []
  const size = Math.min(embedder.maxBatchSize, 64)
  for (let at = 0; at < set.documents.length; at += size) {
    const texts = set.documents.slice(at, at + size).map(({ title, text }) => (title ? `${title}\n${text}` : text))
    vectors.push(...(await embedder.embed(texts, 'document')))
  }
  const rows = set.documents.map(({ id }, at) => ({ id, vector: [...vectors[at]!] }))
  const table = await connection.createTable('documents', rows)
  return {
    name,
    async rank(query) {
      const [vector] = await embedder.embed([query], 'query')
      const search = table.query().nearestTo(vector!).distanceType('cosine').select(['id', '_distance'])
      return (await search.limit(mostDocuments).toArray()).map(({ id }) => String(id))
    },
    close: async () => connection.close(),
  }
}

/** Fuses rankings by reciprocal ranks, with the usual constant of 60. The given systems stay open. */
export function reciprocalRanks(systems: readonly RankingSystem[], name: string): RankingSystem {
  return {
    name,
    async rank(query) {
      const scores = new Map<string, number>()
      for (const system of systems)
        for (const [at, id] of (await system.rank(query)).entries())
          scores.set(id, (scores.get(id) ?? 0) + 1 / (61 + at))
      return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id)
    },
    close: async () => {},
  }
}
