import type { BranchHistory, ConversationStore, SharedRuns } from '@inlay/agent'
import { createAbandonedLook, endAbandonedRun } from '@inlay/agent/internal/run/abandoned-runs'
import { createAbandonedCheck } from '@inlay/agent/internal/run/checkpoints'
import { expect, onTestFinished, test, vi } from 'vitest'

const leaseMs = 1_000
const unused = async (): Promise<never> => Promise.reject(new Error('not asked for here'))

function fakeTime(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

/** Sleeps with its machine: time goes on, timers do not. */
const sleep = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds)

test('a process that slept does not take the runs of others for abandoned until it was awake for a lease', async () => {
  fakeTime()
  const silences: number[] = []
  // What the look uses of it.
  const shared = {
    takeAbandoned: async (silenceMs: number) => (silences.push(silenceMs), []),
    removeFinished: async () => {},
  } as unknown as SharedRuns
  const look = createAbandonedLook({
    shared,
    conversations: { branch: unused, finish: unused },
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

test('nor does it end answers by the silence of their checkpoints', async () => {
  fakeTime()
  const checks: number[] = []
  const began = Date.now()
  const terminate = async (): Promise<number> => (checks.push(Date.now() - began), leaseMs)
  const check = createAbandonedCheck(terminate, { now: Date.now, onError: unused, leaseMs })
  await check.checked()
  await vi.advanceTimersByTimeAsync(leaseMs + 1)
  expect(checks).toEqual([0, leaseMs + 1])
  sleep(60_000)
  await vi.advanceTimersByTimeAsync(leaseMs + 1)
  expect(checks).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(checks).toHaveLength(3)
  check.close()
})

test.each([
  { written: 'What was ', types: ['message_delta', 'error'] },
  { written: undefined, types: ['message_start', 'message_delta', 'error'] },
])(
  'what a checkpoint holds beyond the lines that were written is kept and told: $written',
  async ({ written, types }) => {
    const run = { sessionId: 'session', messageId: 2, runId: 2, openedAt: 0, finished: false }
    const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
    const packets = [
      { type: 'message_start', final_documents: null, pre_answer_processing_seconds: 0 },
      { type: 'message_delta', content: written },
    ]
    const lines = written === undefined ? [] : packets.map((obj) => ({ placement, obj }))
    const appended: { readonly obj?: { readonly type: string; readonly content?: string } }[] = []
    const shared = {
      read: async (_: number, cursor: number) => ({
        messageId: 2,
        entries: cursor === 0 ? lines.map((line, index) => ({ sequence: index + 1, json: JSON.stringify(line) })) : [],
        finished: false,
      }),
      append: async (parts: Parameters<SharedRuns['append']>[0]) => {
        for (const { entries } of parts) for (const { json } of entries) appended.push(JSON.parse(json))
        return []
      },
    } as unknown as SharedRuns
    const finish = vi.fn<ConversationStore['finish']>(async () => {})
    const message = { id: 2, status: 'running', text: 'What was said so far.' }
    const branch = async () => ({ summary: null, summaryFiles: [], messages: [message] }) as unknown as BranchHistory
    await endAbandonedRun(run, { shared, conversations: { branch, finish }, now: Date.now })
    expect(finish).toHaveBeenCalledWith(2, expect.objectContaining({ status: 'terminated', text: message.text }))
    expect(appended.flatMap(({ obj }) => obj?.type ?? [])).toEqual(types)
    expect((written ?? '') + appended.find(({ obj }) => obj?.type === 'message_delta')?.obj?.content).toBe(message.text)
  },
)
