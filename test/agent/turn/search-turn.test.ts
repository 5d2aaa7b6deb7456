import { expect, test } from 'vitest'
import type { ModelProvider, Passage, PassageSearch, Run } from '@inlay/agent'
import { scriptedModel, type Script } from '@inlay/agent/testing'
import { InlayError, type SendMessageInput } from '@inlay/protocol'
import { ana, inShort, newPassage, newSetting, packetsOf, readAll, type Setting } from '../setting.ts'
import { orderFaults } from '../packet-order.ts'

const leave = newPassage('leave', 'Full-time staff receive 25 days.')
const many = Array.from({ length: 20 }, (_, at): Passage => newPassage(`d${at}`, `Text ${at}.`))

/** A model that answers by what it is asked: questions of the search have no tools. */
const helpful =
  (expansion: string): Script =>
  ({ prompt, tools }) => {
    const promptText = JSON.stringify(prompt)
    if (!tools && promptText.includes('You prepare a search')) return [expansion]
    const question = prompt.findLastIndex(({ role }) => role === 'user')
    if (JSON.stringify(prompt[question]).includes(greeting)) return ['Hello.']
    const hasResult = prompt.slice(question).some(({ role }) => role === 'tool')
    return hasResult
      ? ['It is 25 [1].']
      : [{ call: { name: 'internal_search', input: { queries: ['annual leave'], sources: ['confluence'] } } }]
  }

const withHelp = { searchHelp: {} }

const greeting = 'Good morning'
/** Sends a question that follows something: the search of a first question is not helped. */
async function sendFollowUp({ send }: Pick<Setting, 'send'>, input: Partial<SendMessageInput> = {}): Promise<Run> {
  const first = await send({ message: greeting })
  await first.whole()
  return send({ ...input, chat_session_id: first.sessionId })
}

test('a search with all its help keeps the order of packets, and is told as it was effective', async () => {
  const script = helpful('{"question": "How long is annual leave?", "keywords": ["holiday allowance"]}')
  const { send, model } = await newSetting(script, { ...withHelp, search: async () => [leave, ...many] })
  const lines = await readAll(await sendFollowUp({ send }))
  expect(orderFaults(lines)).toEqual([])
  expect(lines.map(inShort).slice(1, 5)).toEqual([
    '0.0 search_tool_start internal',
    expect.stringContaining('search_tool_filter_delta'),
    expect.stringContaining('search_tool_queries_delta'),
    expect.stringContaining('search_tool_documents_delta'),
  ])
  expect(packetsOf(lines).map(({ obj }) => obj)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'search_tool_filter_delta', sources: ['confluence'] }),
      expect.objectContaining({
        type: 'search_tool_queries_delta',
        queries: ['How long is annual leave?', 'annual leave', 'holiday allowance'],
      }),
    ]),
  )
  expect(model.requests).toHaveLength(4)
})

test('what is stored of a call are the queries that the model gave itself; shown again is what was streamed', async () => {
  const script = helpful('{"question": "How long is annual leave?"}')
  const { agent, send } = await newSetting(script, { ...withHelp, search: async () => [leave] })
  const run = await sendFollowUp({ send })
  const whole = await run.whole()
  expect(whole.tool_calls[0]?.tool_arguments).toEqual({ queries: ['annual leave'], sources: ['confluence'] })
  const { packets } = await agent.sessions.get(run.sessionId, ana)
  const replayed = packets.at(-1)!.flatMap(({ obj }) => (obj.type === 'search_tool_queries_delta' ? obj.queries : []))
  expect(replayed).toEqual(['How long is annual leave?', 'annual leave'])
})

test('questions of a search count with the spend of its answer', async () => {
  const script = helpful('{}')
  const { send } = await newSetting(script, { ...withHelp, search: async () => [leave] })
  const lines = await readAll(await sendFollowUp({ send }, { include_usage: true }))
  expect(lines.at(-1)).toMatchObject({ obj: { usage: { output_tokens: 15 } } })
})

test('a host may name another model for the questions; one that cannot be found costs their help alone', async () => {
  const quick = scriptedModel(helpful('{"question": "How long is annual leave?"}'))
  const answering = scriptedModel(helpful(''))
  const base = { provider: 'p', contextTokens: 50_000, takesImages: false }
  const models: ModelProvider = {
    resolve: async (override) => {
      if (override?.model_version === 'gone') throw new InlayError('VALIDATION_ERROR')
      return override?.model_version === 'quick'
        ? { ...base, name: 'quick', displayName: 'Quick', model: quick }
        : { ...base, name: 'main', displayName: 'Main', model: answering }
    },
    list: async () => [],
  }
  const search: PassageSearch = async () => [leave]
  const named = await newSetting([], {
    ...withHelp,
    models,
    search,
    questionModel: { ...models, resolve: () => models.resolve({ model_version: 'quick' }) },
  })
  const lines = await readAll(await sendFollowUp(named))
  expect(lines.map(inShort).join()).toContain('How long is annual leave?')
  expect([quick.requests.length, answering.requests.length]).toEqual([1, 3])

  const broken = await newSetting([], {
    ...withHelp,
    models,
    search,
    questionModel: { ...models, resolve: () => models.resolve({ model_version: 'gone' }) },
  })
  expect((await readAll(await sendFollowUp(broken))).at(-1)).toMatchObject({ obj: { type: 'stop', stop_reason: null } })
  expect(broken.errors).toMatchObject([{ code: 'VALIDATION_ERROR' }])
})

test('a model that fails at every question of a search still gets its results', async () => {
  const answers = helpful('')
  const script: Script = (call, index) =>
    JSON.stringify(call.prompt).includes('You prepare a search') || typeof answers !== 'function'
      ? { reject: new Error('overloaded') }
      : answers(call, index)
  const search: PassageSearch = async () => [leave, ...many]
  const { send, errors } = await newSetting(script, { ...withHelp, search })
  const said = (await readAll(await sendFollowUp({ send }))).map(inShort)
  expect(said.at(-1)).toMatch(/stop/)
  expect(said.some((line) => line.includes('[leave, d0'))).toBe(true)
  expect(errors).toEqual([])
})
