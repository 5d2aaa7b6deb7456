import { modelProviders, type AbilityRecords, type ModelAbilities } from '@inlay/drivers/model-providers'
import type { ResolvedModel } from '@inlay/agent'
import { expect, onTestFinished, test } from 'vitest'
import type { RecordedRequest, Reply, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

async function start(reply: (request: RecordedRequest) => Reply): Promise<StandIn> {
  const server = await startOpenAi(reply)
  onTestFinished(() => server.close())
  return server
}

/** The model after its first use in a process. */
async function resolved(server: StandIn, abilities?: AbilityRecords, more: object = {}): Promise<ResolvedModel> {
  const models = [{ name: 'm-1', ...more }]
  const provider = { name: 'p', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models } as const
  const { resolve } = modelProviders({ providers: [provider], ...(abilities && { abilities }) })
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
  [
    'refuses tools',
    () => ({ status: 400, body: { error: { message: 'm-1 does not support tools' } } }),
    { callsTools: false },
    1,
  ],
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

test('a probe that fails says nothing: it is made again', async () => {
  const records = inMemory()
  let isDown = true
  const server = await start((request) => (isDown ? { status: 500 } : afterCall('Third floor [1].')(request)))
  expect(await resolved(server, records)).not.toHaveProperty('callsTools')
  expect(records.rows.size).toBe(0)
  isDown = false
  expect(await resolved(server, records)).toMatchObject({ callsTools: true })
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
