import type { SharedRuns } from '@inlay/agent'
import { sharedRunsConformance } from '@inlay/conformance'
import { sqlSharedRuns } from '@inlay/conversations'
import { newDatabase } from '../../agent/setting.ts'
import { testMutants } from '../../mutants.ts'

type Change = (base: SharedRuns) => Partial<SharedRuns>

testMutants<Change>(
  'shared runs',
  (change) =>
    sharedRunsConformance(async () => {
      const db = await newDatabase()
      let time = 1_000
      return {
        process: () => {
          const base = sqlSharedRuns({ db, now: () => time })
          return { ...base, ...change(base) }
        },
        advance: (milliseconds) => void (time += milliseconds),
      }
    }),
  {
    sound: () => ({}),
    mutants: {
      'reads from the first line': (base) => ({ read: (id) => base.read(id, 0) }),
      'reads the line of the cursor again': (base) => ({
        read: (id, cursor) => base.read(id, Math.max(0, cursor - 1)),
      }),
      'skips a line': (base) => ({ read: (id, cursor) => base.read(id, cursor + 1) }),
      'never finishes': (base) => ({
        read: async (id, cursor) => ({ ...(await base.read(id, cursor)), finished: false }),
      }),
      'finishes with the first part': (base) => ({
        read: async (id, cursor) => ({ ...(await base.read(id, cursor)), finished: true }),
      }),
      'has an unknown run go on': (base) => ({
        read: async (id, cursor) => {
          const lines = await base.read(id, cursor)
          return lines.entries.length === 0 ? { ...lines, finished: false } : lines
        },
      }),
      'loses the last line of a write': (base) => ({
        append: (lines) => base.append(lines.map((run) => ({ ...run, entries: run.entries.slice(0, -1) }))),
      }),
      'writes nothing': (base) => ({ append: () => base.append([]) }),
      'reads escapes of lines': (base) => ({
        append: (lines) =>
          base.append(
            lines.map((run) => ({
              ...run,
              entries: run.entries.map((entry) => ({ ...entry, json: entry.json.replaceAll(String.raw`\n`, ' ') })),
            })),
          ),
      }),
      'does not say what it no longer owns': (base) => ({
        append: async (lines) => {
          await base.append(lines)
          return []
        },
      }),
      'lists the newest run first': (base) => ({ ofSession: async (id) => (await base.ofSession(id)).toReversed() }),
      'lists no run': () => ({ ofSession: async () => [] }),
      'asks nobody to stop': () => ({ requestStop: async () => [] }),
      'hears of no stop': () => ({ stopRequests: async () => [] }),
      'takes nothing over': () => ({ takeAbandoned: async () => [] }),
      'takes over what still lives': (base) => ({ takeAbandoned: () => base.takeAbandoned(1) }),
      'takes over too late': (base) => ({ takeAbandoned: (leaseMs) => base.takeAbandoned(leaseMs * 2) }),
      'forgets nothing': () => ({ removeFinished: async () => {} }),
      'forgets whatever is finished': (base) => ({ removeFinished: () => base.removeFinished(0) }),
      'removes nothing': () => ({ remove: async () => {} }),
      'passes the first of several sessions by': (base) => ({ remove: (ids) => base.remove(ids.slice(1)) }),
    },
  },
)
