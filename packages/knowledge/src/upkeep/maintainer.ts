import { createSignal, unrefTimer } from '@inlay/protocol/concurrency'
import { hasRowLocks, holdJob, releaseJob } from '@inlay/records'
import { removeUnusedTags } from '../access-and-filters/document-tags.ts'
import type { IngestionStep } from '../contracts/steps.ts'
import type { IndexFigures } from '../contracts/vector-index.ts'
import { sweepLargeContents } from '../intake/large-content.ts'
import { countRetired, forgetRetired, readRetired } from '../queue/claims.ts'
import { foldCounts, repairCounts } from '../schema/pair-counts.ts'
import type { Records } from '../schema/tables.ts'
import type { OpenedIndex } from '../reindexing/index-space.ts'
import { purgeRemovedPairs } from './removed-pairs.ts'

export interface MaintainerContext {
  readonly db: Records
  readonly index: OpenedIndex
  /** Names this process among others that share the database. */
  readonly owner: string
  /** Tells other processes known to be gone. */
  readonly isGone?: (owner: string) => boolean
  readonly now: () => number
  readonly at?: (step: IngestionStep) => void | Promise<void>
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
  /** Says that the index was opened: rows that an earlier process appended may still have to be folded in. */
  noteOpen(): void
  /** Does everything that is due now; false while another process is at it. */
  runOnce(options?: { idle?: boolean }): Promise<boolean>
  close(): Promise<void>
}

const job = 'maintain'
const leaseMs = 10_000
const retryMs = 5000
/** Rest while another process is at it: what became invisible here may be too late for its round. */
const othersRestMs = 1000
const pruneBatch = 50
/** Time in which a last round may still start tasks during shutdown. */
const closeMs = 2000
/**
 * Rounds that follow a change, each when superseded versions have aged: the first may itself put files together, and what
 * these take the place of goes with the second.
 */
const mostFollowUps = 2

/** Reasons for a round. The first round of a process does not fold rows if the index was only opened. */
interface Due {
  readonly idle?: boolean
  readonly isFirst?: boolean
}

export function createMaintainer(context: MaintainerContext): Maintainer {
  const { db, onError } = context
  const signal = createSignal()
  // By a clock that nobody sets.
  const schedule = new UpkeepSchedule(() => performance.now(), signal.notify)
  const letGo = new AbortController()
  let loop: Promise<void> | undefined
  let followUps = 0

  async function runOnce({ idle = false, isFirst = false }: Due = {}, signal = letGo.signal): Promise<boolean> {
    return whileHeld(context, job, async () => {
      const wrote = schedule.startRound()
      const done = await upkeep(context, { idle, isFirst, wrote, signal })
      followUps = done?.hasChanged ? mostFollowUps : Math.max(0, followUps - 1)
      const keepVersionsMs = followUps > 0 ? (context.index.keepVersionsMs ?? Infinity) : Infinity
      const dueMs = Math.min(keepVersionsMs, done?.figures.upkeepDueMs ?? Infinity)
      schedule.endRound(done && { figures: done.figures, dueMs })
    })
  }

  async function run(): Promise<void> {
    for (let isFirst = true; !letGo.signal.aborted;) {
      await signal.sleep(schedule.restMs())
      if (letGo.signal.aborted) return
      try {
        const due = await schedule.due(() => countRetired(db))
        if (due && !(await runOnce({ ...due, isFirst }))) await signal.sleep(othersRestMs)
      } catch (error) {
        if (letGo.signal.aborted) return
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
      letGo.abort()
      signal.notify()
      await loop
      // Otherwise the next process to open the index would search these rows one by one.
      if (schedule.hasAppended) await runOnce({ idle: true }, AbortSignal.timeout(closeMs)).catch(onError)
    },
  }
}

/** Works while no other process does, and keeps the lease; false when another has it. */
export async function whileHeld(
  { db, now, owner, isGone, onError }: MaintainerContext,
  job: string,
  work: () => Promise<void>,
): Promise<boolean> {
  const hold = (): Promise<boolean> => holdJob(db, { job, owner, now: now(), leaseMs, isGone })
  if (!(await hold())) return false
  const renewal = setInterval(() => hold().catch(onError), leaseMs / 3)
  unrefTimer(renewal)
  try {
    await work()
  } finally {
    clearInterval(renewal)
    await releaseJob(db, { job, owner })
  }
  return true
}

async function upkeep(
  context: MaintainerContext,
  { idle, isFirst, wrote, signal }: { idle: boolean; isFirst: boolean; wrote: boolean; signal: AbortSignal },
): Promise<{ figures: IndexFigures; hasChanged: boolean } | undefined> {
  const { db, index, now, isGone } = context
  await purgeRemovedPairs(db)
  await sweepLargeContents(db, { now: now(), isGone, signal })
  const pruned = await prune(context, signal)
  if (idle && pruned) await removeUnusedTags(db)
  await foldCounts(db)
  // SQLite has one writer at a time: its counts cannot go astray, and counting a million would hold up the thread.
  if (idle && pruned && hasRowLocks(db)) await repairCounts(db)
  // Loading the index only to find nothing to do would cost every process that merely starts.
  if (signal.aborted || !(wrote || pruned || (index.isOpened && !isFirst))) return undefined
  const figures = await index.maintain({ idle, signal })
  return { figures, hasChanged: wrote || pruned }
}

/** Removes what nobody can see. Forgetting comes last: a process that ends in between removes twice, never too little. */
async function prune({ db, index, at }: MaintainerContext, signal: AbortSignal): Promise<boolean> {
  for (let removed = false; ; removed = true) {
    const { ids, generations } = await readRetired(db, pruneBatch)
    if (ids.length === 0 || signal.aborted) return removed
    await index.remove(generations)
    await at?.('prune')
    await forgetRetired(db, ids)
  }
}

/** Without a write for this long, everything that waits is worth doing. */
const idleMs = 1000
/** Each commit leaves a small file and a version behind, which every search reads. */
const mostCommits = 100
/** Rows not yet folded into the full-text index cost every search 20 to 40 µs each. */
const mostFreshRows = 1000
const freshShare = 0.02
/**
 * So many rows at once are a flood. A fold costs some 35 µs for each row there is and would take a third of the time of
 * indexing: it waits for the end of the flood, but not for long.
 */
const floodRows = 1200
const longestFloodMs = 5000
const mostDeadRows = 2000
/** While writes go on, a round is followed by a rest so many times as long: it takes its share of the processors. */
const restAfterRound = 4
/** Longest rest: other processes remove documents too. */
const longestRestMs = 60_000

/** Decides when the index needs upkeep. Times are milliseconds. */
export class UpkeepSchedule {
  readonly #now: () => number
  readonly #onSooner: () => void
  #rows = 0
  #commits = 0
  #freshRows = 0
  #mayHaveDead = true
  #hasBegun = false
  #isOpenNoted = false
  #lastWriteAt = -Infinity
  /** When what the last round left behind is old enough to go. */
  #agedAt = Infinity
  #begunAt = 0
  #restUntil = -Infinity
  #floodUntil = -Infinity

  /** @param onSooner called when something is due sooner than `restMs` said */
  constructor(now: () => number, onSooner: () => void = () => {}) {
    this.#now = now
    this.#onSooner = onSooner
  }

  /** Whether rows were appended since the last round. */
  get hasAppended(): boolean {
    return this.#commits > 0
  }

  /** Says that a commit of so many rows went in. */
  readonly noteAppend = (rows: number): void => {
    const before = this.#backlog()
    const isFlood = this.#freshRows + rows >= floodRows
    if (this.#freshRows < floodRows && isFlood) this.#floodUntil = this.#now() + longestFloodMs
    this.#commits++
    this.#freshRows += rows
    this.#lastWriteAt = this.#now()
    if (before === 'none' || this.#backlog() === 'much') this.#onSooner()
  }

  /** Says that rows became invisible. */
  readonly noteRemoval = (): void => {
    const before = this.#backlog()
    this.expectDead()
    if (before === 'none') this.#onSooner()
  }

  /** Says that an earlier process may have left something to do. */
  readonly noteOpen = (): void => {
    // The first round is due at once: what a killed process left must not wait for a pause in writing.
    if (this.#hasBegun) this.expectDead()
    else this.#isOpenNoted = true
    this.#onSooner()
  }

  /** Says that there may be rows that nobody can see. */
  expectDead(): void {
    this.#mayHaveDead = true
    this.#lastWriteAt = this.#now()
  }

  /** How long nothing will be due unless something is noted. */
  restMs(): number {
    const backlog = this.#backlog()
    const now = this.#now()
    if (backlog === 'much') return Math.min(Math.max(this.#restUntil - now, this.#floodUntil - now, 0), idleMs)
    if (backlog === 'some') return Math.min(Math.max(this.#lastWriteAt + idleMs - now, 1), idleMs)
    return Math.min(Math.max(this.#agedAt - now, 1), longestRestMs)
  }

  /** The work that is due, if any. @param countDead counts invisible rows; called only when needed */
  async due(countDead: () => Promise<number>): Promise<{ idle: boolean } | undefined> {
    const backlog = this.#backlog()
    const now = this.#now()
    const idle = now - this.#lastWriteAt >= idleMs
    if (idle && (backlog !== 'none' || now >= this.#agedAt)) return { idle }
    if (now < this.#restUntil || now < this.#floodUntil) return undefined
    if (backlog === 'much') return { idle }
    return this.#mayHaveDead && (await countDead()) > Math.max(mostDeadRows, this.#rows) ? { idle } : undefined
  }

  /** Begins a round: what is noted from here on belongs to the next. @returns whether rows were appended since the last */
  startRound(): boolean {
    const wrote = this.hasAppended
    this.#commits = 0
    this.#freshRows = 0
    this.#mayHaveDead = false
    this.#floodUntil = -Infinity
    this.#agedAt = Infinity
    this.#begunAt = this.#now()
    if (this.#isOpenNoted) this.expectDead()
    this.#hasBegun = true
    this.#isOpenNoted = false
    return wrote
  }

  /** Ends a round. @param result figures of the index, and when it has something to do again; undefined when it was not touched */
  endRound(result: { figures: IndexFigures; dueMs: number } | undefined): void {
    const now = this.#now()
    this.#restUntil = now + (now - this.#begunAt) * restAfterRound
    if (!result) return
    this.#rows = result.figures.rows
    this.#agedAt = now + result.dueMs
  }

  #backlog(): 'none' | 'some' | 'much' {
    const isMuch = this.#commits >= mostCommits || this.#freshRows > Math.max(mostFreshRows, this.#rows * freshShare)
    if (isMuch) return 'much'
    return this.#commits > 0 || this.#mayHaveDead ? 'some' : 'none'
  }
}
