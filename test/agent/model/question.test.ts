import { describe, expect, test } from 'vitest'
import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import { createQuestions, SlowModels, type QuestionOptions } from '@inlay/agent/internal/model/questions'
import { scriptedModel, type Script } from '@inlay/agent/testing'

function questions(script: Script, more: Partial<QuestionOptions> = {}) {
  const model = scriptedModel(script)
  const usages: LanguageModelV4Usage[] = []
  const delays: number[] = []
  const ask = createQuestions({
    model: {
      model,
      provider: 'scripted',
      name: 'script-1',
      displayName: 'Scripted',
      contextTokens: 8_000,
      takesImages: false,
    },
    modelIndex: 0,
    signal: new AbortController().signal,
    maxAttempts: 3,
    wait: async (delayMs) => void delays.push(delayMs),
    timeoutMs: 60_000,
    onUsage: (usage) => usages.push(usage),
    ...more,
  })
  return { ask: ask!, model, usages, delays }
}

describe('a question of an action', () => {
  test('goes to the model alone, without tools, and its cost is told', async () => {
    const { ask, model, usages } = questions([[' An', ' answer. ']])
    expect(await ask({ instructions: 'Be short.', text: 'Why?' })).toBe('An answer.')
    expect(model.requests[0]?.prompt).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: [{ type: 'text', text: 'Why?' }] },
    ])
    expect(model.requests[0]?.tools).toBeUndefined()
    expect(model.requests[0]?.reasoning).toBeUndefined()
    expect(usages).toMatchObject([{ inputTokens: { total: 10 }, outputTokens: { total: 5 } }])
  })

  test('has room for thoughts, within the window, and the effort that the session is set to', async () => {
    const { ask, model } = questions([['Yes.']], { reasoning: 'none' })
    await ask({ instructions: '', text: 'Well?', answerTokens: 100 })
    expect(model.requests[0]).toMatchObject({ maxOutputTokens: 2_000, reasoning: 'none' })
  })

  test('is put again when the model cannot be reached for a moment', async () => {
    const unreachable = Object.assign(new Error('fetch failed'), { name: 'AI_APICallError', statusCode: 503 })
    const { ask, delays } = questions([{ reject: unreachable }, ['Yes.']])
    expect(await ask({ instructions: '', text: 'Well?' })).toBe('Yes.')
    expect(delays).toHaveLength(1)
  })

  test('that is too long for the model loses its end', async () => {
    const { ask, model } = questions([['Yes.']])
    await ask({ instructions: '', text: 'word '.repeat(20_000) })
    expect(JSON.stringify(model.requests[0]?.prompt).length).toBeLessThan(8_000 * 4)
  })

  test('ends when the run is stopped, when its own signal aborts, and when time is up', async () => {
    const run = new AbortController()
    const stopped = questions([[{ hang: true }]], { signal: run.signal })
    const answer = stopped.ask({ instructions: '', text: 'Well?' })
    run.abort(new Error('stopped'))
    await expect(answer).rejects.toThrow('stopped')

    const own = new AbortController()
    const given = questions([[{ hang: true }]]).ask({ instructions: '', text: 'Well?', signal: own.signal })
    own.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')

    const slow = questions([[{ hang: true }]], { timeoutMs: 1 }).ask({ instructions: '', text: 'Well?' })
    await expect(slow).rejects.toMatchObject({ code: 'GATEWAY_TIMEOUT' })
  })

  test('may go to another model, with its own window and as it is set to think', async () => {
    const quick = scriptedModel([['Quick.']])
    const helper = async () => ({
      model: quick,
      provider: 'p',
      name: 'quick',
      displayName: 'Quick',
      contextTokens: 4_000,
      takesImages: false,
    })
    const { ask, model, usages } = questions([], { helper, reasoning: 'high' })
    expect(await ask({ instructions: '', text: 'Well?' })).toBe('Quick.')
    expect(model.requests).toEqual([])
    expect(quick.requests[0]).toMatchObject({ maxOutputTokens: 1_000 })
    expect(quick.requests[0]?.reasoning).toBeUndefined()
    expect(usages).toHaveLength(1)
  })

  test('without an answer says so', async () => {
    await expect(questions([[]]).ask({ instructions: '', text: 'Well?' })).rejects.toMatchObject({
      code: 'EMPTY_LLM_RESPONSE',
    })
  })

  test('cannot be put to a model that only quotes', () => {
    const model = { model: scriptedModel([]), provider: 'p', name: 'n', displayName: 'n', contextTokens: 100 }
    const options = { modelIndex: 0, signal: AbortSignal.timeout(1), maxAttempts: 1, timeoutMs: 1, onUsage: () => {} }
    const created = createQuestions({
      ...options,
      wait: async () => {},
      model: { ...model, takesImages: false, quotesOnly: true },
    })
    expect(created).toBeUndefined()
  })
})

describe('a model that was slow to answer what can be done without', () => {
  const optional = { instructions: '', text: 'Well?' }

  test('is spared such questions of other answers too, until it is tried again', async () => {
    const slowModels = new SlowModels()
    const own = new AbortController()
    const first = questions([[{ hang: true }]], { slowModels }).ask({ ...optional, signal: own.signal })
    own.abort(new Error('too long'))
    await expect(first).rejects.toThrow('too long')

    const { ask, model } = questions(() => ['Yes.'], { slowModels })
    const { signal } = new AbortController()
    for (let count = 0; count < 50; count++)
      await expect(ask({ ...optional, signal })).rejects.toMatchObject({ code: 'GATEWAY_TIMEOUT' })
    expect(model.requests).toEqual([])
    expect(await ask({ ...optional, signal })).toBe('Yes.')
  })

  test('is asked all the same what has to be known, and when only the run was stopped', async () => {
    const slowModels = new SlowModels()
    const run = new AbortController()
    const stopped = questions([[{ hang: true }]], { slowModels, signal: run.signal })
    const stopping = stopped.ask({ ...optional, signal: new AbortController().signal })
    run.abort(new Error('stopped'))
    await expect(stopping).rejects.toThrow('stopped')
    expect(await questions([['Yes.']], { slowModels }).ask({ ...optional, signal: new AbortController().signal })).toBe(
      'Yes.',
    )

    const own = new AbortController()
    const slow = questions([[{ hang: true }]], { slowModels }).ask({ ...optional, signal: own.signal })
    own.abort(new Error('too long'))
    await expect(slow).rejects.toThrow('too long')
    expect(await questions([['Yes.']], { slowModels }).ask(optional)).toBe('Yes.')
  })
})
