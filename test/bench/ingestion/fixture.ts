import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, type Dirent } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import {
  createKnowledge,
  migrateKnowledge,
  type Embedder,
  type IndexRow,
  type Knowledge,
  type VectorIndex,
} from '@inlay/knowledge'
import type { IngestionRequest } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { zipfText } from '../zipf-text.ts'
import { request } from '../../knowledge/requests.ts'

/** A knowledge of its own in a temporary folder. */
export interface Fixture {
  readonly knowledge: Knowledge
  /** Every row that was appended, when asked for. */
  readonly rows: IndexRow[]
  readonly folder: string
  close(): Promise<void>
}

/** An embedder that costs nothing, so that only the way of the vectors is timed. */
function freeEmbedder(dimensions: number): Embedder {
  const vector = Float32Array.from({ length: dimensions }, (_, at) => Math.sin(at + 1))
  return {
    id: `free@${dimensions}`,
    dimensions,
    maxBatchSize: 1000,
    embed: (texts) => Promise.resolve(texts.map(() => vector)),
  }
}

/** Makes one; it is not started. @param options.dimensions of the vectors of a free embedder; 0 for none */
export async function openFixture(
  options: { keepRows?: boolean; dimensions?: number; embedder?: Embedder } = {},
): Promise<Fixture> {
  const { keepRows = false, dimensions = 0 } = options
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-ingestion-'))
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const rows: IndexRow[] = []
  const inner = lancedbIndex({ folder: join(folder, 'index') })
  const index: VectorIndex = {
    ...inner,
    append: async (batch) => {
      if (keepRows) rows.push(...batch)
      await inner.append(batch)
    },
  }
  const embedder = options.embedder ?? (dimensions > 0 ? freeEmbedder(dimensions) : undefined)
  const knowledge = createKnowledge({
    db,
    index,
    sha256: (text) => hash('sha256', text),
    embedder,
    onError: (error) => console.error(error),
  })
  return {
    knowledge,
    rows,
    folder,
    close: async () => {
      await knowledge.close()
      await db.destroy()
      rmSync(folder, { recursive: true })
    },
  }
}

/** One text as a request. */
export function toRequest(id: string, text: string): IngestionRequest {
  const sections = [
    { type: 'text', text, link: `https://example.org/${id}`, image_file_id: null, heading: null },
  ] as const
  return request({ id, semantic_identifier: id, sections, metadata: { team: 'bench' } })
}

/** The Markdown files below a folder, or made-up documents of about ten chunks. */
export function readDocuments(folder: string | undefined, count: number): IngestionRequest[] {
  if (folder !== undefined) return markdownFiles(folder).map((path) => toRequest(path, readFileSync(path, 'utf8')))
  const source = zipfText(3)
  const sentences = (count: number): string => Array.from({ length: count }, () => `${source.text(12)}.`).join(' ')
  const section = (): string => `## ${source.text(4)}\n\n${sentences(8)}\n\n${sentences(8)}`
  return Array.from({ length: count }, (_, at) =>
    toRequest(`document ${at}`, `# ${source.text(3)}\n\n${Array.from({ length: 10 }, section).join('\n\n')}`),
  )
}

function markdownFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return markdownFiles(path)
    return name.endsWith('.md') ? [path] : []
  })
}

/** Bytes of all files below a folder. What goes between being listed and being looked at counts nothing. */
export function bytesOf(folder: string): number {
  return listed(folder).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sum + bytesOf(path)
    return sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  }, 0)
}

function listed(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (existsSync(folder)) throw error
    return []
  }
}

/** Lets several clients take turns at a list of work; returns the time of each piece in milliseconds, sorted. */
export async function inParallel<Item>(
  clients: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = []
  const queue = items[Symbol.iterator]()
  const client = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const begun = performance.now()
      await work(next.value)
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return times.toSorted((left, right) => left - right)
}
