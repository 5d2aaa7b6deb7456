import { InlayError } from '@inlay/protocol'
import type { LogEntry } from 'inlay'
import { errorWriter, writeJsonLine } from 'inlay/internal/log'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => void vi.useRealTimers())

/** As `pg` ends the queries of a server that went away: its error has no code. */
const outage = (): InlayError =>
  new InlayError('SERVICE_UNAVAILABLE', {
    message: 'The database does not respond: try again in a moment.',
    cause: new Error('Connection terminated unexpectedly'),
    data: { isOutage: true },
  })

test('an outage is one line without a stack, and another when it is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  await import('@inlay/agent')
  const entries: LogEntry[] = []
  const report = errorWriter((entry) => entries.push(entry))
  for (let call = 0; call < 100; call++) {
    report(outage(), { requestId: `r-${call}` })
    // The redaction is loaded by now.
    await new Promise(setImmediate)
    vi.advanceTimersByTime(300)
  }
  const line = 'The database does not respond: try again in a moment. It says: Connection terminated unexpectedly.'
  expect(entries).toEqual([{ event: 'error', level: 'warning', requestId: 'r-0', report: `${line} (request r-0)` }])
  vi.advanceTimersByTime(60_000)
  expect(entries.slice(1)).toEqual([{ event: 'note', report: `not again for 60 s, after 100 times in 30 s: ${line}` }])
  report(outage())
  await vi.waitFor(() => expect(entries).toHaveLength(3))
})

test('failures that nobody expects are written one by one, with the request of each', async () => {
  const entries: LogEntry[] = []
  const report = errorWriter((entry) => entries.push(entry))
  for (const requestId of ['a', 'b']) report(new TypeError('x is undefined'), { requestId })
  await vi.waitFor(() => expect(entries).toHaveLength(2))
  expect(entries).toEqual(
    ['a', 'b'].map((requestId) => expect.objectContaining({ event: 'error', level: 'error', requestId })),
  )
})

test('a line of JSON tells its time, level, process and version', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  writeJsonLine({ event: 'stop' })
  writeJsonLine({ event: 'error', level: 'warning', requestId: null, report: 'Redis cannot be reached.' })
  const lines = write.mock.calls.map(([text]) => JSON.parse(String(text)) as object)
  write.mockRestore()
  const head = {
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    instance: expect.stringMatching(new RegExp(`:${process.pid}$`)),
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  }
  expect(lines).toEqual([
    { ...head, level: 'info', event: 'stop' },
    { ...head, level: 'warning', event: 'error', requestId: null, report: 'Redis cannot be reached.' },
  ])
})
