import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { createAgent } from '@inlay/agent'
import { promptTokens } from '@inlay/agent/internal/prompt/context-window'
import { expect, onTestFinished, test } from 'vitest'
import { ana, inShort, newPassage, newSetting, providerOf, readAll, toRequest } from '../setting.ts'

const tooLong = Object.assign(new Error('prompt is too long: 210000 tokens > 200000 maximum'), {
  name: 'AI_APICallError',
  statusCode: 400,
})
const words = 'word '.repeat(500)

/** A conversation of some turns, and how its last message is answered. */
async function lastOf(turns: number, last: ScriptStep[]) {
  const model = scriptedModel([...Array.from({ length: turns }, (): ScriptStep => [words]), ...last])
  const agent = createAgent({ models: providerOf(model, { contextTokens: 100_000 }) })
  onTestFinished(() => agent.close())
  let sessionId: string | null = null
  for (let turn = 0; turn < turns; turn++) {
    const run = await agent.send(toRequest({ message: `Question ${turn}?`, chat_session_id: sessionId }), {
      caller: ana,
    })
    await run.whole()
    sessionId = run.sessionId
  }
  const run = await agent.send(toRequest({ message: 'The newest?', chat_session_id: sessionId }), { caller: ana })
  return { lines: await readAll(run), requests: model.requests.slice(turns) }
}

test('a prompt that the model finds too long is sent again, shorter, with the newest question', async () => {
  const { lines, requests } = await lastOf(12, [{ reject: tooLong }, ['Yes.']])
  expect(lines.map(inShort)).toContain('0.0 message_delta "Yes."')
  const [first, second] = requests.map(({ prompt }) => prompt)
  expect(promptTokens(second!)).toBeLessThanOrEqual(promptTokens(first!) * 0.6)
  expect(second!.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'The newest?' }] })
  expect(second![1]?.role).toBe('user')
})

test('one that is too long however short it is fails, once nothing more can be left out', async () => {
  const { lines, requests } = await lastOf(12, [...Array.from({ length: 20 }, () => ({ reject: tooLong })), ['never']])
  expect(lines.map(inShort).at(-1)).toBe('error line CONTEXT_TOO_LONG')
  expect(requests.length).toBeGreaterThan(2)
  expect(requests.length).toBeLessThan(20)
})

test('long results of earlier searches push no message out of the prompt', async () => {
  const search = { call: { name: 'internal_search', input: { queries: ['leave'] } } }
  const model = scriptedModel(({ prompt }) => [prompt.at(-1)?.role === 'tool' ? '25 days [1].' : search])
  const { send } = await newSetting(() => [], {
    models: providerOf(model, { contextTokens: 32_000 }),
    search: async () => Array.from({ length: 25 }, (_, at) => newPassage(`leave ${at}`, words)),
  })
  let sessionId: string | null = null
  for (let turn = 0; turn < 8; turn++) {
    sessionId = (await (await send({ message: `Question ${turn}?`, chat_session_id: sessionId })).whole())
      .chat_session_id
  }
  const first = model.requests
    .map(({ prompt }) => prompt)
    .filter((prompt) => JSON.stringify(prompt.at(-1)).includes('Question'))
  expect(first).toHaveLength(8)
  for (const [turn, prompt] of first.slice(1).entries()) {
    expect(prompt.slice(0, first[turn]!.length)).toEqual(first[turn])
  }
})
