import type { Agent, EndedTurn } from '@inlay/agent'
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { RunSpans } from '@inlay/telemetry/internal/runs'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const histogram = { record: () => {} }
const instruments = { runDuration: histogram } as never

/** Runs are numbered; each is over when the test triggers it. */
function fixture() {
  const spans = new RunSpans(instruments)
  const runs: { sessionId: string; messageId: number; finished: boolean }[] = []
  const agent = spans.observe({
    send: async () => {
      const run = { sessionId: 's', messageId: runs.length, finished: false }
      runs.push(run)
      return run
    },
  } as never as Agent)
  return { spans, runs, send: () => agent.send({} as never) }
}

test('a run counts until it is over, whether its answer can be stored or not', async () => {
  const { spans, runs, send } = fixture()
  await send()
  await send()
  expect(spans.size).toBe(2)
  runs[0]!.finished = true
  expect(spans.size).toBe(1)
  spans.end({ ...runs[0]!, model: {}, status: 'done', error: null, durationMs: 5 } as never as EndedTurn)
  runs[1]!.finished = true
  expect(spans.size).toBe(0)
})

test('the trace of an answer that was never stored ends as failed', async () => {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  trace.setGlobalTracerProvider(provider)
  onTestFinished(() => trace.disable())
  const { spans, runs, send } = fixture()
  await send()
  runs[0]!.finished = true
  expect(spans.size).toBe(0)
  expect(exporter.getFinishedSpans()).toEqual([])
  vi.advanceTimersByTime(61_000)
  await send()
  expect(exporter.getFinishedSpans()).toMatchObject([{ attributes: { 'error.type': 'INTERNAL_ERROR' } }])
})
