import { expect, test } from 'vitest'
import { withoutCredentials } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { errorReport, logEntry } from 'inlay/internal/error-report'

const report = (error: unknown): string => errorReport(error, withoutCredentials)

test('a failure is told with its causes and where it happened', () => {
  const disk = new Error('No space left on the device.')
  const text = report(new InlayError('INTERNAL_ERROR', { message: 'The index failed.', cause: disk }))
  expect(text).toMatch(/The index failed\.\n +at [^]*caused by Error: No space left on the device\.\n +at /)
  expect(text).toContain('error-report.test.ts')
})

test('keys do not reach the log, nor what was sent and answered', () => {
  const error = Object.assign(new Error('Incorrect API key provided: sk-abcdefghijklmnop'), {
    requestBodyValues: { messages: ['my secret question'] },
    responseHeaders: { 'set-cookie': 'session=1' },
  })
  const text = report(new Error('failed', { cause: new Error('Authorization: Bearer abc.def.ghi', { cause: error }) }))
  for (const secret of ['sk-abcdefghijklmnop', 'abc.def.ghi', 'secret question', 'session=1'])
    expect(text).not.toContain(secret)
})

test('whatever is thrown is told, and a circle of causes ends', () => {
  expect(report('plain words')).toBe('plain words')
  expect(report(undefined)).toBe('')
  const circle = new Error('round')
  circle.cause = circle
  expect(report(circle).match(/caused by/g)).toHaveLength(5)
})

test('what a provider commonly fails of is one line with the request, without a stack', () => {
  const cause = new Error('429 Too many requests')
  const error = new InlayError('RATE_LIMIT', {
    message: 'p/m: RATE_LIMIT (HTTP 429).',
    cause,
    data: { isExpected: true },
  })
  expect(logEntry(error, { requestId: 'r-1' }, withoutCredentials)).toBe('p/m: RATE_LIMIT (HTTP 429). (request r-1)')
  expect(logEntry(new Error('odd'), { requestId: 'r-1' }, withoutCredentials)).toMatch(
    /^something failed unexpectedly \(request r-1\): Error: odd\n +at /,
  )
})

test('control characters are written as escapes, and no message looks like a line of the log', () => {
  const forged = 'no\u001B[2J\ninlay: all is well\n    at \u0007\u2028'
  const escaped = 'no\\u001b[2J\\ninlay: all is well\\n    at \\u0007\\u2028'
  for (const error of [new Error(forged), new Error('failed', { cause: new Error(forged) }), forged]) {
    const entry = logEntry(error, {}, withoutCredentials)
    expect(entry).toContain(escaped)
    expect(entry.replace(/\n {2,4}(?:at|caused by) /g, '')).not.toMatch(/[\p{Cc}\u2028]/u)
  }
})
