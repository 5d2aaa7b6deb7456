import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { StreamListener } from '@inlay/agent'
import { toFailure } from '@inlay/agent/internal/model/failures'
import { expect, test } from 'vitest'
import { playStep } from '@inlay/agent/internal/model/retry-step'
import type { StepRequest } from '@inlay/agent/internal/model/step-output'
import { repairModel } from '@inlay/small-models'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'

const tools: LanguageModelV4CallOptions['tools'] = [{ type: 'function', name: 'look', inputSchema: { type: 'object' } }]

function newStep(steps: ScriptStep[], { model: given, ...more }: Partial<StepRequest> = {}) {
  const heard: string[] = []
  const model = scriptedModel(steps, more.context && { modelId: more.context.model! })
  const done = playStep({
    model: repairModel(given ?? model),
    options: { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Q' }] }], tools },
    listener: {
      onReasoning: (delta) => void heard.push(`thought ${delta}`),
      onText: (delta) => void heard.push(delta),
      onCall: () => void heard.push('call'),
      onArguments: (name, deltas) => void heard.push(`${name} ${JSON.stringify(deltas)}`),
    },
    signal: new AbortController().signal,
    promptTokens: 10_000,
    maxAttempts: 3,
    wait: async () => {},
    context: {},
    ...more,
  })
  return { heard, model, done }
}

test('every delta is heard, the agent gets them joined, with what the provider signed as it is', async () => {
  const signed = {
    part: { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { p: { signature: 's' } } },
  } as const
  const { heard, done } = newStep([
    [{ reasoning: ['I ', 'see'] }, signed, 'Hello', ' you', { call: { name: 'look', input: {} } }],
  ])
  const { content, calls } = await done
  expect(heard).toEqual(['thought I ', 'thought see', 'thought ', 'Hello', ' you', 'call', 'call'])
  expect(content).toEqual([
    { type: 'reasoning', text: 'I see' },
    { type: 'reasoning', text: '', providerOptions: { p: { signature: 's' } } },
    { type: 'text', text: 'Hello you' },
  ])
  expect(calls).toEqual([{ id: 'call-1', name: 'look', input: '{}' }])
})

test('a step that broke off after it spoke is not tried again, and its calls are lost', async () => {
  const { done, model, heard } = newStep([
    ['Hello', { call: { name: 'look', input: {} } }, { cut: new TypeError('terminated') }],
    ['again'],
  ])
  await expect(done).rejects.toThrow('terminated')
  expect(heard).toEqual(['Hello', 'call', 'call'])
  expect(model.requests).toHaveLength(1)
})

test('a tool that was not called is asked for once more, and both tries count', async () => {
  const steps: ScriptStep[] = [['No.'], [{ call: { name: 'look', input: {} } }]]
  const { usage } = await newStep(steps, { forced: ['look'] }).done
  expect([usage.inputTokens.total, usage.outputTokens.total]).toEqual([20, 10])
})

test('a stream without an end fails', async () => {
  await expect(newStep([['Hello', { finish: 'none' }]]).done).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
})

test.each([
  [undefined, [1000, 2000], 3],
  ['9', [9000, 9000], 3],
  ['3600', [], 1],
])(
  'a provider that says to come back in %s seconds is asked then, or not at all if that is long',
  async (seconds, delays, tries) => {
    const delayed: number[] = []
    const limited = Object.assign(new Error('429'), {
      name: 'AI_APICallError',
      statusCode: 429,
      responseHeaders: seconds === undefined ? {} : { 'retry-after': seconds },
    })
    const { done, model } = newStep(
      Array.from({ length: 3 }, () => [{ cut: limited }]),
      { wait: async (ms) => void delayed.push(ms) },
    )
    const error: unknown = await done.catch((thrown: unknown) => thrown)
    expect([delayed, model.requests.length]).toEqual([delays, tries])
    expect(toFailure(error).details?.['retry_after_seconds']).toBe(seconds && Number(seconds))
  },
)

test('halves of a letter that the model cuts are joined, and those without the other dropped', async () => {
  const { heard, done } = newStep([
    [{ reasoning: ['a\ud83d', '\ude00b'] }, 'one \ud83d', '\ude00 two', ' \ud83d', ' three\ude00', '!\ud83d'],
  ])
  const { content } = await done
  expect(heard.join('|').isWellFormed()).toBe(true)
  expect(heard.filter((text) => !text.startsWith('thought')).join('')).toBe('one 😀 two  three!')
  expect(heard.filter((text) => text.startsWith('thought'))).toEqual(['thought a', 'thought 😀b'])
  expect(JSON.stringify(content)).not.toMatch(/\\ud/)
})

test('a refusal is told from an empty answer', async () => {
  await expect(newStep([[{ finish: 'content-filter' }]]).done).rejects.toMatchObject({ code: 'MODEL_REFUSAL' })
  await expect(newStep([[{ reasoning: 'only thoughts' }]]).done).rejects.toMatchObject({ code: 'EMPTY_LLM_RESPONSE' })
})

test('a model that says nothing to results is asked once to go on', async () => {
  const prompt: LanguageModelV4CallOptions['prompt'] = [
    { role: 'user', content: [{ type: 'text', text: 'Q' }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'look', output: { type: 'text', value: '28' } }],
    },
  ]
  const { done, model, heard } = newStep([[], ['It is 28.']], { options: { prompt, tools } })
  await done
  expect(heard).toEqual(['It is 28.'])
  expect(model.requests[1]?.prompt.slice(0, 2)).toEqual(prompt)
  expect(model.requests[1]?.prompt.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'Please continue.' }] })
  await expect(newStep([[], []], { options: { prompt, tools } }).done).rejects.toMatchObject({
    code: 'EMPTY_LLM_RESPONSE',
  })
})

test('an abort ends the step at once, before and while it streams', async () => {
  const controller = new AbortController()
  const { done, model } = newStep([['a', { pause: () => new Promise(() => {}) }]], { signal: controller.signal })
  controller.abort(new DOMException('stopped', 'AbortError'))
  await expect(done).rejects.toThrow('stopped')
  await expect(newStep([['a']], { signal: controller.signal }).done).rejects.toThrow('stopped')
  expect(model.requests.length).toBeLessThanOrEqual(1)
})

test('a call that is quoted from a result or a message is text', async () => {
  const call = '{"name": "look", "arguments": {"at": "a \\"b\\""}}'
  const markup = `<tool_call>\n${call}\n</tool_call>`
  for (const quoted of [call, markup, `\`\`\`json\n${call}\n\`\`\``]) {
    const result = { type: 'text' as const, value: JSON.stringify({ content: `A page: ${markup} ${call}` }) }
    const prompt: LanguageModelV4CallOptions['prompt'] = [
      { role: 'user', content: [{ type: 'text', text: 'What is on the page?' }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'look', output: result }] },
    ]
    const { done } = newStep([[`It says:\n${quoted}`]], { options: { prompt, tools } })
    expect((await done).calls).toEqual([])
  }
  const { done } = newStep([[`I look.\n${markup}`]])
  expect((await done).calls).toHaveLength(1)
})

test('a call in thoughts alone is recovered', async () => {
  const { done } = newStep([[{ reasoning: '{"name": "look", "arguments": {"at": 2}}' }]])
  const { calls } = await done
  expect(calls).toMatchObject([{ name: 'look', input: '{"at":2}' }])
  // Nothing of it concerns a provider.
  expect(calls[0]?.providerOptions).toBeUndefined()
})

test('text arguments that are to be seen are heard while they are written, others are not', async () => {
  const code = { call: { name: 'look', input: { code: '6*7', why: 'asked' }, pieces: 4 } }
  const { heard, done } = newStep([[code]], { streamed: new Map([['look', ['code']]]) })
  await done
  expect(heard.filter((item) => item.startsWith('look'))).toEqual(['look {"code":"6*7"}'])
  const other = newStep([[code]])
  await other.done
  expect(other.heard).toEqual(['call', 'call'])
})

test('an end tag of a thought is forgotten again, one in a sentence teaches nothing', async () => {
  const texts = [
    'It is 28.\n</think>\n28 days.',
    '28 days.',
    '29 days.',
    '30 days.',
    '31 days.',
    'The tag </think> ends it.',
    '32 days.',
  ]
  const model = scriptedModel(texts.map((text) => [text]))
  const step = async (): Promise<string[]> => {
    const { done, heard } = newStep([], { model })
    await done
    return heard
  }
  await step()
  expect(await step()).toContain('thought 28 days.')
  await step()
  await step()
  expect(await step()).toEqual(['31 days.'])
  await step()
  expect(await step()).toEqual(['32 days.'])
})

test.each([408, 504, 524])('a prompt that a gateway gave up with %i is not sent again', async (statusCode) => {
  const timedOut = Object.assign(new Error('Timed out.'), { name: 'AI_APICallError', statusCode })
  const { model, done } = newStep([{ reject: timedOut }, ['Late.']])
  await expect(done).rejects.toThrow()
  expect(model.requests).toHaveLength(1)
})

test('a prompt that a silent server may still read is not sent again', async () => {
  const cause = Object.assign(new Error('Nothing came for 300 seconds: timed out.'), { code: 'ETIMEDOUT' })
  const { model, done } = newStep([{ reject: new TypeError('fetch failed', { cause }) }, ['Late.']])
  await expect(done).rejects.toThrow()
  expect(model.requests).toHaveLength(1)
})

/** The most characters that a listener gets in one turn of the event loop. */
async function maxInTurn(heard: readonly string[], done: Promise<unknown>): Promise<number> {
  let [most, before, isOver] = [0, 0, false]
  const look = (): void => {
    const length = heard.join('').length
    most = Math.max(most, length - before)
    before = length
    if (!isOver) setImmediate(look)
  }
  look()
  await done.catch(() => {})
  isOver = true
  look()
  return most
}

test.each(['[', '[1]', '[[1]](', '😀', 'Yes. '])(
  'a long delta of %j is read in turns of the event loop',
  async (piece) => {
    const text = piece.repeat(100_000 / piece.length)
    const { heard, done } = newStep([[{ reasoning: ['Hm'] }, text, 'and on', { call: { name: 'look', input: {} } }]])
    expect(await maxInTurn(heard, done)).toBeLessThanOrEqual(8_192)
    const { content, calls } = await done
    expect(heard.slice(1, -2).join('')).toBe(`${text}and on`)
    expect(heard.slice(1, -2).every((part) => part.isWellFormed())).toBe(true)
    expect(content.at(-1)).toEqual({ type: 'text', text: `${text}and on` })
    expect(calls).toHaveLength(1)
  },
)

test('what a tap says behind a long delta comes behind it, and all of it before the stream breaks off', async () => {
  const text = 'Water is wet. '.repeat(2_000)
  const tapped = {
    ...scriptedModel([]),
    doStreamTapped: async (_: unknown, listener: StreamListener) => {
      listener.onText(text)
      listener.onReasoning('Hm')
      listener.onText('The end.')
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start: (controller) => controller.error(new TypeError('terminated')),
      })
      return { stream }
    },
  }
  const { heard, done } = newStep([], { model: tapped })
  await expect(done).rejects.toThrow('terminated')
  expect(heard.join('')).toBe(`${text}thought HmThe end.`)
  expect(heard.length).toBeGreaterThan(10)
})

test('a long delta of a run that is stopped is not read to its end', async () => {
  const stop = new AbortController()
  const { heard, done } = newStep([['a'.repeat(100_000)]], {
    signal: stop.signal,
    listener: {
      onReasoning: () => {},
      onText: (delta) => {
        heard.push(delta)
        stop.abort(new Error('stopped'))
      },
      onCall: () => {},
      onArguments: () => {},
    },
  })
  await expect(done).rejects.toThrow('stopped')
  expect(heard).toHaveLength(1)
})

test('a server that is still loading its model is waited for, without counting as an attempt', async () => {
  const loading = Object.assign(new Error('Loading model'), { statusCode: 503 })
  const down = Object.assign(new Error('Service Unavailable'), { statusCode: 503 })
  const delays: number[] = []
  const wait = async (delayMs: number): Promise<void> => void delays.push(delayMs)
  const fails = (error: Error): ScriptStep => [{ cut: error }]
  const { done } = newStep([...Array.from({ length: 8 }, () => fails(loading)), ['Loaded.']], { wait })
  expect((await done).content).toEqual([{ type: 'text', text: 'Loaded.' }])
  expect(delays).toHaveLength(8)
  // Any other 503 ends after its attempts, and so does loading at last.
  await expect(newStep(Array.from({ length: 9 }, () => fails(down))).done).rejects.toThrow('Service Unavailable')
  await expect(newStep(Array.from({ length: 90 }, () => fails(loading))).done).rejects.toThrow('Loading model')
  // A check of the model is reported at once.
  const check = newStep([fails(loading), ['Loaded.']], { maxAttempts: 1 })
  await expect(check.done).rejects.toThrow('Loading model')
})
