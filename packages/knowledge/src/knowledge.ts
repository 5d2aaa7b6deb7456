import { InlayError } from '@inlay/protocol'
import type { Kysely } from 'kysely'
import type { Accepted, Embedder, Knowledge, VectorIndex } from './contracts.ts'
import { createDocumentSets } from './document-sets.ts'
import { listDocuments, listSources, readStatus } from './documents.ts'
import { resolveFilters } from './filters.ts'
import { checkIndexSpace } from './index-space.ts'
import { createIntake } from './intake.ts'
import { createMaintainer } from './maintainer.ts'
import { openOnUse } from './opened-index.ts'
import { createPairs } from './pairs.ts'
import { hasAnyDocument, isSettled, readQueueFigures, requeueFailed } from './queue.ts'
import { createQueueLimit } from './queue-limit.ts'
import { search } from './search.ts'
import type { IngestionStep } from './steps.ts'
import type { Records } from './tables.ts'
import { toVersion } from './version.ts'
import { createWaits } from './waits.ts'
import { createWorker, type WorkerOptions } from './worker.ts'

/** What a knowledge is made of. */
export interface KnowledgeOptions {
  /** Holds the tables that `migrateKnowledge` makes. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
  readonly db: Kysely<any>
  readonly index: VectorIndex
  /** Without one, search is by words alone. */
  readonly embedder?: Embedder
  /** Milliseconds since 1970 UTC. Default: the system's clock. */
  readonly now?: () => number
  /** A number in [0, 1), for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number
  readonly worker?: WorkerOptions
  /** Most documents waiting; above it `accept` throws RATE_LIMITED. Default 200 000. */
  readonly queueLimit?: number
  /** Receives what was not expected, whole; the knowledge goes on. */
  readonly onError?: (error: unknown) => void
  /** Called at each labelled step; what it returns is awaited. For tests. */
  readonly at?: (step: IngestionStep) => void | Promise<void>
}

/** Longest wait for the vector of a query before it is answered by words alone. */
const queryTimeoutMs = 10_000

/** Makes the part that takes documents and finds passages. Call `migrateKnowledge` on the database first. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { embedder, now = Date.now, random = Math.random, onError = () => {}, at = () => {} } = options
  const db: Records = options.db
  const owner = options.worker?.owner ?? crypto.randomUUID()
  const index = openOnUse(options.index, embedder && { id: embedder.id, dimensions: embedder.dimensions })
  const limit = createQueueLimit({ db, now, limit: options.queueLimit ?? 200_000 })
  const waits = createWaits(db)
  const maintainer = createMaintainer({ db, index, owner, now, at, onError })
  const intake = createIntake({ db, now, beforeCommit: () => at('accept') })
  const worker = createWorker({
    db,
    index: { ...index, append: appendNoted },
    embedder,
    now,
    random,
    at,
    onError,
    worker: { ...options.worker, owner },
    onClaimDone: (ids) => {
      limit.noteDone(ids.length)
      maintainer.noteRemoval()
      waits.tell(ids)
    },
  })
  let closing: Promise<void> | undefined

  async function appendNoted(rows: Parameters<VectorIndex['append']>[0]): Promise<void> {
    await index.append(rows)
    maintainer.noteAppend(rows.length)
  }

  function refuseClosed(): void {
    if (closing) throw new InlayError('CLOSED')
  }

  async function accept(
    ...[request, { caller, waitMs = 0, signal } = {}]: Parameters<Knowledge['accept']>
  ): Promise<Accepted> {
    refuseClosed()
    await limit.check()
    const result = await intake.submit({ kind: 'accept', version: await toVersion(request), caller })
    if (result.isQueued) {
      limit.noteQueued()
      worker.wake()
    }
    const { documentId: id, revision } = result
    if (!result.isIndexed && waitMs > 0) await waits.until({ id, revision, limitMs: waitMs, signal })
    return { documentId: id, alreadyExisted: result.existed }
  }

  async function close(): Promise<void> {
    await intake.drained()
    await worker.close()
    await maintainer.close()
    await index.close()
  }

  return {
    pairs: createPairs({ db, now, onResume: () => worker.wake(), onRemove: () => maintainer.noteRemoval() }),
    documentSets: createDocumentSets({ db, now }),
    accept,
    remove: async (id, { caller } = {}) => {
      refuseClosed()
      await intake.submit({ kind: 'remove', id, caller })
      maintainer.noteRemoval()
      waits.tell([id])
    },
    status: (id, { caller } = {}) => readStatus(db, id, caller),
    list: (query = {}, { caller } = {}) => listDocuments(db, query, caller),
    requeue: async (documentId) => {
      const count = await requeueFailed(db, now(), documentId)
      if (count > 0) worker.wake()
      return count
    },
    search: async (request) => {
      refuseClosed()
      return search(request, { db, index, embedder, embedTimeoutMs: queryTimeoutMs, onError })
    },
    checkFilters: async (filters, { caller } = {}) => void (await resolveFilters(db, filters, caller)),
    sources: ({ caller } = {}) => listSources(db, caller),
    hasDocuments: () => hasAnyDocument(db),
    figures: async () => {
      const { documents, oldestAcceptedAt } = await readQueueFigures(db)
      const oldestWaitingMs = oldestAcceptedAt === undefined ? 0 : Math.max(0, now() - oldestAcceptedAt)
      return { documents, oldestWaitingMs, index: await index.figures() }
    },
    settled: async (signal) => {
      while (!(await isSettled(db))) {
        signal?.throwIfAborted()
        refuseClosed()
        await new Promise((resolve) => setTimeout(resolve, settledPollMs))
      }
    },
    start: async () => {
      refuseClosed()
      await checkIndexSpace(db, embedder)
      worker.start()
      maintainer.start()
    },
    close: () => (closing ??= close()),
  }
}

const settledPollMs = 25
