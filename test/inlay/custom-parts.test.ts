import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel, type Script } from '@inlay/agent/testing'
import { InlayError } from '@inlay/protocol'
import type { HostAgent } from '@inlay/agent'
import { mastraTools } from '@inlay/mastra'
import { createTool } from '@mastra/core/tools'
import { createInlay, defineAction, type Inlay, type InlayOptions } from 'inlay'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'inlay-parts-'))
const open: Inlay[] = []
let count = 0

afterEach(async () => {
  await Promise.all(open.splice(0).map((inlay) => inlay.close()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

/** An assistant with a host's own model, named `own-1`. */
function make(script: Script, options: InlayOptions = {}) {
  const model = scriptedModel(script)
  const own = {
    provider: 'own',
    name: 'own-1',
    displayName: 'Own model',
    contextTokens: 32_000,
    takesImages: false,
  }
  const inlay = createInlay({
    dataFolder: join(folder, String(++count)),
    authenticate: () => ({ id: 'ana', scopes: ['chat'] }),
    sessionNames: 'off',
    model: {
      async resolve(override) {
        if ((override?.model_version ?? own.name) !== own.name) throw new InlayError('VALIDATION_ERROR')
        return { ...own, model, temperature: override?.temperature ?? undefined }
      },
      list: async () => [{ ...own, providerType: 'own', providerDisplayName: 'Own', isDefault: true }],
    },
    ...options,
  })
  open.push(inlay)
  const ask = async (path: string, body?: object) => {
    const response = await inlay.fetch(
      new Request(`http://host.example/api${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      }),
    )
    return { status: response.status, body: await response.json() }
  }
  return {
    model,
    ask,
    say: (more: object) => ask('/chat/send-chat-message', { message: 'Hi', stream: false, ...more }),
  }
}

describe("a host's own model", () => {
  test('answers, and is listed', async () => {
    const { ask, say, model } = make([['Hello from your own.']])
    expect((await say({ llm_override: { temperature: 0.3 } })).body).toMatchObject({ answer: 'Hello from your own.' })
    expect(model.requests[0]?.temperature).toBe(0.3)
    expect((await ask('/llm/provider')).body).toMatchObject({
      providers: [{ name: 'own', model_configurations: [{ name: 'own-1', display_name: 'Own model' }] }],
      default_text: { model_name: 'own-1' },
    })
  })

  test('that is not there fails the request', async () => {
    const { say } = make([])
    expect(await say({ llm_override: { model_version: 'other' } })).toMatchObject({
      status: 400,
      body: { error_code: 'VALIDATION_ERROR' },
    })
  })
})

test("a host's actions and Mastra's tools are listed, allowed and forced by their ids", async () => {
  const orderState = defineAction({
    name: 'order_state',
    description: 'Tells how far an order is.',
    input: z.object({ number: z.string() }),
    run: async ({ number }, { caller }) => JSON.stringify({ number, of: caller.id, state: 'packed' }),
  })
  const weather = createTool({ id: 'weather', description: 'Tells the weather.', execute: async () => 'Rain.' })
  const { ask, say, model } = make(
    [[{ call: { name: 'order_state', input: { number: 'A-7' } } }], ['It is packed.'], ['No tools.']],
    { actions: [orderState, ...mastraTools(weather)] },
  )
  const listed = (await ask('/tool')).body as { id: number; name: string; in_code_tool_id: string | null }[]
  expect(listed.map(({ name, in_code_tool_id: builtIn }) => [name, builtIn])).toEqual(
    expect.arrayContaining([
      ['order_state', null],
      ['weather', null],
    ]),
  )
  const id = listed.find(({ name }) => name === 'order_state')?.id
  expect((await say({ forced_tool_id: id, allowed_tool_ids: [id] })).body).toMatchObject({
    answer: 'It is packed.',
    tool_calls: [{ tool_name: 'order_state', tool_result: '{"number":"A-7","of":"ana","state":"packed"}' }],
  })
  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['order_state'])
  await say({ allowed_tool_ids: [] })
  expect(model.requests[2]?.tools ?? []).toEqual([])
})

test("a host's agent is listed and answers in its sessions", async () => {
  const hostAgent: HostAgent = {
    id: 7,
    name: 'Concierge',
    async *respond({ prompt }) {
      yield { type: 'text', delta: `You said: ${JSON.stringify(prompt.at(-1)?.content)}` }
    },
  }
  const { ask, say } = make([], { agents: [hostAgent] })
  expect((await ask('/persona')).body).toContainEqual(expect.objectContaining({ id: 7, name: 'Concierge' }))
  const { body } = await say({ message: 'Good evening', chat_session_info: { persona_id: 7 } })
  expect(body).toMatchObject({ answer: expect.stringContaining('Good evening') })
})

test("a host's agent with instructions answers with them and its actions, for each caller anew", async () => {
  const { ask, say, model } = make(() => ['Yes.'], {
    agents: [
      {
        id: 8,
        name: 'Buyer',
        instructions: ({ caller, message, personaId }) => `${personaId}: ${caller.id} wants ${message}`,
        actions: ['add_memory'],
      },
    ],
  })
  expect((await ask('/persona')).body).toContainEqual(expect.objectContaining({ id: 8, name: 'Buyer' }))
  for (const message of ['chairs', 'desks']) await say({ message, chat_session_info: { persona_id: 8 } })
  const [chairs, desks] = model.requests.map(({ prompt }) => JSON.stringify(prompt))
  expect(chairs).toContain('8: ana wants chairs')
  expect(desks).toContain('8: ana wants desks')
  expect(desks).not.toContain('chairs')
  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['add_memory'])
})

test("a host's hooks refuse messages, tell the model more, and hear of answers", async () => {
  const heard: string[] = []
  const { say, model } = make(() => ['Fine.'], {
    hooks: {
      before: ({ message, caller }) =>
        message.includes('lottery') ? { reject: 'Only work.' } : { context: `${caller.id} works in Oslo.` },
      after: ({ answer, status }) => void heard.push(`${status}: ${answer}`),
    },
  })
  expect(await say({ message: 'lottery numbers?' })).toEqual({
    status: 400,
    body: { error_code: 'QUERY_REJECTED', detail: 'Only work.' },
  })
  expect((await say({})).status).toBe(200)
  expect(JSON.stringify(model.requests)).toContain('ana works in Oslo.')
  await Promise.all(open.splice(0).map((inlay) => inlay.close()))
  expect(heard).toEqual(['done: Fine.'])
})

test('another model, in the forms of the first, is asked what actions and searches ask', async () => {
  const helper = scriptedModel([['{"question":"How long is leave?","queries":["vacation"]}']])
  const { say, ask, model } = make([['Hello.'], ['Hello again.']], {
    questionModel: { name: 'quick', model: helper },
    sessionNames: 'model',
  })
  await say({ origin: 'webapp' })
  await expect.poll(() => helper.requests.length).toBe(1)
  expect(model.requests).toHaveLength(1)
  expect((await ask('/llm/provider')).body).toMatchObject({ providers: [{ name: 'own' }] })
})
