import type { IndexFigures } from './contracts.ts'
import { countRetired, forgetRetired, readRetired } from './dead-generations.ts'
import { holdJob, leaveJob } from './job-lease.ts'
import type { OpenedIndex } from './opened-index.ts'
import { purgeRemovedPairs } from './removed-pairs.ts'
import type { IngestionStep } from './steps.ts'
import type { Records } from './tables.ts'
import { createWake, unreference } from './wake.ts'

/** What a maintainer is made of. */
export interface MaintainerContext {
  readonly db: Records
  readonly index: OpenedIndex
  /** Names this process among others that share the database. */
  readonly owner: string
  readonly now: () => number
  readonly at: (step: IngestionStep) => void | Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Keeps the index small and fast: removes rows that nobody can see, compacts, folds new rows in. One process at a time
 * does it. Appends never wait for it.
 */
export interface Maintainer {
  start(): void
  /** Says that a commit of so many rows went into the index. */
  noteAppend(rows: number): void
  /** Says that rows became invisible, or a pair was removed. */
  noteRemoval(): void
  /** Does everything that is due now; false while another process is at it. */
  runOnce(options?: { idle?: boolean }): Promise<boolean>
  close(): Promise<void>
}

/** Without a write for this long, everything that waits is worth doing. */
const idleMs = 1000
/** Each commit leaves a small file and a version behind, which every search reads. */
const mostCommits = 100
/** Rows not yet folded into the full-text index cost every search 20 to 40 µs each. */
const mostUnindexedRows = 500
const unindexedShare = 0.01
const mostDeadRows = 2000
const leaseMs = 60_000
const retryMs = 5000
/** Longest sleep: other processes remove documents too. */
const restMs = 60_000
const pruneBatch = 50

/** Makes a maintainer; it rests until started. */
export function createMaintainer(context: MaintainerContext): Maintainer {
  const { db, index, now, owner, onError } = context
  const wake = createWake()
  const letGo = new AbortController()
  let loop: Promise<void> | undefined
  let figures: IndexFigures = { rows: 0, unindexedRows: 0 }
  let commits = 0
  let freshRows = 0
  let mayHaveDead = true
  let lastWriteAt = -Infinity
  let agesAt = Infinity

  const isDirty = (): boolean => commits > 0 || mayHaveDead
  const isCrowded = (): boolean =>
    commits >= mostCommits || freshRows > Math.max(mostUnindexedRows, figures.rows * unindexedShare)

  function restFor(): number {
    if (isCrowded()) return 0
    if (isDirty()) return Math.min(Math.max(idleMs - (now() - lastWriteAt), 1), idleMs)
    return Math.min(Math.max(agesAt - now(), 1), restMs)
  }

  async function isDue(): Promise<{ idle: boolean } | undefined> {
    const idle = now() - lastWriteAt >= idleMs
    if (idle && (isDirty() || now() >= agesAt)) return { idle }
    if (isCrowded()) return { idle }
    const isFull = mayHaveDead && (await countRetired(db)) > Math.max(mostDeadRows, figures.rows)
    return isFull ? { idle } : undefined
  }

  async function runOnce({ idle = false }: { idle?: boolean } = {}): Promise<boolean> {
    const hold = (): Promise<boolean> => holdJob(db, { job: 'maintain', owner, now: now(), leaseMs })
    if (!(await hold())) return false
    const renewal = setInterval(() => hold().catch(onError), leaseMs / 3)
    unreference(renewal)
    try {
      const wrote = commits > 0
      commits = 0
      freshRows = 0
      mayHaveDead = false
      await purgeRemovedPairs(db)
      const pruned = await prune(context, letGo.signal)
      // Loading the index only to find nothing to do would cost every process that merely starts.
      if (wrote || pruned || index.isOpened) figures = await index.maintain({ idle, signal: letGo.signal })
      agesAt = wrote || pruned ? now() + (index.keepVersionsMs ?? Infinity) : Infinity
    } finally {
      clearInterval(renewal)
      await leaveJob(db, { job: 'maintain', owner })
    }
    return true
  }

  async function run(): Promise<void> {
    while (!letGo.signal.aborted) {
      await wake.sleep(restFor())
      if (letGo.signal.aborted) return
      try {
        const due = await isDue()
        if (due && !(await runOnce(due))) await wake.sleep(retryMs)
      } catch (error) {
        mayHaveDead = true
        if (letGo.signal.aborted) return
        onError(error)
        await wake.sleep(retryMs)
      }
    }
  }

  return {
    start: () => {
      loop ??= run()
    },
    noteAppend: (rows) => {
      const wasDirty = isDirty()
      commits++
      freshRows += rows
      lastWriteAt = now()
      if (!wasDirty || isCrowded()) wake.call()
    },
    noteRemoval: () => {
      lastWriteAt = now()
      if (!isDirty()) wake.call()
      mayHaveDead = true
    },
    runOnce,
    close: async () => {
      letGo.abort()
      wake.call()
      await loop
    },
  }
}

/** Removes what nobody can see. Forgetting comes last: a process that ends in between removes twice, never too little. */
async function prune({ db, index, at }: MaintainerContext, signal: AbortSignal): Promise<boolean> {
  for (let removed = false; ; removed = true) {
    const { ids, generations } = await readRetired(db, pruneBatch)
    if (ids.length === 0 || signal.aborted) return removed
    await index.remove(generations)
    await at('prune')
    await forgetRetired(db, ids)
  }
}
