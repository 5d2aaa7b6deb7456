import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge } from '@inlay/knowledge'
import { Kysely } from 'kysely'
import { inParallel, toRequest } from '../ingestion/fixture.ts'
import { dimensions, embed } from './embedder.mjs'
import type { Report, Task } from './run.ts'

/** Accepts documents durably and waits until they are searchable; then searches. */
async function measure({ documents, queries }: Task): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-ours-'))
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const embedder = {
    id: 'hashed',
    dimensions,
    maxBatchSize: 256,
    embed: async (texts: readonly string[]): Promise<Float32Array[]> => texts.map(embed),
  }
  // A weak embedder deserves a small share.
  const index = lancedbIndex({ folder: join(folder, 'index'), vectorShare: 0.1 })
  const knowledge = createKnowledge({ db, index, embedder, onError: (error) => console.error(error) })
  // Loads the engine first, like theirs.
  await knowledge.figures()
  const [used, begun] = [process.cpuUsage(), performance.now()]
  await knowledge.start()
  await inParallel(50, documents, ({ id, text }) => knowledge.accept(toRequest(id, text)))
  await knowledge.whenIdle()
  const indexedMs = performance.now() - begun
  const cpu = process.cpuUsage(used)
  const { rows } = (await knowledge.figures()).index
  const [results, times]: [string[][], number[]] = [[], []]
  for (const text of queries) {
    const request = performance.now()
    const passages = await knowledge.search({ text, limit: 10 })
    times.push(performance.now() - request)
    results.push(passages.map(({ document }) => document.document_id))
  }
  await knowledge.close()
  await db.destroy()
  rmSync(folder, { recursive: true, force: true })
  return { chunks: rows, indexedMs, cpuMs: (cpu.user + cpu.system) / 1000, times, results }
}

process.once('message', (task: Task) => {
  void measure(task).then((report) => process.send?.(report, undefined, undefined, () => process.exit()))
})
