import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import type { PastMessage, PastToolCall, ResolvedModel } from '@inlay/agent'
import { historyLimits, toPrompt } from '@inlay/agent/internal/prompt/history'
import { encodeSteps } from '@inlay/agent/internal/prompt/model-steps'

const call = (step: number, callId: string, result = 'found'): PastToolCall => ({
  step,
  callId,
  name: 'internal_search',
  arguments: { queries: ['q'] },
  result,
})
const past = (role: 'user' | 'assistant', text: string, toolCalls: PastToolCall[] = []): PastMessage => ({
  id: 1,
  role,
  status: 'done',
  text,
  files: [],
  callCount: toolCalls.length,
  params: null,
  toolCalls,
})
// Of a model, prompts only need its name.
const modelOf = (name: string) => ({ provider: 'house', name }) as unknown as ResolvedModel
const base = { instructions: 'Rules.', history: [], additionalContext: null, userText: 'Now?', hasActions: true }

test('instructions, context and newest message stand in this order', () => {
  expect(toPrompt({ ...base, additionalContext: 'Bees.' })).toEqual([
    { role: 'system', content: 'Rules.' },
    { role: 'user', content: [{ type: 'text', text: expect.stringContaining('Bees.') }] },
    { role: 'user', content: [{ type: 'text', text: 'Now?' }] },
  ])
})

test('citations of earlier answers and numbers of their results are taken out', () => {
  const result = JSON.stringify({ results: [{ document: 1, title: 'T', content: 'C' }], note: 'n' })
  const prompt = toPrompt({
    ...base,
    history: [past('user', 'Q'), past('assistant', 'Yes [[1]](http://x).', [call(0, 'a', result)])],
  })
  expect(prompt.slice(1, -1)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Q' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c00000100', toolName: 'internal_search', input: { queries: ['q'] } }],
    },
    { role: 'tool', content: [expect.objectContaining({ toolCallId: 'c00000100' })] },
    { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
  ])
  expect(JSON.stringify(prompt)).not.toContain('document')
})

describe('calls of earlier answers', () => {
  const signed = { house: { signature: 's' } }
  const thought = { type: 'reasoning' as const, text: 'Hm.' }
  const steps = [
    {
      step: 0,
      content: [thought, { type: 'text' as const, text: 'Wait.' }],
      calls: [{ id: 'functions.search:0', providerOptions: signed }],
    },
    { step: 1, content: [{ ...thought, text: 'I see.' }], calls: [] },
  ]
  const history = [
    past('user', 'Q'),
    { ...past('assistant', 'A', [call(0, 'functions.search:0')]), modelSteps: encodeSteps(modelOf('m'), steps)! },
    past('user', 'Q'),
    { ...past('assistant', 'A', [call(0, 'functions.search:0'), call(0, '')]), id: 2 },
  ]
  const idsOf = (prompt: LanguageModelV4Prompt, role: string) =>
    prompt.flatMap((message) =>
      message.role === role && typeof message.content !== 'string'
        ? message.content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : []))
        : [],
    )

  test('go back to the model that made them with its ids, its thoughts and what signs them', () => {
    const prompt = toPrompt({ ...base, history, model: modelOf('m') })
    expect(prompt.slice(2, 5)).toMatchObject([
      { content: [thought, { type: 'tool-call', toolCallId: 'functions.search:0', providerOptions: signed }] },
      { content: [{ type: 'tool-result', toolCallId: 'functions.search:0' }] },
      {
        content: [
          { type: 'reasoning', text: 'I see.' },
          { type: 'text', text: 'A' },
        ],
      },
    ])
    expect(idsOf(prompt, 'assistant')).toEqual(['functions.search:0', 'c00000200', 'c00000201'])
  })

  test.each([
    ['another model', modelOf('other')],
    ['the same model at another address', { ...modelOf('m'), address: 'https://other.example/v1' }],
    ['nobody in particular', undefined],
  ])('go to %s with ids that every provider takes, and without thoughts', (_, model) => {
    const prompt = toPrompt({ ...base, history, ...(model && { model }) })
    expect(idsOf(prompt, 'assistant')).toEqual(['c00000100', 'c00000200', 'c00000201'])
    expect(idsOf(prompt, 'tool')).toEqual(idsOf(prompt, 'assistant'))
    expect(JSON.stringify(prompt)).not.toMatch(/Hm|I see|signature/)
  })

  test('lose thoughts of more than 200,000 characters, and then count as those of another model', () => {
    const long = [{ step: 0, content: [{ ...thought, text: 'Hm. '.repeat(50_001) }], calls: [] }]
    expect(encodeSteps(modelOf('m'), long)).toBeUndefined()
  })
})

test('calls of one step stand together, steps in order', () => {
  const prompt = toPrompt({
    ...base,
    history: [past('user', 'Q'), past('assistant', 'A', [call(1, 'c'), call(0, 'a'), call(0, 'b')])],
  })
  const calls = prompt.flatMap((message) => (message.role === 'tool' ? [message.content.length] : []))
  expect(calls).toEqual([2, 1])
})

test('earlier results are there by name alone, and not at all when there are no actions', () => {
  const searchResult = JSON.stringify({
    results: [
      { document: 1, title: 'Leave', content: 'Full-time staff receive 25 days.' },
      { document: 2, title: 'Leave', content: 'Part-time staff receive fewer.' },
      { document: 3, title: 'Sick days', content: 'Tell your lead.' },
    ],
    note: 'n',
  })
  const history = ['1', '2', '3', '4'].flatMap((id) => [
    past('user', id),
    past('assistant', id, [call(0, id, searchResult)]),
  ])
  const results = (hasActions: boolean) =>
    toPrompt({ ...base, history, hasActions }).flatMap((message) => (message.role === 'tool' ? message.content : []))
  expect(results(true)).toHaveLength(4)
  expect(JSON.stringify(results(true)[0])).toContain('Leave\\"},{\\"title\\":\\"Sick days')
  expect(JSON.stringify(results(true))).not.toContain('25 days')
  expect(results(false)).toEqual([])
})

test('what other tools gave is kept from its beginning', () => {
  const long = 'rows '.repeat(1_000)
  const history = [past('user', 'Q'), past('assistant', 'A', [call(0, 'a', long), call(0, 'b', 'short')])]
  const text = JSON.stringify(toPrompt({ ...base, history }))
  expect(text).toContain('short')
  expect(text.length).toBeLessThan(3_000)
})

test('earlier messages read the same in every prompt that follows', () => {
  const result = JSON.stringify({ results: [{ document: 1, title: 'T', content: 'C' }], note: 'n' })
  const turns = Array.from({ length: 6 }, (_, at) => [
    past('user', `Q${at}`),
    past('assistant', `A${at} [[1]](http://x).`, [call(0, `c${at}`, result)]),
  ])
  const prompts = turns.map((_, at) => toPrompt({ ...base, history: turns.slice(0, at).flat(), userText: `Q${at}` }))
  for (const [at, prompt] of prompts.slice(0, -1).entries()) {
    expect(prompts[at + 1]?.slice(0, prompt.length)).toEqual(prompt)
  }
})

test('an answer that said nothing leaves no message', () => {
  expect(toPrompt({ ...base, history: [past('user', 'Q'), past('assistant', '')] }).map(({ role }) => role)).toEqual([
    'system',
    'user',
    'user',
  ])
})

test('a long result is cut whatever it ends with, and only once', () => {
  const { shorten } = historyLimits(1_000)
  const cut = shorten!('found '.repeat(1_000))
  expect(cut.length).toBeLessThan(2_100)
  expect(shorten!(cut)).toBe(cut)
  const note = cut.slice(cut.indexOf('\n'))
  expect(shorten!('found '.repeat(1_000) + note)).toBe(cut)
})
