import { must, mustEqual, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import type { LogEntry, SharedRuns } from '@inlay/agent'

/** Processes that share an empty store and a clock. */
export interface SharedRunsUnderTest {
  /** Returns the store as another process sees it. */
  process(): SharedRuns | Promise<SharedRuns>
  advance(milliseconds: number): void
}

/** Returns an empty store; called for each test. */
export type MakeSharedRuns = () => SharedRunsUnderTest | Promise<SharedRunsUnderTest>

const run = { sessionId: 's', messageId: 7, runId: 6, openedAt: 1_000 }
const line = (sequence: number): LogEntry => ({ sequence, json: `{"n":${sequence},"é":"\\n"}` })
const linesTo = (last: number, first = 1): LogEntry[] =>
  Array.from({ length: last - first + 1 }, (_, index) => line(first + index))
const lines = (entries: readonly LogEntry[], finished = false, messageId = 7) => ({ messageId, entries, finished })

/** Tests of a `SharedRuns`, as a list for any test runner. */
export function sharedRunsConformance(make: MakeSharedRuns): ConformanceTest[] {
  return toTests(checks, async (check) => check(await make()))
}

async function readAfter(shared: SharedRuns, cursor: number): Promise<LogEntry[]> {
  const all: LogEntry[] = []
  for (;;) {
    const { entries } = await shared.read(7, all.at(-1)?.sequence ?? cursor)
    if (entries.length === 0) return all
    all.push(...entries)
  }
}

const checks: Checks<SharedRunsUnderTest> = {
  async 'another process reads the lines after any cursor'({ process }) {
    const [first, second] = [await process(), await process()]
    await first.open(run)
    mustEqual(await second.read(7, 0), lines([]), 'before the first line')
    await first.append([lines(linesTo(3))])
    await first.append([lines(linesTo(9, 4), true)])
    for (let cursor = 0; cursor <= 9; cursor++)
      mustEqual(await second.read(7, cursor), lines(linesTo(9, cursor + 1), true), `after ${cursor}`)
    mustEqual((await second.read(7, Number.MAX_SAFE_INTEGER)).finished, true, 'whether it is finished')
  },
  async 'lines that are written twice are there once'({ process }) {
    const shared = await process()
    await shared.open(run)
    await shared.open(run)
    await shared.append([lines(linesTo(3))])
    await shared.append([lines(linesTo(5))])
    await shared.append([lines(linesTo(5), true)])
    mustEqual(await shared.read(7, 1), lines(linesTo(5, 2), true), 'the lines')
  },
  async 'a long run is read in parts, and finished with the last one'({ process }) {
    const shared = await process()
    await shared.open(run)
    const last = 400
    for (let next = 1; next <= last; next += 2) await shared.append([lines(linesTo(next + 1, next), next + 1 === last)])
    mustEqual((await readAfter(shared, 0)).length, last, 'lines')
    mustEqual((await readAfter(shared, 250))[0], line(251), 'the first line after a cursor')
  },
  async 'an unknown run has no lines and is finished'({ process }) {
    const shared = await process()
    mustEqual(await shared.read(7, 0), lines([], true), 'an unknown run')
    mustEqual(await shared.append([lines(linesTo(1))]), [7], 'runs that are not its own')
    mustEqual(await shared.append([]), [], 'nothing to write')
  },
  async 'the runs of a session are known to all processes, the newest last'({ process }) {
    const [first, second] = [await process(), await process()]
    await first.open(run)
    await second.open({ ...run, messageId: 12, runId: 12 })
    await second.open({ ...run, sessionId: 'other', messageId: 9 })
    await first.append([lines([line(1)], true)])
    const known = (await first.ofSession('s')).map((each) => [each.messageId, each.runId, each.openedAt, each.finished])
    const expected = [
      [7, 6, 1_000, true],
      [12, 12, 1_000, false],
    ]
    mustEqual(known, expected, 'the runs')
  },
  async 'finished runs are forgotten after a while, and those of removed sessions at once'({ process, advance }) {
    const shared = await process()
    await shared.open(run)
    await shared.open({ ...run, messageId: 12 })
    await shared.append([lines([line(1)], true), lines([line(1)], false, 12)])
    advance(999)
    await shared.removeFinished(1_000)
    mustEqual((await shared.ofSession('s')).length, 2, 'runs before their time')
    advance(1)
    await shared.removeFinished(1_000)
    mustEqual(
      (await shared.ofSession('s')).map(({ messageId }) => messageId),
      [12],
      'runs after it',
    )
    mustEqual((await shared.read(7, 0)).entries, [], 'lines of a run that is forgotten')
    await shared.remove(['s', 'unknown'])
    mustEqual(await shared.ofSession('s'), [], 'runs of a removed session')
    mustEqual((await shared.read(12, 0)).entries, [], 'its lines')
    mustEqual(await shared.append([lines([line(2)], true, 12)]), [12], 'lines that come too late')
  },
  async 'a stop reaches the process that makes the run, and no other'({ process }) {
    const [first, second, third] = [await process(), await process(), await process()]
    await first.open(run)
    await second.open({ ...run, sessionId: 'other', messageId: 9 })
    mustEqual(await first.stopRequests(), [], 'before')
    mustEqual(await third.requestStop(['s', 'unknown']), [7], 'what is asked to stop')
    mustEqual(await first.stopRequests(), [7], 'requests to the process that makes it')
    mustEqual([await second.stopRequests(), await third.stopRequests()], [[], []], 'requests to others')
    await first.append([lines([line(1)], true)])
    mustEqual(await first.stopRequests(), [], 'once it is finished')
    mustEqual(await third.requestStop(['s']), [], 'what can be stopped then')
    mustEqual(await third.requestStop([]), [], 'what is stopped in no session')
  },
  async 'a run that nobody has heard of is taken over once, and its maker is told'({ process, advance }) {
    const [first, second, third] = [await process(), await process(), await process()]
    await first.open(run)
    advance(900)
    await first.append([lines(linesTo(2))])
    advance(999)
    mustEqual(await second.takeAbandoned(1_000), [], 'before its time')
    mustEqual(await first.takeAbandoned(1), [], 'runs of its own')
    advance(1)
    const taken = await Promise.all([second.takeAbandoned(1_000), third.takeAbandoned(1_000)])
    mustEqual(taken.flat(), [{ ...run, finished: false }], 'what both take together')
    mustEqual(await first.append([lines(linesTo(3))]), [7], 'runs that the first process no longer owns')
    const owner = taken[0].length > 0 ? second : third
    mustEqual(await owner.append([lines([line(3)], true)]), [], 'runs that the new owner does not own')
    mustEqual(await first.read(7, 0), lines(linesTo(3), true), 'the lines')
    advance(5_000)
    mustEqual(await third.takeAbandoned(1_000), [], 'what can be taken once it is finished')
  },
  async 'a sign of life without lines keeps a run'({ process, advance }) {
    const [first, second] = [await process(), await process()]
    await first.open(run)
    advance(900)
    await first.append([lines([])])
    advance(900)
    mustEqual(await second.takeAbandoned(1_000), [], 'what is taken')
    mustEqual(await second.takeAbandoned(Infinity), [], 'what is taken from those that are gone')
  },
  async 'a run heard of before the clock was set back is taken over a lease later'({ process, advance }) {
    const [first, second] = [await process(), await process()]
    await first.open(run)
    advance(-3_600_000)
    mustEqual(await second.takeAbandoned(1_000), [], 'what is taken at once')
    advance(1_000)
    mustEqual(await second.takeAbandoned(1_000), [{ ...run, finished: false }], 'what is taken a lease later')
  },
  async 'where changes are told, lines and stop requests of other processes are'({ process }) {
    const [first, second] = [await process(), await process()]
    await first.open(run)
    const changes: (readonly number[] | undefined)[] = []
    let settle = (): void => {}
    const end = await second.subscribe((ids) => {
      changes.push(ids)
      settle()
    })
    if (end === undefined) return
    const mustTell = async (what: string, change: () => Promise<unknown>): Promise<void> => {
      changes.length = 0
      await change()
      const isKnown = (): boolean => changes.some((ids) => ids === undefined || ids.includes(7))
      for (const deadline = Date.now() + 5_000; !isKnown();) {
        must(Date.now() < deadline, `${what}: nothing is told`)
        await new Promise<void>((resolve) => {
          settle = resolve
          setTimeout(resolve, 100)
        })
      }
    }
    await mustTell('new lines', () => first.append([lines(linesTo(1))]))
    await mustTell('a stop', () => first.requestStop(['s']))
    await mustTell('the end', () => first.append([lines([], true)]))
    await end()
  },
}
