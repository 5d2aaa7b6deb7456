import { expect, test } from 'vitest'
import { withoutCredentials } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { errorReport } from 'inlay/internal/error-report'

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
