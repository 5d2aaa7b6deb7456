import { InlayError } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { actOnMany } from '../../../packages/page/src/documents/table/act-on-many.ts'

const documents = Array.from({ length: 40 }, (_, at) => ({ id: `d${at}`, title: `Document ${at}` }))

function options(signal = new AbortController().signal) {
  const progress: number[] = []
  const pauses: number[] = []
  return {
    progress,
    pauses,
    signal,
    onProgress: ({ done }: { done: number }) => void progress.push(done),
    wait: async (ms: number) => void pauses.push(ms),
  }
}

test('goes on after failures, and groups them by reason', async () => {
  const how = options()
  const report = await actOnMany(
    documents,
    async ({ id }) => {
      if (id.endsWith('3')) throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'It belongs to others.' })
      return true
    },
    how,
  )
  expect(report.done).toHaveLength(36)
  expect(report.failed).toEqual([
    { reason: 'It belongs to others.', titles: ['Document 3', 'Document 13', 'Document 23', 'Document 33'] },
  ])
  expect(report.left).toBe(0)
  expect(how.progress.at(-1)).toBe(36)
})

test('waits as long as the server asks to, then tries the same document again', async () => {
  const how = options()
  let calls = 0
  const report = await actOnMany(
    documents.slice(0, 5),
    async () => {
      if (++calls === 2) throw new InlayError('RATE_LIMITED', { data: { retryAfterSeconds: 7 }, retryable: true })
      return true
    },
    how,
  )
  expect(how.pauses).toEqual([7000])
  expect([calls, report.done.length]).toEqual([6, 5])
})

test('ends when the server cannot be reached, and leaves the others as they are', async () => {
  let calls = 0
  const report = await actOnMany(
    documents,
    async () => {
      if (++calls > 10) throw new TypeError('Failed to fetch')
      return true
    },
    options(),
  )
  expect(report.done).toHaveLength(10)
  const failures = report.failed.flatMap(({ titles }) => titles).length
  expect(failures).toBeLessThanOrEqual(4)
  expect(report.left).toBe(30 - failures)
})

test('can be stopped', async () => {
  const stop = new AbortController()
  const report = await actOnMany(
    documents,
    async ({ id }) => {
      if (id === 'd7') stop.abort()
      return true
    },
    options(stop.signal),
  )
  expect(report.failed).toEqual([])
  expect(report.done.length + report.left).toBe(40)
  expect(report.left).toBeGreaterThan(20)
})

test('does nothing more once it is stopped while it waits', async () => {
  const stop = new AbortController()
  let calls = 0
  const report = await actOnMany(
    documents.slice(0, 1),
    async () => {
      if (++calls === 1) throw new InlayError('RATE_LIMITED', { data: { retryAfterSeconds: 7 }, retryable: true })
      return true
    },
    { ...options(stop.signal), wait: async () => stop.abort() },
  )
  expect(calls).toBe(1)
  expect(report).toEqual({ done: [], failed: [], left: 1 })
})
