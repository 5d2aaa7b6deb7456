import { createSignal } from '@inlay/scheduling'
import { hasRowLocks, whileHeld } from '@inlay/records'
import { removeUnusedTags } from '../access-and-filters/document-tags.ts'
import type { IngestionStep } from '../contracts/steps.ts'
import type { IndexFigures } from '../contracts/vector-index.ts'
import { sweepLargeContents } from '../intake/large-content.ts'
import { forgetRetired, readRetired } from '../queue/claims.ts'
import { foldCounts, repairCounts } from '../schema/pair-counts.ts'
import type { Records } from '../schema/tables.ts'
import type { OpenedIndex } from '../reindexing/index-space.ts'
import { purgeRemovedPairs } from './removed-pairs.ts'

export interface MaintainerContext {
  readonly db: Records
  readonly index: OpenedIndex
  /** Identifies this process among all that share the database. */
  readonly owner: string
  /** Whether the process of an owner is known to have ended. */
  readonly isGone?: (owner: string) => boolean
  readonly now: () => number
  readonly at?: (step: IngestionStep) => void | Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Keeps the index small and fast: removes invisible rows, compacts files, adds new rows to the full-text index. Only
 * one process at a time does this. Appends do not wait for it.
 */
export interface Maintainer {
  start(): void
  /** Records a commit with this number of rows. */
  noteAppend(rows: number): void
  /** Records that rows became invisible, or a pair was removed. */
  noteRemoval(): void
  /** Records that the index was opened: an earlier process may have left unindexed rows. */
  noteOpen(): void
  /** Runs a round now. @returns false if another process is running one */
  runOnce(options?: { idle?: boolean }): Promise<boolean>
  close(): Promise<void>
}

const retryMs = 5000
/** Pause while another process holds the lease: its round may have begun before rows became invisible here. */
const othersRestMs = 1000
const pruneBatch = 50
/** Time in which the last round of a shutdown may start tasks. */
const closeTimeoutMs = 2000
/**
 * Number of rounds after a change, each once superseded versions are old enough. The first may merge files, which the
 * second then removes.
 */
const maxFollowUps = 2

export function createMaintainer(context: MaintainerContext): Maintainer {
  const { db, onError } = context
  const job = { ...context, job: 'maintain' }
  const signal = createSignal()
  // Monotonic, so that changes of the system time do not matter.
  const schedule = new UpkeepSchedule(() => performance.now(), signal.notify)
  const closing = new AbortController()
  let loop: Promise<void> | undefined
  let followUps = 0
  /** Whether rows were removed since the last round. */
  let hasRemoved = false

  async function runOnce(
    { idle = false, isFirst = false }: { readonly idle?: boolean; readonly isFirst?: boolean } = {},
    until = closing.signal,
  ): Promise<boolean> {
    return whileHeld(db, { ...job, signal: until }, async (signal) => {
      const wrote = schedule.startRound()
      const done = await upkeep(context, { idle, isFirst, wrote, hasRemoved, signal })
      hasRemoved = false
      followUps = done?.hasChanged ? maxFollowUps : Math.max(0, followUps - 1)
      const keepVersionsMs = followUps > 0 ? (context.index.keepVersionsMs ?? Infinity) : Infinity
      const dueMs = Math.min(keepVersionsMs, done?.figures.upkeepDueMs ?? Infinity)
      schedule.endRound(done && { figures: done.figures, dueMs })
    })
  }

  async function removeInvisible(): Promise<boolean> {
    return whileHeld(db, { ...job, signal: closing.signal }, async (signal) => {
      schedule.startRemoval()
      hasRemoved = (await prune(context, signal)) || hasRemoved
      schedule.endRemoval()
    })
  }

  async function run(): Promise<void> {
    for (let isFirst = true; !closing.signal.aborted;) {
      await signal.sleep(schedule.restMs())
      if (closing.signal.aborted) return
      try {
        const due = schedule.due()
        if (!due) continue
        const isDone = due.onlyRemoves ? await removeInvisible() : await runOnce({ idle: due.idle, isFirst })
        if (!isDone) await signal.sleep(othersRestMs)
        if (due.onlyRemoves) continue
      } catch (error) {
        if (closing.signal.aborted) return
        schedule.expectDead()
        onError(error)
        await signal.sleep(retryMs)
      }
      isFirst = false
    }
  }

  return {
    start: () => {
      loop ??= run()
    },
    noteAppend: schedule.noteAppend,
    noteRemoval: schedule.noteRemoval,
    noteOpen: schedule.noteOpen,
    runOnce,
    close: async () => {
      closing.abort()
      signal.notify()
      await loop
      // Without this, searches of the next process would scan these rows.
      if (schedule.hasAppended) await runOnce({ idle: true }, AbortSignal.timeout(closeTimeoutMs)).catch(onError)
    },
  }
}

interface Round {
  readonly idle: boolean
  readonly isFirst: boolean
  /** Whether rows were appended or removed since the last round. */
  readonly wrote: boolean
  readonly hasRemoved: boolean
  readonly signal: AbortSignal
}

async function upkeep(
  context: MaintainerContext,
  { idle, isFirst, wrote, hasRemoved, signal }: Round,
): Promise<{ figures: IndexFigures; hasChanged: boolean } | undefined> {
  const { db, index, now, isGone } = context
  await purgeRemovedPairs(db, signal)
  await sweepLargeContents(db, { now: now(), isGone, signal })
  const pruned = (await prune(context, signal)) || hasRemoved
  if (signal.aborted) return undefined
  if (idle && pruned) await removeUnusedTags(db)
  await foldCounts(db)
  // SQLite has a single writer, so its counts are always right, and counting a million rows would block the thread.
  if (idle && pruned && hasRowLocks(db)) await repairCounts(db)
  // A process that only starts must not open the index only to find nothing to do.
  if (signal.aborted || !(wrote || pruned || (index.isOpened && !isFirst))) return undefined
  const figures = await index.maintain({ idle, signal })
  return { figures, hasChanged: wrote || pruned }
}

/** Removes invisible rows. Their records are deleted last: a process killed in between repeats the removal. */
async function prune({ db, index, at }: MaintainerContext, signal: AbortSignal): Promise<boolean> {
  for (let removed = false; ; removed = true) {
    const { ids, generations } = await readRetired(db, pruneBatch)
    if (ids.length === 0 || signal.aborted) return removed
    await index.remove(generations)
    await at?.('prune')
    await forgetRetired(db, ids)
  }
}

/** After this long without a write, any pending work starts a round. */
const idleMs = 1000
/** Each commit leaves a small file and a version, which every search reads. */
const maxCommits = 100
/** Each row that is not in the full-text index costs every search 20 to 40 µs. The share is of all rows. */
const [maxFreshRows, maxFreshShare] = [1000, 0.02]
/**
 * This many unindexed rows indicate a bulk import. Adding them to the full-text index costs about 35 µs per row of the
 * index, a third of the time of indexing, so it waits for the end of the import, up to `maxFloodMs`.
 */
const [floodRows, maxFloodMs] = [1200, 5000]
/**
 * Invisible rows are removed at once, since searches find them and then have to be repeated with a higher limit. While
 * more follow, the pause after a removal is this many times as long as the removal, and at least this long.
 */
const [restPerRemoval, minRemovalRestMs] = [9, 250]
/** While writes continue, the pause after a round is this many times as long as the round. */
const restPerRound = 4
/** Upper bound of the pause, since other processes remove documents too. */
const maxRestMs = 60_000

/** Decides when the index needs maintenance. Times are in milliseconds. */
export class UpkeepSchedule {
  readonly #now: () => number
  readonly #onSooner: () => void
  /** Number of rows in the index after the last round. */
  #rows = 0
  // Counted since the start of the last round:
  #commits = 0
  #freshRows = 0
  #mayHaveDead = true
  #lastWriteAt = -Infinity
  #roundAt = -Infinity
  /** No round before this time while writes continue. */
  #busyUntil = -Infinity
  /** Whether rows became invisible since the start of the last removal or round. */
  #hasRemovals = false
  #removalAt = -Infinity
  /** No removal before this time. */
  #removeFrom = -Infinity
  /** A round is due at this time even if nothing is written. */
  #followUpAt = Infinity

  /** @param onSooner called when a round becomes due earlier than `restMs` returned */
  constructor(now: () => number, onSooner: () => void = () => {}) {
    this.#now = now
    this.#onSooner = onSooner
  }

  /** Whether rows were appended since the last round. */
  get hasAppended(): boolean {
    return this.#commits > 0
  }

  readonly noteAppend = (rows: number): void => {
    const before = this.#pending()
    const wasFlood = this.#freshRows >= floodRows
    this.#lastWriteAt = this.#now()
    this.#commits++
    this.#freshRows += rows
    if (!wasFlood && this.#freshRows >= floodRows)
      this.#busyUntil = Math.max(this.#busyUntil, this.#lastWriteAt + maxFloodMs)
    if (before === 'nothing' || this.#pending() === 'much') this.#onSooner()
  }

  readonly noteRemoval = (): void => {
    this.expectDead()
    this.#hasRemovals = true
    this.#onSooner()
  }

  readonly noteOpen = (): void => {
    this.#followUpAt = Math.min(this.#followUpAt, this.#now() + idleMs)
    this.#onSooner()
  }

  expectDead(): void {
    this.#mayHaveDead = true
    this.#lastWriteAt = this.#now()
  }

  /** Time until a round or removal may be due, unless something is recorded before. */
  restMs(): number {
    const now = this.#now()
    const removalMs = this.#hasRemovals ? Math.max(this.#removeFrom - now, 0) : Infinity
    return Math.min(removalMs, this.#roundRestMs())
  }

  #roundRestMs(): number {
    const now = this.#now()
    switch (this.#pending()) {
      case 'much':
        return Math.min(Math.max(this.#busyUntil - now, 0), idleMs)
      case 'some':
        return Math.min(Math.max(this.#lastWriteAt + idleMs - now, 1), idleMs)
      default:
        return Math.min(Math.max(this.#followUpAt - now, 1), maxRestMs)
    }
  }

  /** The work that is due, if any. */
  due(): { readonly idle: boolean; readonly onlyRemoves?: boolean } | undefined {
    const pending = this.#pending()
    const now = this.#now()
    const idle = now - this.#lastWriteAt >= idleMs
    if (idle && (pending !== 'nothing' || now >= this.#followUpAt)) return { idle }
    if (pending === 'much' && now >= this.#busyUntil) return { idle }
    return this.#hasRemovals && now >= this.#removeFrom ? { idle, onlyRemoves: true } : undefined
  }

  /** Starts a removal of all rows that are invisible by now. */
  startRemoval(): void {
    this.#hasRemovals = false
    this.#removalAt = this.#now()
  }

  endRemoval(): void {
    const now = this.#now()
    this.#removeFrom = now + Math.max((now - this.#removalAt) * restPerRemoval, minRemovalRestMs)
  }

  /**
   * Starts a round: anything recorded from now on belongs to the next one. @returns whether rows were appended since
   * the last
   */
  startRound(): boolean {
    const { hasAppended } = this
    this.#commits = 0
    this.#freshRows = 0
    this.#mayHaveDead = false
    this.#hasRemovals = false
    this.#busyUntil = -Infinity
    this.#roundAt = this.#now()
    if (this.#roundAt >= this.#followUpAt) this.#followUpAt = Infinity
    return hasAppended
  }

  /**
   * Ends a round. @param result statistics of the index, and the time until its follow-up; undefined if the index was
   * not used
   */
  endRound(result: { figures: IndexFigures; dueMs: number } | undefined): void {
    const now = this.#now()
    this.#busyUntil = Math.max(this.#busyUntil, now + (now - this.#roundAt) * restPerRound)
    if (!result) return
    this.#rows = result.figures.rows
    this.#followUpAt = now + result.dueMs
  }

  #pending(): 'nothing' | 'some' | 'much' {
    const maxRows = Math.max(maxFreshRows, this.#rows * maxFreshShare)
    if (this.#commits >= maxCommits || this.#freshRows > maxRows) return 'much'
    return this.#commits > 0 || this.#mayHaveDead ? 'some' : 'nothing'
  }
}
