import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import {
  ATTR_DB_OPERATION_BATCH_SIZE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_SYSTEM_NAME,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
  METRIC_DB_CLIENT_OPERATION_DURATION,
} from '@opentelemetry/semantic-conventions'
import { InlayError } from '@inlay/protocol'
import { createTelemetry } from '@inlay/telemetry'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { Reply } from '../stand-in/model-server.ts'
import { fakeEmbedder } from '../knowledge/fake-embedder.ts'
import { startOpenAi } from '../stand-in/openai.ts'

const spans = new InMemorySpanExporter()
const measurements = new InMemoryMetricExporter(0)
const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 3_600_000 })
const meters = new MeterProvider({ readers: [reader] })
const apiKey = 'inlay_telemetry_test_key'
const question = 'How long is the parental leave of Zebulon?'
const passage = 'Zebulon grants twenty weeks of parental leave.'

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }))
  metrics.setGlobalMeterProvider(meters)
})
afterAll(async () => {
  await meters.shutdown()
  for (const api of [context, trace, metrics]) api.disable()
})
afterEach(() => spans.reset())

/** An assistant with telemetry, one document and a scripted model. */
async function open(replies: Reply[], options: InlayOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-telemetry-'))
  const model = await startOpenAi(() => replies.shift() ?? { status: 500, body: 'no further reply' })
  const inlay: Inlay = createInlay({
    dataFolder: folder,
    apiKey,
    telemetry: true,
    model: {
      name: 'scripted-1',
      grounding: 'tools',
      baseUrl: `${model.origin}/v1`,
      apiKey: 'k',
      contextTokens: 100_000,
    },
    searchHelp: { expand: false },
    sessionNames: 'question',
    onError: () => {},
    ...options,
  })
  onTestFinished(async () => {
    await inlay.close()
    await model.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    inlay.fetch(
      new Request(`http://host.example/api${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', prefer: 'wait=60' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const document = { id: 'leave', semantic_identifier: 'Leave', metadata: {}, sections: [{ text: passage }] }
  await call('POST', '/service-api/ingestion', { document })
  return { inlay, call }
}

const searching: Reply = [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: [question] } }] }]
const answering: Reply = [{ text: 'Twenty weeks [1].' }]

test('a run is one trace: its model calls and its search are below it, and no text of anybody is in it', async () => {
  const { inlay, call } = await open([searching, answering])
  spans.reset()
  const response = await call('POST', '/chat/send-chat-message', {
    message: question,
    origin: 'slackbot',
    stream: false,
  })
  expect(await response.json()).toMatchObject({ error_msg: null })
  await inlay.close()
  const all = spans.getFinishedSpans()
  const run = all.find(({ name }) => name === 'invoke_agent inlay')!
  const below = all.filter(({ parentSpanContext: parent }) => parent?.spanId === run.spanContext().spanId)
  expect(
    below
      .map(({ name }) => name)
      .filter((name) => !/ (records|index)$/.test(name))
      .toSorted(),
  ).toEqual(['chat scripted-1', 'chat scripted-1', 'execute_tool internal_search', 'retrieval documents'])
  const [statement] = all.filter(({ name }) => name === 'insert records')
  expect(statement!.attributes).toMatchObject({
    [ATTR_DB_SYSTEM_NAME]: 'sqlite',
    [ATTR_DB_QUERY_TEXT]: expect.stringMatching(/^insert into "inlay_/),
  })
  const [request] = all.filter(({ name }) => name === 'POST /chat/send-chat-message')
  expect(run.parentSpanContext?.spanId).toBe(request!.spanContext().spanId)
  expect(request!.attributes).toMatchObject({
    [ATTR_HTTP_REQUEST_METHOD]: 'POST',
    [ATTR_HTTP_ROUTE]: '/chat/send-chat-message',
    [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
    [ATTR_URL_PATH]: '/api/chat/send-chat-message',
    [ATTR_URL_SCHEME]: 'http',
  })
  expect(run.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.conversation.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'gen_ai.request.model': 'scripted-1',
    'inlay.message.origin': 'slackbot',
    'inlay.run.status': 'done',
  })
  const [step] = below.filter(({ name }) => name.startsWith('chat'))
  expect(step!.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.finish_reasons': [expect.any(String)],
    'gen_ai.usage.input_tokens': expect.any(Number),
    'gen_ai.usage.output_tokens': expect.any(Number),
  })
  const written = JSON.stringify(
    all.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  )
  expect(written).not.toMatch(/Zebulon|weeks/)
})

test('indexing and upkeep are traces of their own, and the embedding of texts names provider and model', async () => {
  const embedder = fakeEmbedder()
  const { inlay } = await open([], { embedder: { ...embedder, id: 'openai/small-1@8' } })
  await inlay.close()
  const all = spans.getFinishedSpans()
  const named = (name: string) => all.filter((span) => span.name === name)
  expect(named('append index')[0]?.attributes).toEqual({
    [ATTR_DB_SYSTEM_NAME]: 'lancedb',
    [ATTR_DB_OPERATION_NAME]: 'append',
    [ATTR_DB_OPERATION_BATCH_SIZE]: 1,
    'inlay.engine': 'index',
  })
  expect(named('append index')[0]?.parentSpanContext).toBeUndefined()
  expect(named('maintain index').at(-1)?.attributes).toMatchObject({ 'inlay.index.rows': expect.any(Number) })
  expect(named('embeddings small-1')[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'small-1',
  })
})

test('a model that fails is told with its kind, and the run with its code', async () => {
  const { inlay, call } = await open([{ status: 401, body: '{"error":{"message":"bad key Zebulon"}}' }])
  spans.reset()
  await (await call('POST', '/chat/send-chat-message', { message: question, stream: false })).json()
  await inlay.close()
  const all = spans.getFinishedSpans()
  const run = all.find(({ name }) => name === 'invoke_agent inlay')!
  expect(run.attributes).toMatchObject({ 'inlay.run.status': 'failed', 'error.type': 'AUTH_ERROR' })
  expect(all.find(({ name }) => name.startsWith('chat'))!.attributes).toHaveProperty('error.type')
  expect(JSON.stringify(all.map(({ attributes, status }) => [attributes, status]))).not.toContain('Zebulon')
})

test('/metrics tells Prometheus and the SDK the same', async () => {
  const { call } = await open([searching, answering])
  await (await call('POST', '/chat/send-chat-message', { message: question, stream: false })).json()
  const response = await call('GET', '/metrics')
  expect(response.headers.get('content-type')).toContain('text/plain')
  const text = await response.text()
  const value = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(series))
        ?.split(' ')
        .at(-1),
    )
  expect(value('gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat"')).toBe(2)
  expect(value('gen_ai_client_operation_time_to_first_chunk_seconds_count')).toBe(2)
  expect(value('gen_ai_client_token_usage_tokens_count')).toBe(2)
  expect(value('gen_ai_invoke_agent_duration_seconds_count')).toBe(1)
  expect(value('gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="internal_search"')).toBe(1)
  expect(value('inlay_search_duration_seconds_count')).toBe(1)
  expect(
    value(
      'db_client_operation_duration_seconds_count{inlay_engine="index",db_system_name="lancedb",db_operation_name="append"',
    ),
  ).toBe(1)
  expect(value('inlay_engine_up{inlay_engine="records",db_system_name="sqlite"}')).toBe(1)
  expect(value('inlay_engine_calls{inlay_engine="index",db_system_name="lancedb",db_operation_name="append"}')).toBe(0)
  expect(value('inlay_build_info{version=')).toBe(1)
  expect(value('inlay_documents_accepted_total{inlay_result="new"}')).toBe(1)
  expect(value('inlay_documents{state="indexed"}')).toBe(1)
  expect(value('inlay_runs')).toBe(0)
  expect(
    value('http_server_request_duration_seconds_count{http_request_method="POST",http_route="/chat/send-chat-message"'),
  ).toBe(1)
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds')
  expect(text).not.toContain('Zebulon')

  await reader.forceFlush()
  const received = measurements
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: all }) => all))
  const names = new Set(received.map(({ descriptor }) => descriptor.name))
  for (const name of [METRIC_DB_CLIENT_OPERATION_DURATION, 'gen_ai.client.token.usage', 'inlay.search.duration'])
    expect(names).toContain(name)
  const states = received.find(({ descriptor }) => descriptor.name === 'inlay_documents')
  expect(states?.dataPoints).toContainEqual(expect.objectContaining({ attributes: { state: 'indexed' }, value: 1 }))
})

test('an engine that is not reached is down until it answers, and one that refuses a statement is up', async () => {
  const telemetry = createTelemetry('1.2.3')
  const call = telemetry.engine('records', 'postgresql')
  const up = async (work: () => Promise<unknown>): Promise<string | undefined> => {
    await call('select', work).catch(() => {})
    const { text } = await telemetry.metrics()
    return text
      .split('\n')
      .find((line) => line.startsWith('inlay_engine_up'))
      ?.slice(-1)
  }
  const away = new InlayError('SERVICE_UNAVAILABLE')
  expect(await up(() => Promise.reject(away))).toBe('0')
  expect(await up(async () => 1)).toBe('1')
  expect(await up(() => Promise.reject(Object.assign(new Error('no such table'), { code: '42P01' })))).toBe('1')
  const { text } = await telemetry.metrics()
  for (const type of ['SERVICE_UNAVAILABLE', '', '42P01']) expect(text).toContain(`"select",error_type="${type}"} 1`)
})

test('a call that does not end is seen while it lasts, and what may be long counts for none', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const telemetry = createTelemetry('1.2.3')
  const age = async (call: string): Promise<string | undefined> => {
    const { text } = await telemetry.metrics()
    return new RegExp(`^inlay_oldest_call_seconds\\{inlay_call="${call}"\\} (.*)$`, 'm').exec(text)?.[1]
  }
  const locked = Promise.withResolvers<Response>()
  const request = telemetry.request(new Request('http://host.example/me'), '/me', () =>
    telemetry.engine('records', 'postgresql')('select', () => locked.promise),
  )
  void telemetry.engine('index', 'lancedb')('maintain', () => new Promise(() => {}))
  vi.advanceTimersByTime(90_000)
  const later = telemetry.engine('records', 'postgresql')('select', async () => 1)
  expect([await age('request'), await age('records'), await age('index')]).toEqual(['90', '90', undefined])
  await later
  expect(await age('records')).toBe('90')
  locked.resolve(new Response('', { headers: { 'x-request-id': 'r' } }))
  await request
  expect([await age('request'), await age('records')]).toEqual(['0', '0'])
  const failing = telemetry.engine('records', 'postgresql')('select', () => Promise.reject(new Error('refused')))
  await failing.catch(() => {})
  expect(await age('records')).toBe('0')
})

test('calls that a limit refuses are counted by limit and key', async () => {
  const { inlay, call } = await open([], { callerLimits: { sessionsPerDay: 1 } })
  const { key, record } = await inlay.keys.create({
    name: 'k',
    owner: 'zoe',
    scopes: ['chat'],
    limits: { sessionsPerDay: 1 },
  })
  const create = (): Promise<Response> =>
    inlay.fetch(
      new Request('http://host.example/api/chat/create-chat-session', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: '{}',
      }),
    )
  expect([(await create()).status, (await create()).status]).toEqual([200, 429])
  const text = await (await call('GET', '/metrics')).text()
  expect(text).toContain(
    `inlay_limited_calls_total{inlay_limit="sessionsPerDay",inlay_limit_of="key",inlay_key_id="${record.id}"} 1`,
  )
})

test('without telemetry nothing is measured, and /metrics says how to turn it on', async () => {
  spans.reset()
  const { inlay, call } = await open([answering], { telemetry: false })
  await (await call('POST', '/chat/send-chat-message', { message: question, stream: false })).json()
  const response = await call('GET', '/metrics')
  expect(response.status).toBe(501)
  expect(await response.text()).toContain('telemetry: true')
  await inlay.close()
  expect(spans.getFinishedSpans()).toEqual([])
})
