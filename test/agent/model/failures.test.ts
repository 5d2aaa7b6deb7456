import { APICallError } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { reasonOf, withoutCredentials } from '@inlay/agent/internal/model/failure-signs'
import { reportFailure, stepFailure, toFailure } from '@inlay/agent/internal/model/failures'
import { cpuMsOf } from '../../cpu-time.ts'

const answered = (statusCode: number, body: unknown = {}, headers: Record<string, string> = {}) =>
  new APICallError({
    message: typeof body === 'string' ? body : JSON.stringify(body),
    url: 'https://user:pass@models.test/v1?key=abc',
    requestBodyValues: { messages: ['maximum context length billing'] },
    statusCode,
    responseHeaders: headers,
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
  })
const said = (message: string, more: Record<string, unknown> = {}) => ({ error: { message, ...more } })

describe('statuses of a provider', () => {
  test.each([
    [400, 'BAD_REQUEST', true],
    [401, 'AUTH_ERROR', false],
    [402, 'BUDGET_EXCEEDED', false],
    [403, 'PERMISSION_DENIED', false],
    [404, 'NOT_FOUND', false],
    [408, 'CONNECTION_ERROR', true],
    [413, 'REQUEST_TOO_LARGE', false],
    [418, 'BAD_REQUEST', true],
    [422, 'UNPROCESSABLE_ENTITY', true],
    [429, 'RATE_LIMIT', true],
    [500, 'API_ERROR', true],
    [502, 'API_ERROR', true],
    [503, 'SERVICE_UNAVAILABLE', true],
    [529, 'SERVICE_UNAVAILABLE', true],
  ] as const)('%i is %s', (status, code, retryable) => {
    expect(toFailure(answered(status))).toMatchObject({ code, retryable, details: null })
  })

  test.each([401, 402, 403])('%i says what to do to whoever can, who may be the one that reads it', (status) => {
    expect(toFailure(answered(status)).message).toMatch(/Whoever runs this assistant (can|sets)/)
  })

  test('the model, its provider and the time to wait are details', () => {
    const failure = toFailure(answered(429, {}, { 'retry-after': '7' }), { model: 'm', provider: 'p', modelIndex: 1 })
    expect(failure.details).toEqual({ model: 'm', provider: 'p', model_index: 1, retry_after_seconds: 7 })
  })

  test.each([
    ['a header that LiteLLM hands on', {}, { 'llm_provider-retry-after': '9' }, 9],
    ['words of OpenAI', said('Limit 30000, Used 29000, Requested 5000. Please try again in 8.2s.'), {}, 9],
    ['words of Groq', said('Please try again in 6m0.5s. Need more tokens?'), {}, 361],
    ['words of Gemini', said('Please retry in 34.074824224s.'), {}, 35],
    ['words of Azure', said('Please retry after 17 seconds.'), {}, 17],
    ['hours and minutes', said('Please try again in 1h2m3s.'), {}, 3723],
    ['words with units', said('Please try again in 2 minutes and 5 seconds.'), {}, 125],
    [
      'a body of Gemini',
      {
        error: {
          message: 'Quota.',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }],
        },
      },
      {},
      17,
    ],
    ['a field of a body', { error: { message: 'Slow down.', retry_after: 12.5 } }, {}, 13],
    ['a fraction', {}, { 'retry-after': '4.5' }, 5],
    ['a duration', {}, { 'retry-after': '1m30s' }, 90],
    ['a time without a unit and sense', {}, { 'retry-after': 'soon' }, undefined],
    ['nothing negative', {}, { 'retry-after': '-5' }, undefined],
    [
      'the limit that was reached',
      {},
      {
        'x-ratelimit-remaining-requests': '12',
        'x-ratelimit-reset-requests': '6m0s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '1m30s',
      },
      90,
    ],
    ['a limit alone', {}, { 'x-ratelimit-reset-requests': '120ms' }, 1],
    ['milliseconds', said('Please try again in 120ms.'), {}, 1],
    ['nothing', said('Please try again in a while.'), {}, undefined],
    ['a number that is none', said(`Please try again in ${'9'.repeat(400)}s.`), {}, undefined],
  ])('the time to wait is read from %s', (_, body, headers, seconds) => {
    expect(toFailure(answered(429, body, headers)).details?.['retry_after_seconds']).toBe(seconds)
  })

  test.each([
    ['seconds', (ms: number) => String(ms / 1000)],
    ['milliseconds', String],
    ['a date', (ms: number) => new Date(ms).toISOString()],
  ])('the time to wait is read from a limit that ends at %s since 1970', (_, write) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 12), toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { details } = toFailure(answered(429, {}, { 'x-ratelimit-reset': write(Date.now() + 9_000) }))
    expect(details?.['retry_after_seconds']).toBe(9)
  })

  test.each([
    ['1', /in 1 second\./],
    ['17', /in 17 seconds\./],
    ['300', /in 5 minutes\./],
    ['7200', /in 2 hours\./],
  ])('people read how long to wait: %s', (seconds, words) => {
    expect(toFailure(answered(429, {}, { 'retry-after': seconds })).message).toMatch(words)
  })

  test.each([
    [403, { code: 'unsupported_country_region_territory' }],
    [400, { message: 'User location is not supported for the API use.' }],
  ])('%i of another region says that, and what can be done', (status, error) => {
    const { code, message } = toFailure(answered(status, { error }))
    expect([code, message]).toEqual(['PERMISSION_DENIED', expect.stringMatching(/region.*Whoever runs this assistant/)])
  })

  test.each([
    [9_000, 9],
    [3_600_000, 3600],
    [-60_000, 0],
  ])('the time to wait is read from a date that is %i ms ahead', (aheadMs, seconds) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 12), toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const date = new Date(Date.now() + aheadMs).toUTCString()
    const { details } = toFailure(answered(429, {}, { 'retry-after': date }))
    expect(details?.['retry_after_seconds']).toBe(seconds)
  })

  test.each([400, 422])('%i, which other words cannot mend, asks for none', (status) => {
    expect(toFailure(answered(status)).message).not.toMatch(/words/)
    expect(toFailure(answered(status)).message).toMatch(/log/)
  })

  test('a long refusal that names a strange model is read at once', async () => {
    const refusal = answered(400, `model ${'"'.repeat(20_000)}`)
    const read = (): void => {
      for (let time = 0; time < 10; time++) expect(toFailure(refusal).code).toBe('BAD_REQUEST')
    }
    expect(await cpuMsOf(read)).toBeLessThan(2_000)
  })

  test('a key that LiteLLM cannot look up is a wrong one', () => {
    const body = said('No connected db.', { type: 'no_db_connection', code: '400' })
    expect(toFailure(answered(400, { error: { ...body.error, type: 'no_db_connection' } })).code).toBe('AUTH_ERROR')
  })
})

describe('what a body says goes before its status', () => {
  test.each([
    ["This model's maximum context length is 8192 tokens.", 400, 'CONTEXT_TOO_LONG'],
    ['prompt is too long: 210000 tokens > 200000 maximum', 400, 'CONTEXT_TOO_LONG'],
    ['the request exceeds the available context size, try increasing it', 400, 'CONTEXT_TOO_LONG'],
    ['The input token count (40000) exceeds the maximum number of tokens allowed (32768).', 400, 'CONTEXT_TOO_LONG'],
    ['Please reduce the length of the messages or completion.', 413, 'CONTEXT_TOO_LONG'],
    ['You exceeded your current quota, please check your plan and billing details.', 429, 'BUDGET_EXCEEDED'],
    ['Your credit balance is too low to access the API.', 400, 'BUDGET_EXCEEDED'],
    ['Your request was rejected as a result of our safety system.', 400, 'CONTENT_POLICY'],
    ['The response was filtered due to the prompt triggering the content management policy.', 400, 'CONTENT_POLICY'],
    ['Too many tokens, please wait before trying again.', 429, 'RATE_LIMIT'],
    ['litellm.RateLimitError: ThrottlingException: Too many tokens, please wait.', 400, 'BAD_REQUEST'],
    [
      'Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 25000, Requested 9000. Please try again in 8s.',
      429,
      'RATE_LIMIT',
    ],
    ['Request too large for m on tokens per min (TPM): Limit 30000, Requested 9000.', 429, 'RATE_LIMIT'],
    ['Request too large for m on tokens per min (TPM): Limit 30000, Requested 35000.', 429, 'CONTEXT_TOO_LONG'],
    ["This request would exceed your organization's rate limit of 30,000 input tokens per minute.", 429, 'RATE_LIMIT'],
    ['thinking.budget_tokens: must be at least 1024', 400, 'BAD_REQUEST'],
    ['/chat/completions: Invalid model name passed in model=m-1. Call `/v1/models` to view models.', 400, 'NOT_FOUND'],
    ['maker/m-1 is not a valid model ID', 400, 'NOT_FOUND'],
    ['Model Not Exist', 400, 'NOT_FOUND'],
    ['model "llama3.2:1b" not found, try pulling it first', 400, 'NOT_FOUND'],
    ['The tool result names a call that the model did not make: not found.', 400, 'BAD_REQUEST'],
  ] as const)('%s (%i)', (message, status, code) => {
    expect(toFailure(answered(status, said(message))).code).toBe(code)
  })

  test('what the request said does not count', () => expect(toFailure(answered(400)).code).toBe('BAD_REQUEST'))
})

describe('errors without a status', () => {
  test.each([
    [
      Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
      'CONNECTION_ERROR',
    ],
    [new DOMException('late', 'TimeoutError'), 'CONNECTION_ERROR'],
    [new DOMException('stop', 'AbortError'), 'CONNECTION_ERROR'],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'SERVICE_UNAVAILABLE'],
    [{ message: 'slow down', code: 'rate_limit_exceeded' }, 'RATE_LIMIT'],
    [{ error: { message: 'The server had an error', type: 'server_error' } }, 'API_ERROR'],
    ['The server had an error', 'API_ERROR'],
    [Object.assign(new Error('no key'), { name: 'AI_LoadAPIKeyError' }), 'AUTH_ERROR'],
    [Object.assign(new Error('no'), { name: 'AI_UnsupportedFunctionalityError' }), 'BAD_REQUEST'],
    [Object.assign(new Error('gave up'), { name: 'AI_RetryError', lastError: answered(503) }), 'SERVICE_UNAVAILABLE'],
  ] as const)('%o', (error, code) => expect(toFailure(error).code).toBe(code))

  test('a broken connection under a good status is a connection error', () => {
    const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
    const error = new APICallError({
      message: 'no luck',
      url: 'http://models.test',
      requestBodyValues: {},
      statusCode: 200,
      cause,
    })
    expect(toFailure(error).code).toBe('CONNECTION_ERROR')
  })

  test('our own errors pass as they are, anything else is unknown and keeps its text to itself', () => {
    expect(toFailure(new InlayError('QUERY_REJECTED', { message: 'Not that.' }))).toMatchObject({
      code: 'QUERY_REJECTED',
      message: 'Not that.',
    })
    const unknown = toFailure(new TypeError("Cannot read properties of undefined (reading '/etc/secret')"))
    expect(unknown.code).toBe('UNKNOWN_ERROR')
    expect(unknown.message).not.toContain('secret')
  })
})

describe('what is shown', () => {
  const leaky =
    'Incorrect key sk-proj-abcDEF123456 at https://me:hunter2@host/v1?api_key=zzz99, Bearer tok_1234, token: "s3cr3t"'

  test('credentials are taken out', () => {
    const clean = withoutCredentials(leaky)
    for (const secret of ['sk-proj', 'hunter2', 'zzz99', 'tok_1234', 's3cr3t']) expect(clean).not.toContain(secret)
    expect(
      withoutCredentials('AIzaSyA1234567890abcdef eyJhbGciOi.eyJzdWIi.sig 0123456789abcdef0123456789abcdef'),
    ).not.toMatch(/AIza|eyJ|0123/)
    expect(withoutCredentials('The field `messages` is required.')).toBe('The field `messages` is required.')
  })

  test('people read what they can do, and no word of the provider', () => {
    const leak = 'Tools are not supported in /srv/internal/path.py: SELECT key FROM users'
    for (const status of [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503]) {
      const { message } = toFailure(answered(status, said(leak)), { model: 'm-1' })
      expect(message).not.toMatch(/srv|SELECT|Tools/)
      expect(message).toMatch(/[Tt]ry again|Whoever runs this assistant|[Cc]hoose another|[Ss]end a shorter/)
    }
  })

  test('operators read one line: model, code, status, a short reason without credentials, never a page', () => {
    const reported = (error: unknown): { message: string; data: unknown } => {
      const reports: unknown[] = []
      reportFailure(error, { provider: 'p', model: 'm-1' }, (report) => void reports.push(report))
      return reports[0] as { message: string; data: unknown }
    }
    const refused = reported(answered(400, said(`Tools are not\n supported. ${leaky}`)))
    expect(refused.message).toMatch(/^p\/m-1: BAD_REQUEST \(HTTP 400\)\. It says: Tools are not supported\./)
    expect(refused.message).not.toMatch(/hunter2|sk-proj/)
    expect(refused.data).toEqual({ isExpected: true })
    expect(reported(answered(500, said('x '.repeat(5_000)))).message.length).toBeLessThan(400)
    expect(reported(answered(500, '<html><body>secret page</body></html>')).message).not.toContain('secret')
    const bug = new TypeError('Cannot read properties of undefined')
    expect(reported(bug)).toBe(bug)
    expect(reported(new InlayError('QUERY_REJECTED'))).toBeUndefined()
    expect(reasonOf({ said: 'a\n\n  b' })).toBe('a b.')
  })

  test('other codes have fixed words', () => {
    for (const status of [401, 403, 404, 413, 429, 503])
      expect(toFailure(answered(status, said(leaky)), { model: 'm-1' }).message).not.toMatch(/Incorrect|hidden/)
    expect(toFailure(answered(404), { model: 'm-1' }).message).toContain('m-1')
  })
})

describe('steps that threw nothing', () => {
  const end = (unified: string, raw: string | undefined = unified, saidAnything = false) => ({
    finishReason: { unified, raw },
    saidAnything,
  })

  test('a step with text or a call is fine', () => {
    expect(stepFailure(end('stop', 'stop', true))).toBeUndefined()
    expect(stepFailure(end('content-filter', 'content_filter', true))).toBeUndefined()
  })

  test('nothing said is an empty answer, or a refusal when the reason says so', () => {
    expect(stepFailure(end('stop'))?.code).toBe('EMPTY_LLM_RESPONSE')
    expect(stepFailure(end('other'))?.code).toBe('EMPTY_LLM_RESPONSE')
    expect(stepFailure(end('length'))?.code).toBe('EMPTY_LLM_RESPONSE')
    expect(stepFailure(end('content-filter'))?.code).toBe('MODEL_REFUSAL')
    expect(stepFailure(end('other', 'SAFETY'))?.code).toBe('MODEL_REFUSAL')
    expect(stepFailure({ ...end('stop'), toolChoice: 'required' }, { model: 'm' })?.details).toEqual({
      model: 'm',
      tool_choice: 'required',
      finish_reason: 'stop',
    })
  })

  test('a stream without an end is a broken connection, also after text', () => {
    expect(stepFailure({ saidAnything: true })?.code).toBe('CONNECTION_ERROR')
    expect(stepFailure(end('interrupted', undefined, true))?.code).toBe('CONNECTION_ERROR')
    expect(stepFailure(end('error', undefined, true))?.code).toBe('API_ERROR')
  })
})

test('advice for the operator is reported, and not told in the answer', () => {
  const advice = new InlayError('SERVICE_UNAVAILABLE', {
    message: 'The search cluster refused the user name or password. Check both in INLAY_INDEX_URL.',
    data: { isForOperator: true },
  })
  expect(toFailure(advice)).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Not available right now: try again later.',
  })
  const errors: unknown[] = []
  reportFailure(advice, {}, (error) => errors.push(error))
  reportFailure(new InlayError('NOT_FOUND'), {}, (error) => errors.push(error))
  expect(errors).toEqual([advice])
})

test.each(['a-', 'a1-', 'eyJ-', 'eyJ.', '://', 'key ', 'key="', 'bearer ', 'sk-', '-'])(
  'a long failure of %s is searched for credentials in linear time',
  async (piece) => {
    expect(await cpuMsOf(() => withoutCredentials(piece.repeat(200_000 / piece.length)))).toBeLessThan(150)
  },
)
