import { modelProviders, type AbilityRecords, type ModelAbilities } from '@inlay/drivers/model-providers'
import type { ModelProvider, ResolvedModel } from '@inlay/agent'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RecordedRequest, Reply, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

async function start(reply: (request: RecordedRequest) => Reply): Promise<StandIn> {
  const server = await startOpenAi(reply)
  onTestFinished(() => server.close())
  return server
}

function providersOf(server: StandIn, abilities?: AbilityRecords, more: object = {}): ModelProvider {
  const models = [{ name: 'm-1', ...more }]
  const provider = { name: 'p', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models } as const
  return modelProviders({ providers: [provider], ...(abilities && { abilities }) })
}

/** The model after its first use in a process. */
async function resolved(server: StandIn, abilities?: AbilityRecords, more: object = {}): Promise<ResolvedModel> {
  const { resolve } = providersOf(server, abilities, more)
  await (await resolve()).observed?.ask?.()
  return resolve()
}

function inMemory(): AbilityRecords & { readonly rows: Map<string, ModelAbilities> } {
  const rows = new Map<string, ModelAbilities>()
  return { rows, read: async (key) => rows.get(key), write: async (key, abilities) => void rows.set(key, abilities) }
}

const call: Reply = [{ calls: [{ id: 'c1', name: 'look_up', input: { place: 'library' } }] }]
const afterCall =
  (answer: string) =>
  ({ body }: RecordedRequest): Reply =>
    JSON.stringify(body['messages']).includes('"role":"tool"') ? [{ text: answer }] : call

test.each([
  ['calls and cites', afterCall('On the third floor [1].'), { callsTools: true, cites: true }, 2],
  ['calls and does not cite', afterCall('On the third floor.'), { callsTools: true, cites: false }, 2],
  ['writes its call as text', () => [{ text: '<tool_call>{"name": "look_up"}</tool_call>' }], { callsTools: false }, 1],
  ['answers from memory', () => [{ text: 'On the second.' }], { callsTools: false, cites: false }, 1],
] as const)(
  'a model that %s is found out once, and recorded for other processes',
  async (_, reply, abilities, calls) => {
    const server = await start(reply as (request: RecordedRequest) => Reply)
    const records = inMemory()
    expect(await resolved(server, records)).toMatchObject(abilities)
    expect(server.requests).toHaveLength(calls)
    expect([...records.rows]).toMatchObject([[`${server.origin}/v1 m-1`, abilities]])
    expect(await resolved(server, records)).toMatchObject(abilities)
    expect(server.requests).toHaveLength(calls)
  },
)

test('a probe of a server that is away says nothing: it is made again', async () => {
  const records = inMemory()
  let isDown = true
  const server = await start((request) => (isDown ? { status: 500 } : afterCall('Third floor [1].')(request)))
  expect(await resolved(server, records)).not.toHaveProperty('callsTools')
  expect(records.rows.size).toBe(0)
  isDown = false
  expect(await resolved(server, records)).toMatchObject({ callsTools: true })
})

const cutOff =
  (end: string, text = '') =>
  (): Reply => [{ text }, { end }]
const refusing = (status: number, message: string) => (): Reply => ({ status, body: { error: { message } } })

test.each([
  ['is cut off', cutOff('length', 'Let me think.'), undefined],
  ['is filtered', cutOff('content_filter'), undefined],
  ['is refused for another reason', refusing(403, 'Not today.'), undefined],
  ['is refused for its tools', refusing(400, 'm-1 does not support tools'), false],
  ['is routed to no server with tools', refusing(404, 'No endpoints found that support tool use'), false],
])('a probe that %s judges no model: it is made again in an hour', async (_, reply, callsTools) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  let answer: (request: RecordedRequest) => Reply = reply
  const server = await start((request) => answer(request))
  const records = inMemory()
  const { resolve } = providersOf(server, records)
  const use = async (): Promise<boolean | undefined> => {
    await (await resolve()).observed?.ask?.()
    return (await resolve()).callsTools
  }
  expect(await use()).toBe(callsTools)
  expect(await use()).toBe(callsTools)
  expect(server.requests).toHaveLength(1)
  expect(records.rows.size).toBe(0)
  answer = afterCall('Third floor [1].')
  vi.advanceTimersByTime(3_700_000)
  expect(await use()).toBe(true)
  expect([...records.rows.values()]).toMatchObject([{ callsTools: true, cites: true }])
})

test('a model that is recorded to call no tools is probed again after a month', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const records = inMemory()
  const before = await start(() => [{ text: 'On the second.' }])
  expect(await resolved(before, records)).toMatchObject({ callsTools: false })
  const [key] = records.rows.keys()
  let upgraded: (request: RecordedRequest) => Reply = cutOff('length')
  const server = await start((request) => upgraded(request))
  records.rows.set(`${server.origin}/v1 m-1`, records.rows.get(key!)!)
  vi.advanceTimersByTime(29 * 86_400_000)
  expect(await resolved(server, records)).toMatchObject({ callsTools: false })
  expect(server.requests).toHaveLength(0)
  vi.advanceTimersByTime(2 * 86_400_000)
  // Until a probe judges it, the record stands.
  expect(await resolved(server, records)).toMatchObject({ callsTools: false })
  expect(server.requests).toHaveLength(1)
  upgraded = afterCall('Third floor [1].')
  expect(await resolved(server, records)).toMatchObject({ callsTools: true })
})

test('a message waits ten seconds for a slow probe, and later messages have its outcome', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const requests: ((reply: Response) => void)[] = []
  const provider = {
    name: 'p',
    type: 'openai-compatible',
    baseUrl: 'http://slow.example/v1',
    models: [{ name: 'm-1', contextTokens: 8_000 }],
  } as const
  const { resolve } = modelProviders({
    providers: [provider],
    wrapFetch: () => () => new Promise((answer) => requests.push(answer)),
  })
  const ask = async (): Promise<unknown> => (await resolve()).observed?.ask?.()
  const first = ask()
  await vi.waitUntil(() => requests.length === 1)
  vi.advanceTimersByTime(10_000)
  await first
  expect(await resolve()).not.toHaveProperty('callsTools')
  // The probe still runs: nobody waits for it again.
  await ask()
  expect(requests).toHaveLength(1)
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm-1' }
  const answer = { ...chunk, choices: [{ index: 0, delta: { content: 'Second.' }, finish_reason: 'stop' }] }
  const headers = { 'content-type': 'text/event-stream' }
  requests[0]!(new Response(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`, { headers }))
  await vi.waitUntil(async () => (await resolve()).callsTools === false)
})

test('a probe that takes too long is not made again with the next message', async () => {
  const signals: AbortController[] = []
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    signals.push(new AbortController())
    return signals.at(-1)!.signal
  })
  onTestFinished(() => timeout.mockRestore())
  let requests = 0
  const provider = {
    name: 'p',
    type: 'openai-compatible',
    baseUrl: 'http://slow.example/v1',
    models: [{ name: 'm-1', contextTokens: 8_000 }],
  } as const
  const hanging: typeof fetch = (_url, init) =>
    new Promise((_, reject) => {
      requests++
      const { signal } = init!
      signal!.addEventListener('abort', () => reject(signal!.reason as Error))
      for (const each of signals) each.abort(new DOMException('The operation timed out.', 'TimeoutError'))
    })
  const { resolve } = modelProviders({ providers: [provider], wrapFetch: () => hanging })
  await (await resolve()).observed?.ask?.()
  await (await resolve()).observed?.ask?.()
  expect(requests).toBe(1)
})

test('a model that is set to search by itself works without the help for others', async () => {
  const provider = {
    name: 'p',
    type: 'openai-compatible',
    baseUrl: 'http://local.example/v1',
    models: [{ name: 'm-1', grounding: 'tools' }],
  } as const
  const smallModels = () => Promise.reject(new Error('Run `npm install @inlay/small-models`.'))
  const { resolve } = modelProviders({ providers: [provider], smallModels })
  expect((await resolve()).model.modelId).toBe('m-1')
})

test('a model with a setting, or a known name, is not probed', async () => {
  const server = await start(() => [{ text: 'Hello.' }])
  await resolved(server, undefined, { grounding: 'tools' })
  const provider = {
    name: 'p',
    type: 'openai-compatible',
    baseUrl: `${server.origin}/v1`,
    defaultModel: 'gpt-4o',
  } as const
  const { resolve } = modelProviders({ providers: [provider] })
  await (await resolve()).observed?.ask?.()
  expect(await resolve()).toMatchObject({ callsTools: true })
  expect(server.requests).toEqual([])
})
