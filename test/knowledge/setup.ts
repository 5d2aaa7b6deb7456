import {
  createKnowledge,
  migrateKnowledge,
  type DocumentStatus,
  type Embedder,
  type Knowledge,
  type KnowledgeOptions,
  type WorkerOptions,
} from '@inlay/knowledge'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { IngestionRequest } from '@inlay/protocol'
import { Kysely, type Dialect } from 'kysely'
import { onTestFinished } from 'vitest'
import { readStatus } from '@inlay/knowledge/internal/access-and-filters/documents'
import type { Caller } from '@inlay/knowledge/internal/contracts/pairs'
import type { IntakeResult } from '@inlay/knowledge/internal/intake/accept-or-remove'
import { EmbeddingCalls } from '@inlay/knowledge/internal/calls/embedding'
import { createIntake } from '@inlay/knowledge/internal/intake/commit-documents'
import { createAdmission } from '@inlay/knowledge/internal/intake/admission'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { toVersion } from '@inlay/knowledge/internal/intake/read-document'
import { createClaimRunner, createWorker, type Worker } from '@inlay/knowledge/internal/indexing/worker'
import type { WorkerContext } from '@inlay/knowledge/internal/indexing/worker'
import { memoryIndex, type MemoryIndex } from './memory-index.ts'

export { request, section } from './requests.ts'

type MakeDialect = (file: string) => Dialect | Promise<Dialect>

let dialectOf: MakeDialect = (file) => nodeSqlite({ file })

/** Has all records of this test file be kept elsewhere than in SQLite. */
export function useDialect(make: MakeDialect): void {
  dialectOf = make
}

/** Records in memory, with the tables in place; closed with the test. */
export async function makeRecords(file = ':memory:'): Promise<Records> {
  const db: Records = new Kysely({ dialect: await dialectOf(file) })
  onTestFinished(() => db.destroy())
  await migrateKnowledge(db)
  return db
}

/** A knowledge over records and an index in memory; closed with the test. */
export interface TestKnowledge {
  readonly knowledge: Knowledge
  readonly index: MemoryIndex
  readonly db: Records
  /** Everything that was reported as not expected. */
  readonly errors: unknown[]
}

/** Makes one that does not wait where production does. It is not started. */
export async function makeKnowledge(
  options: Partial<KnowledgeOptions> & { index?: MemoryIndex; db?: Records } = {},
): Promise<TestKnowledge> {
  const db = options.db ?? (await makeRecords())
  const index = options.index ?? memoryIndex()
  const errors: unknown[] = []
  const knowledge = createKnowledge({
    onError: (error) => errors.push(error),
    // However long the embedder takes.
    queryVectorMs: 60_000,
    ...options,
    db,
    index,
    worker: { lingerMs: 0, pollMs: 20, ...options.worker },
  })
  onTestFinished(() => knowledge.close())
  return { knowledge, index, db, errors }
}

/** Makes one that is started. */
export async function startKnowledge(options?: Parameters<typeof makeKnowledge>[0]): Promise<TestKnowledge> {
  const started = await makeKnowledge(options)
  await started.knowledge.start()
  return started
}

/** The queue without its loops: each call takes one step, at a time the test chooses. */
export interface TestWorker {
  readonly worker: Worker & {
    /** Frees abandoned claims, then claims once and indexes what it got; answers how many documents that were. */
    runOnce(): Promise<number>
  }
  readonly index: MemoryIndex
  readonly db: Records
  readonly errors: unknown[]
  /** The clock, in milliseconds. */
  readonly clock: { now: number }
  accept(...requests: IngestionRequest[]): Promise<IntakeResult[]>
  acceptFrom(callerId: string, ...requests: IngestionRequest[]): Promise<IntakeResult[]>
  remove(id: string): Promise<unknown>
  status(id: string): Promise<DocumentStatus>
  /** Texts of the rows that search would show. */
  shown(): Promise<string[]>
}

/** Makes a worker over records and an index in memory. */
export async function makeWorker(
  options: Partial<Omit<WorkerContext, 'worker' | 'index'>> & {
    worker?: WorkerOptions
    embedder?: Embedder
    index?: MemoryIndex
    clock?: { now: number }
  } = {},
): Promise<TestWorker> {
  const db = options.db ?? (await makeRecords())
  const index = options.index ?? memoryIndex()
  const clock = options.clock ?? { now: 1_000_000 }
  const errors: unknown[] = []
  const now = (): number => clock.now
  const admission = createAdmission({ db, now, limit: Infinity })
  const intake = createIntake({ db, now, admission })
  const submit = async (requests: readonly IngestionRequest[], caller?: Caller): Promise<IntakeResult[]> => {
    // Hashing ends in any order; what is submitted must not.
    const versions = await Promise.all(requests.map((each) => toVersion(each)))
    return Promise.all(versions.map((version) => intake.submit({ kind: 'accept', id: version.id, version, caller })))
  }
  const { embedder, worker: { embedTimeoutMs: documentTimeoutMs } = {} } = options
  const onError = (error: unknown): void => void errors.push(error)
  const context: WorkerContext = {
    ...(embedder && { embedding: new EmbeddingCalls({ embedder, documentTimeoutMs, onError }) }),
    now,
    random: () => 0.5,
    at: () => {},
    onError,
    onTaken: admission.noteTaken,
    onClaimDone: () => {},
    ...options,
    db,
    index,
    worker: { owner: crypto.randomUUID(), pollMs: 1, ...options.worker },
  }
  const runner = createClaimRunner(context)
  const runOnce = async (): Promise<number> => {
    const claim = await runner.take({ sweep: true })
    if (claim) await runner.work(claim)
    return claim?.documentIds.length ?? 0
  }
  return {
    worker: { ...createWorker(context), runOnce },
    index,
    db,
    errors,
    clock,
    accept: (...requests) => submit(requests),
    acceptFrom: (id, ...requests) => submit(requests, { id, scopes: ['ingest'] }),
    remove: (id) => intake.submit({ kind: 'remove', id }),
    status: async (id) => (await readStatus(db, id, undefined))!,
    shown: async () => {
      const rows = await db.selectFrom('inlay_documents').select('visible_generation').execute()
      const visible = new Set(rows.map((row) => row.visible_generation))
      return index.store.rows.filter((row) => visible.has(row.generation)).map((row) => row.text)
    },
  }
}
