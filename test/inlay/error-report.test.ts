import { globSync, readFileSync } from 'node:fs'
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
  expect(logEntry(error, { requestId: 'r-1' }, withoutCredentials).report).toBe(
    'p/m: RATE_LIMIT (HTTP 429). (request r-1)',
  )
  expect(logEntry(new Error('odd'), { requestId: 'r-1' }, withoutCredentials).report).toMatch(
    /^something failed unexpectedly \(request r-1\): Error: odd\n +at /,
  )
})

test.each([
  ['an index that is lost', new InlayError('INDEX_MISMATCH', { message: 'The index is lost.' }), 'The index is lost.'],
  [
    'a service that refuses, whose sentence each step passes on',
    new InlayError('AUTH_ERROR', {
      message: 'The embedding service rejected the key.',
      cause: new InlayError('AUTH_ERROR', { message: 'The embedding service rejected the key.' }),
    }),
    'The embedding service rejected the key.',
  ],
  [
    'a server that is not there, with what the system says',
    new InlayError('BAD_GATEWAY', {
      message: 'The tools of the MCP server w could not be listed.',
      cause: new InlayError('BAD_GATEWAY', {
        message: 'The address could not be reached.',
        cause: new TypeError('fetch failed', {
          cause: Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:9'), { code: 'ECONNREFUSED' }),
        }),
      }),
    }),
    'The tools of the MCP server w could not be listed. The address could not be reached. It says: connect ECONNREFUSED 10.0.0.7:9.',
  ],
  [
    'an address that is not taken',
    new InlayError('BAD_GATEWAY', {
      message: 'The tools of the MCP server w could not be listed.',
      cause: new InlayError('BAD_REQUEST', { message: 'The address redirects too often.' }),
    }),
    'The tools of the MCP server w could not be listed. The address redirects too often.',
  ],
])('%s is one line without a stack', (_, error, line) => {
  expect(logEntry(error, {}, withoutCredentials).report).toBe(line)
})

test('a fault of ours keeps its whole report, whatever it was taken for on its way', () => {
  const fault = new TypeError('Cannot read properties of undefined')
  for (const cause of [fault, new InlayError('INTERNAL_ERROR', { cause: fault })]) {
    const error = new InlayError('SERVICE_UNAVAILABLE', { message: 'The index could not be opened.', cause })
    expect(logEntry(error, {}, withoutCredentials).report).toMatch(
      /^something failed unexpectedly: [^]*TypeError: Cannot read/,
    )
  }
})

test('control characters are written as escapes, and no message looks like a line of the log', () => {
  const forged = 'no\u001B[2J\ninlay: all is well\n    at \u0007\u2028'
  const escaped = 'no\\u001b[2J\\ninlay: all is well\\n    at \\u0007\\u2028'
  for (const error of [new Error(forged), new Error('failed', { cause: new Error(forged) }), forged]) {
    const entry = logEntry(error, {}, withoutCredentials).report
    expect(entry).toContain(escaped)
    expect(entry.replace(/\n {2,4}(?:at|caused by) /g, '')).not.toMatch(/[\p{Cc}\u2028]/u)
  }
})

test('no advice about a setting looks like a secret, so that the log shows it whole', () => {
  const files = globSync('packages/{drivers,inlay}/src/**/*.ts')
  const sentences = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(['`])((?:(?!\1)[^\n])*(?:INLAY_|\{setting\})(?:(?!\1)[^\n])*)\1/g)].map(
      ([, , text]) => text!,
    ),
  )
  const advice = sentences.filter((text) => /[.:] ?.* .*\.$/.test(text))
  expect(advice.length).toBeGreaterThan(20)
  expect(advice.filter((text) => withoutCredentials(text) !== text)).toEqual([])
})
