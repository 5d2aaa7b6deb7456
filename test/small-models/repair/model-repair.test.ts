import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai'
import { describe, expect, test } from 'vitest'
import { modelRepair, repairModel, repairModels } from '@inlay/small-models'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { providerOf } from '../../agent/setting.ts'

const search = tool({
  inputSchema: jsonSchema<{ queries: string[] }>({ type: 'object', properties: { queries: { type: 'array' } } }),
  execute: async ({ queries }) => `28 days (${queries.join()})`,
})
const call = '<tool_call>{"name": "search", "arguments": {"queries": ["leave"]}}</tool_call>'

const wrapped = (steps: readonly ScriptStep[]) => {
  const model = scriptedModel(steps)
  return { model, repaired: wrapLanguageModel({ model, middleware: modelRepair }) }
}

describe('in an app of the AI SDK', () => {
  test('a call written as text runs, while it streams and when it is generated', async () => {
    const steps = [['<think>I look.</think>Let me look.\n', call], ['It is 28.']]
    const options = { prompt: 'How many?', tools: { search }, stopWhen: isStepCount(2) }
    const streamed = streamText({ model: wrapped(steps).repaired, ...options })
    await streamed.consumeStream()
    const generated = await generateText({ model: wrapped(steps).repaired, ...options })
    for (const all of [await streamed.steps, generated.steps]) {
      expect(all.map(({ text }) => text.trim())).toEqual(['Let me look.', 'It is 28.'])
      expect(all[0]).toMatchObject({ reasoningText: 'I look.', finishReason: 'tool-calls' })
      expect(all[0]?.toolResults).toMatchObject([{ toolName: 'search', output: '28 days (leave)' }])
    }
  })

  test('arguments that are nearly JSON and a name with a namespace are understood', async () => {
    const steps = [[{ call: { name: 'functions.search', input: "{'queries': ['leave'],}" } }], ['It is 28.']]
    const { steps: all } = await generateText({
      model: wrapped(steps).repaired,
      prompt: 'How many?',
      tools: { search },
      stopWhen: isStepCount(2),
    })
    expect(all[0]?.toolResults).toMatchObject([{ output: '28 days (leave)' }])
  })

  test('a thought and the text become blocks that begin and end', async () => {
    const { repaired } = wrapped([['<think>Hm.</think>B. <think>So.</think>C.']])
    const { stream } = await repaired.doStream({ prompt: [] })
    const parts = (await partsOf(stream)).filter(({ type }) => /^(?:text|reasoning)-/.test(type))
    const open = new Set<string>()
    for (const part of parts) {
      if (!('id' in part)) continue
      const kind = part.type.replace(/-\w+$/, '')
      if (part.type.endsWith('-start')) expect(open.add(`${kind} ${part.id}`).size).toBe(1)
      else expect(open.has(`${kind} ${part.id}`)).toBe(true)
      if (part.type.endsWith('-end')) open.delete(`${kind} ${part.id}`)
    }
    expect(open.size).toBe(0)
    expect(parts.flatMap((part) => ('delta' in part ? [part.delta] : [])).join('|')).toBe('Hm.|B. <think>So.</think>C.')
  })
})

async function partsOf(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

describe('a model that needs no repair', () => {
  const metadata = { p: { id: 'item-1' } }
  const steps = [
    [
      { reasoning: ['I ', 'see'] },
      { part: { type: 'text-start', id: 't', providerMetadata: metadata } },
      { part: { type: 'text-delta', id: 't', delta: 'Hello ' } },
      { part: { type: 'text-delta', id: 't', delta: 'there.' } },
      { part: { type: 'text-end', id: 't', providerMetadata: metadata } },
      { call: { name: 'search', input: { queries: ['a'] } } },
    ],
  ] satisfies ScriptStep[]

  test('gives the same parts', async () => {
    const read = async (model: LanguageModelV4) => partsOf((await model.doStream({ prompt: [] })).stream)
    expect(await read(wrapped(steps).repaired)).toEqual(await read(scriptedModel(steps)))
  })

  test('gives the same content', async () => {
    const read = async (model: LanguageModelV4) => model.doGenerate({ prompt: [] })
    expect(await read(wrapped(steps).repaired)).toEqual(await read(scriptedModel(steps)))
  })

  test('gives a listener each delta as it comes, and then the same parts', async () => {
    const heard: string[] = []
    const { stream } = await repairModel(scriptedModel(steps)).doStreamTapped(
      { prompt: [] },
      { onText: (delta) => void heard.push(delta), onReasoning: (delta) => void heard.push(delta) },
    )
    const tapped = await partsOf(stream)
    expect(heard).toEqual(['I ', 'see', 'Hello ', 'there.'])
    const direct = await partsOf((await scriptedModel(steps).doStream({ prompt: [] })).stream)
    const ofKind = (parts: LanguageModelV4StreamPart[], kind: RegExp) => parts.filter(({ type }) => kind.test(type))
    for (const kind of [/^(?:text|reasoning)/, /^(?!text|reasoning)/])
      expect(ofKind(tapped, kind)).toEqual(ofKind(direct, kind))
  })
})

test('a model is repaired once, and one that only quotes documents is not', async () => {
  const model = scriptedModel([])
  const repaired = repairModel(model)
  expect(repairModel(repaired)).toBe(repaired)
  expect((await repairModels(providerOf(model, { quotesOnly: true })).resolve()).model).toBe(model)
  expect((await repairModels(providerOf(model)).resolve()).model).not.toBe(model)
})

test('what one model object teaches is not applied to another of the same name', async () => {
  const heard = async (repaired: ReturnType<typeof repairModel>): Promise<readonly string[]> => {
    const said: string[] = []
    const listener = {
      onText: (delta: string) => void said.push(`text: ${delta}`),
      onReasoning: (delta: string) => void said.push(`reasoning: ${delta}`),
    }
    await partsOf((await repaired.doStreamTapped({ prompt: [] }, listener)).stream)
    return said
  }
  const first = repairModel(scriptedModel([['28 is the number.</think>28 days.'], ['Twenty-eight']]))
  const second = repairModel(scriptedModel([['Twenty-eight']]))
  await heard(first)
  expect(await heard(second)).toEqual(['text: Twenty-eight'])
  expect(await heard(first)).toContain('reasoning: Twenty-eight')
})

test('once a model has called by the API, a call in its text is text', async () => {
  const { repaired } = wrapped([[call], [{ call: { name: 'search', input: {} } }], [call]])
  const options = { prompt: [], tools: [{ type: 'function' as const, name: 'search', inputSchema: {} }] }
  const typesOf = async () => (await repaired.doGenerate(options)).content.map(({ type }) => type)
  expect([await typesOf(), await typesOf(), await typesOf()]).toEqual([['tool-call'], ['tool-call'], ['text']])
})
