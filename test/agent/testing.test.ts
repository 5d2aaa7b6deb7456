import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { scriptedModel, type Script } from '@inlay/agent/testing'
import type { ActionTurn } from '@inlay/agent'
import { scriptedAction } from './scripted-action.ts'

const call = (more: Partial<LanguageModelV4CallOptions> = {}): LanguageModelV4CallOptions => ({
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  ...more,
})

async function stream(
  script: Script,
  more?: Partial<LanguageModelV4CallOptions>,
): Promise<LanguageModelV4StreamPart[]> {
  const { stream: parts } = await scriptedModel(script).doStream(call(more))
  const all: LanguageModelV4StreamPart[] = []
  for await (const part of parts) all.push(part)
  return all
}

const shape = (parts: readonly LanguageModelV4StreamPart[]) =>
  parts.map((part) => ('delta' in part ? `${part.type} ${part.delta}` : part.type))

test('strings are deltas of one text, which ends with the reason stop', async () => {
  const parts = await stream([['Hel', 'lo']])
  expect(shape(parts)).toEqual(['stream-start', 'text-start', 'text-delta Hel', 'text-delta lo', 'text-end', 'finish'])
  expect(parts.at(-1)).toMatchObject({ finishReason: { unified: 'stop' }, usage: { outputTokens: { total: 5 } } })
})

test('arguments of several calls arrive interleaved and the step ends with tool-calls', async () => {
  const parts = await stream([
    [
      { reasoning: ['hm', 'm'] },
      {
        calls: [
          { name: 'a', input: { x: 1 } },
          { name: 'b', input: '{broken' },
        ],
      },
    ],
  ])
  expect(shape(parts).slice(5)).toEqual([
    'tool-input-start',
    'tool-input-start',
    'tool-input-delta {"x"',
    'tool-input-delta {bro',
    'tool-input-delta :1}',
    'tool-input-delta ken',
    'tool-input-end',
    'tool-call',
    'tool-input-end',
    'tool-call',
    'finish',
  ])
  expect(parts.filter((part) => part.type === 'tool-call').map((part) => [part.toolCallId, part.input])).toEqual([
    ['call-1', '{"x":1}'],
    ['call-2', '{broken'],
  ])
})

test('a step can reject, send an error part, break, or end without a finish part', async () => {
  await expect(stream([{ reject: new Error('no') }])).rejects.toThrow('no')
  await expect(stream([['some', { cut: new Error('gone') }]])).rejects.toThrow('gone')
  expect(shape(await stream([[{ error: new Error('bad') }, 'text']]))).toContain('error')
  expect(shape(await stream([['text', { finish: 'none' }]])).at(-1)).toBe('text-end')
})

test('a hanging step ends only by abort', async () => {
  const controller = new AbortController()
  const model = scriptedModel([['partial', { hang: true }]])
  const { stream: parts } = await model.doStream(call({ abortSignal: controller.signal }))
  const seen: string[] = []
  const reading = (async () => {
    for await (const part of parts) {
      seen.push(part.type)
      if (part.type === 'text-delta') controller.abort(new Error('stopped'))
    }
  })()
  await expect(reading).rejects.toThrow('stopped')
  expect(seen).toContain('text-delta')
  expect(model.abandoned()).toBe(1)
})

test('a step waits for what it is handed, and timers run while it streams', async () => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 0)
  setTimeout(open)
  const parts = await stream([['a', { pause: () => gate }, { text: Array.from({ length: 20_000 }, () => 'b') }]])
  clearInterval(timer)
  expect(parts.length).toBeGreaterThan(20_000)
  expect(ticks).toBeGreaterThan(0)
})

test('steps follow one another, prompts are kept, and a call beyond the script rejects', async () => {
  const model = scriptedModel([['one'], [{ text: ['two'] }, { call: { name: 't', input: {} } }]])
  await model.doStream(call())
  const whole = await model.doGenerate(call({ temperature: 0.5 }))
  expect(whole.content.map((part) => part.type)).toEqual(['text', 'tool-call'])
  expect(whole.finishReason.unified).toBe('tool-calls')
  expect(model.requests.map((item) => item.temperature)).toEqual([undefined, 0.5])
  await expect(model.doStream(call())).rejects.toThrow('no step for call 3')
})

test('a script may be a function of the call', async () => {
  const parts = await stream((call, index) => [`${index}:${call.prompt.length}`])
  expect(shape(parts)).toContain('text-delta 0:1')
})

test('a scripted action sends its packets, cites its documents and fails as told', async () => {
  const log: unknown[] = []
  // Only these members are used by a scripted action.
  const turn = {
    emit: (packet: unknown) => log.push(packet),
    cite: (all: readonly unknown[]) => (log.push(all.length), [1]),
  } as never as ActionTurn
  const action = scriptedAction({
    id: 1,
    name: 'find',
    packets: [{ type: 'section_end' }],
    documents: [],
    result: { text: 'found' },
  })
  expect(await action.run({ q: 1 }, turn)).toEqual({ text: 'found', foundDocuments: [] })
  expect(log).toEqual([{ type: 'section_end' }, 0])
  expect(action.calls[0]?.input).toEqual({ q: 1 })
  await expect(scriptedAction({ id: 2, name: 'f', fails: new Error('no') }).run({}, turn)).rejects.toThrow('no')
})
