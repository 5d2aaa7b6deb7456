import type { BranchHistory, ConversationStore, SharedRun, SharedRuns } from '@inlay/agent'
import { createAbandonedRunPoll, endAbandonedRun, endLeftAnswers } from '@inlay/agent/internal/run/abandoned-runs'
import { InlayError } from '@inlay/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'

const leaseMs = 1_000
const unused = async (): Promise<never> => Promise.reject(new Error('not asked for here'))

function fakeTime(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

/** A suspended machine: time passes, timers do not fire. */
const sleep = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds)

test('a process that slept does not take the runs of others for abandoned until it was awake for a lease', async () => {
  fakeTime()
  const silences: number[] = []
  // The members that the sweep uses.
  const shared = {
    takeAbandoned: async (silenceMs: number) => (silences.push(silenceMs), []),
    removeFinished: async () => {},
  } as unknown as SharedRuns
  const look = createAbandonedRunPoll({
    shared,
    conversations: { branch: unused, finish: unused, running: async () => [] },
    runs: { active: () => [] },
    now: Date.now,
    leaseMs,
    resumableMs: 60_000,
    report: async (work) => (await work(), true),
  })
  await look.start()
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(silences).toEqual([Infinity, Infinity, Infinity, Infinity, leaseMs])
  sleep(60_000)
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(silences.slice(5)).toEqual([Infinity, Infinity, Infinity, Infinity])
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(silences.slice(9)).toEqual([leaseMs, leaseMs, leaseMs, leaseMs])
  await look.close()
})

test('a process that could not look for a while judges nobody by their silence right after', async () => {
  fakeTime()
  let isDown = false
  const silences: number[] = []
  const shared = {
    takeAbandoned: async (silenceMs: number) => (silences.push(silenceMs), []),
    removeFinished: async () => {},
  } as unknown as SharedRuns
  const look = createAbandonedRunPoll({
    shared,
    conversations: { branch: unused, finish: unused, running: async () => [] },
    runs: { active: () => [] },
    now: Date.now,
    leaseMs,
    resumableMs: 60_000,
    report: async (work) => (await work(), !isDown),
  })
  await look.start()
  await vi.advanceTimersByTimeAsync(leaseMs)
  isDown = true
  await vi.advanceTimersByTimeAsync(leaseMs)
  isDown = false
  silences.length = 0
  await vi.advanceTimersByTimeAsync(leaseMs / 2)
  expect(silences).toEqual([Infinity, Infinity])
  await vi.advanceTimersByTimeAsync(leaseMs / 2)
  expect(silences.at(-1)).toBe(leaseMs)
  await look.close()
})

test('after the clock was set back, it is judged by again as soon as it has gone on for a lease', async () => {
  fakeTime()
  const silences: number[] = []
  const shared = {
    takeAbandoned: async (silenceMs: number) => (silences.push(silenceMs), []),
    removeFinished: async () => {},
  } as unknown as SharedRuns
  const look = createAbandonedRunPoll({
    shared,
    conversations: { branch: unused, finish: unused, running: async () => [] },
    runs: { active: () => [] },
    now: Date.now,
    leaseMs,
    resumableMs: 60_000,
    report: async (work) => (await work(), true),
  })
  await look.start()
  await vi.advanceTimersByTimeAsync(leaseMs / 2)
  sleep(-3_600_000)
  silences.length = 0
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(new Set(silences)).toEqual(new Set([Infinity]))
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(new Set(silences)).toEqual(new Set([Infinity, leaseMs]))
  await look.close()
})

const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const started = { type: 'message_start', final_documents: null, pre_answer_processing_seconds: 0 }
const delta = (content: string) => ({ type: 'message_delta', content })

/** Ends a run of which others have some packets, and the records a message. Returns what is stored and sent. */
async function endRun(packets: readonly object[], message: { readonly status: string; readonly text: string }) {
  const lines = packets.map((obj, index) => ({ sequence: index + 1, json: JSON.stringify({ placement, obj }) }))
  const sent: { readonly obj?: { readonly type: string; readonly content?: string } }[] = []
  const shared = {
    read: async (_: number, cursor: number) => ({ messageId: 2, entries: lines.slice(cursor), finished: false }),
    append: async (parts: Parameters<SharedRuns['append']>[0]) => {
      for (const { entries } of parts) for (const { json } of entries) sent.push(JSON.parse(json))
      return []
    },
  } as unknown as SharedRuns
  const finish = vi.fn<ConversationStore['finish']>(async () => {})
  const branch = async () =>
    ({ summary: null, summaryFiles: [], messages: [{ id: 2, ...message }] }) as unknown as BranchHistory
  const run = { sessionId: 'session', messageId: 2, runId: 2, openedAt: 0, finished: false }
  await endAbandonedRun(run, { shared, conversations: { branch, finish, running: unused }, now: Date.now })
  return {
    stored: finish.mock.calls[0]?.[1],
    types: sent.flatMap(({ obj }) => obj?.type ?? []),
    content: sent.find(({ obj }) => obj?.type === 'message_delta')?.obj?.content,
  }
}

test.each([
  { written: 'What was ', types: ['message_delta', 'error'] },
  { written: undefined, types: ['message_start', 'message_delta', 'error'] },
])(
  'text that an earlier version stored beyond the written lines is kept and sent: $written',
  async ({ written, types }) => {
    const text = 'What was said so far.'
    const ended = await endRun(written === undefined ? [] : [started, delta(written)], { status: 'running', text })
    expect(ended.stored).toMatchObject({ status: 'terminated', text })
    expect(ended.types).toEqual(types)
    expect((written ?? '') + ended.content).toBe(text)
  },
)

test('stored text that does not begin with what readers have seen adds nothing to it', async () => {
  const ended = await endRun([started, delta('Seen by all.')], {
    status: 'running',
    text: 'Something else, and longer.',
  })
  expect(ended.stored).toMatchObject({ status: 'terminated', text: 'Seen by all.' })
  expect(ended.types).toEqual(['error'])
})

test('an answer whose readers have its end is ended without another line', async () => {
  const packets = [started, delta('Whole.'), { type: 'stop', stop_reason: null }]
  const ended = await endRun(packets, { status: 'done', text: 'Whole.' })
  expect(ended).toEqual({ stored: undefined, types: [], content: undefined })
})

/** Conversations in which answers run; of those of the session `gone` nothing is left. */
function leftConversations(...answers: readonly { readonly answerId: number; readonly sessionId?: string }[]) {
  const finish = vi.fn<ConversationStore['finish']>(async () => {})
  const conversations = {
    running: async () => answers.map((each) => ({ sessionId: 's', parentId: 1, openedAt: 0, ...each })),
    branch: async (sessionId: string): Promise<BranchHistory> => {
      if (sessionId === 'gone') throw new InlayError('SESSION_NOT_FOUND')
      return { summary: null, summaryFiles: [], messages: [] }
    },
    finish,
  }
  return { conversations, ended: () => finish.mock.calls.map(([id, { text }]) => [id, text]) }
}

/** Looks once for what others left: these runs, one of them taken over, and these lines by run. */
async function lookOnce(
  { conversations }: ReturnType<typeof leftConversations>,
  known: readonly SharedRun[],
  lines: Readonly<Record<number, readonly object[]>> = {},
  taken: readonly SharedRun[] = [],
): Promise<unknown[]> {
  const errors: unknown[] = []
  const shared = {
    takeAbandoned: async () => taken,
    removeFinished: async () => {},
    ofSession: async () => known,
    append: async () => [],
    read: async (id: number, cursor: number) => ({
      entries: (lines[id] ?? []).map((line, at) => ({ sequence: at + 1, json: JSON.stringify(line) })).slice(cursor),
      finished: true,
    }),
  } as unknown as SharedRuns
  const poll = createAbandonedRunPoll({
    shared,
    conversations,
    runs: { active: () => [] },
    now: Date.now,
    leaseMs,
    resumableMs: 60_000,
    report: async (work) => {
      try {
        await work()
        return true
      } catch (error) {
        errors.push(error)
        return false
      }
    },
  })
  await poll.start()
  await poll.close()
  return errors
}

test('an answer that was left has only the text of its own run, not of another answer to its question', async () => {
  const left = leftConversations({ answerId: 3 })
  const other = { sessionId: 's', messageId: 2, runId: 1, openedAt: 0, finished: true }
  const own = { ...other, messageId: 4 }
  const say = (text: string, index: number) =>
    [started, delta(text)].map((obj) => ({ placement: { ...placement, model_index: index }, obj }))
  expect(await lookOnce(left, [other], { 2: say('Of another.', 0) })).toEqual([])
  expect(left.ended()).toEqual([[3, '']])
  const responses = [4, 3].map((message_id) => ({ message_id, model_name: 'M' }))
  const beside = [{ user_message_id: 1, responses }, ...say('First.', 0), ...say('Second.', 1)]
  expect(await lookOnce(left, [other, own], { 2: say('Of another.', 0), 4: beside })).toEqual([])
  expect(left.ended().at(-1)).toEqual([3, 'Second.'])
})

const notFound = expect.objectContaining({ code: 'SESSION_NOT_FOUND' })

test('an answer or a run that cannot be ended is reported, and the others end', async () => {
  const gone = { sessionId: 'gone', messageId: 7, runId: 7, openedAt: 0, finished: false }
  const left = leftConversations({ answerId: 2, sessionId: 'gone' }, { answerId: 3 })
  const errors = await lookOnce(left, [], {}, [gone, { ...gone, sessionId: 's', messageId: 8, runId: 8 }])
  expect(errors).toEqual([notFound, notFound])
  expect(left.ended()).toEqual([
    [8, ''],
    [3, ''],
  ])
})

test('a process alone starts although an answer of before cannot be ended', async () => {
  const { conversations, ended } = leftConversations({ answerId: 2, sessionId: 'gone' }, { answerId: 3 })
  const onError = vi.fn()
  await endLeftAnswers({ conversations, now: Date.now, onError })
  expect(onError).toHaveBeenCalledExactlyOnceWith(notFound)
  expect(ended()).toEqual([[3, '']])
})
