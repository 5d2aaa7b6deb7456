import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type Service } from '../clients/service.ts'
import { listen, send, type Loopback } from '../stand-in/loopback.ts'
import type { StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number }
}
interface Item {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly eventName?: string
  readonly attributes: readonly Attribute[]
}
type Sent = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** Everything the service has sent, by its path. */
const received: Record<string, Item[]> = { '/v1/traces': [], '/v1/metrics': [], '/v1/logs': [] }
const resources: Attribute[] = []
let collector: Loopback
let model: StandIn
let service: Service

/** The leaves of a message of OTLP: resources, their scopes, their items. */
function itemsOf(message: Sent): Item[] {
  const lists = Object.entries(message).filter(([name]) => /^(resource|scope)[A-Z]/.test(name))
  if (lists.length === 0)
    return Object.values(message).flatMap((value) => (Array.isArray(value) ? value : []) as Item[])
  return lists.flatMap(([, each]) => each.flatMap((inner) => itemsOf(inner as Sent)))
}

const question = 'How long is the parental leave of Zebulon?'

beforeAll(async () => {
  collector = await listen(async (request, response) => {
    const message = JSON.parse(await text(request)) as Sent
    received[request.url!]!.push(...itemsOf(message))
    for (const [{ resource }] of Object.values(message) as [{ resource: { attributes: Attribute[] } }][])
      resources.push(...resource.attributes)
    send(response, 200, {})
  })
  const call = { id: 'c1', name: 'internal_search', input: { queries: [question] } }
  const replies = [[{ calls: [call] }], [{ text: 'Twenty weeks [1].' }]]
  model = await startOpenAi(() => replies.shift() ?? { status: 500, body: 'no further reply' })
  service = await startService({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    INLAY_LOG: 'json',
    INLAY_MISSPELT: 'yes',
    INLAY_MODEL: 'scripted-1',
    INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
    INLAY_MODEL_API_KEY: 'k',
    INLAY_MODEL_GROUNDING: 'tools',
  })
})
afterAll(async () => {
  await service?.close()
  await model?.close()
  await collector?.close()
})

test('OTEL_EXPORTER_OTLP_ENDPOINT alone sends the trace of a message, its log and metrics, and words of nobody', async () => {
  const post = (path: string, body: object): Promise<Response> =>
    fetch(service.base + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.key}`,
        'content-type': 'application/json',
        prefer: 'wait=60',
        'x-request-id': 'night-1',
        traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      },
      body: JSON.stringify(body),
    })
  const sections = [{ text: 'Zebulon grants twenty weeks of parental leave.' }]
  await post('/service-api/ingestion', { document: { id: 'd', semantic_identifier: 'Leave', metadata: {}, sections } })
  const answer = await post('/chat/send-chat-message', { message: question, stream: false })
  const { chat_session_id: sessionId } = (await answer.json()) as { chat_session_id: string }
  await service.close()

  const spans = received['/v1/traces']!
  const childrenOf = (id: string): string[] =>
    spans.filter(({ parentSpanId }) => parentSpanId === id).map(({ name }) => name)
  const [request, ...others] = spans.filter(({ name }) => name === 'POST /chat/send-chat-message')
  expect(others).toEqual([])
  // The trace of the caller goes on.
  expect(request).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) })
  expect(childrenOf(request!.spanId)).toContain('invoke_agent inlay')
  const run = spans.find(({ name }) => name === 'invoke_agent inlay')!
  expect(childrenOf(run.spanId).filter((name) => !/^(select|insert|update|delete|begin|commit)/.test(name))).toEqual(
    expect.arrayContaining(['chat scripted-1', 'execute_tool internal_search', 'retrieval documents']),
  )

  const lines = service
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const [logged] = lines.filter(({ event }: { event: string }) => event === 'run')
  expect(logged).toMatchObject({ sessionId, traceId: run.traceId, instance: expect.any(String) })
  const [sent] = received['/v1/logs']!.filter(({ eventName }) => eventName === 'inlay.run')
  expect(sent).toMatchObject({ traceId: run.traceId })
  expect(sent!.attributes).toContainEqual({ key: 'sessionId', value: { stringValue: sessionId } })
  expect(received['/v1/logs']!.map(({ eventName }) => eventName)).toEqual(
    expect.arrayContaining(['inlay.start', 'inlay.request', 'inlay.stop']),
  )
  expect(received['/v1/metrics']!.map(({ name }) => name)).toContain('gen_ai.client.token.usage')
  expect(resources).toContainEqual({ key: 'service.name', value: { stringValue: 'inlay' } })
  expect(JSON.stringify(received)).not.toMatch(/Zebulon|weeks/)
})

test('a collector that hangs keeps the server from ending for a moment only, and gets no names of people', async () => {
  const hanging = await listen(async () => {})
  const held = await startService({
    OTEL_EXPORTER_OTLP_ENDPOINT: hanging.origin,
    // Without an end of its own the test would not end.
    OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
  })
  expect((await fetch(`${held.base}/health`)).status).toBe(200)
  await held.close()
  await hanging.close()
  expect(resources.map(({ key }) => key)).not.toContain('process.owner')
  expect(resources.map(({ key }) => key)).not.toContain('process.command_args')
})

test('without the packages of OpenTelemetry the server starts, and says what to install', async () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) { return next(name.replace('@opentelemetry/sdk-node', '@opentelemetry/absent'), context) } })`
  const bare = await startService({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
  })
  expect((await fetch(`${bare.base}/health`)).status).toBe(200)
  await bare.close()
  expect(bare.log()).toContain('npm install @opentelemetry/sdk-node @opentelemetry/instrumentation-undici')
})
