import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { estimateTokens, fitPrompt, promptTokens } from '@inlay/agent/internal/prompt/context-window'

const user = (text: string): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] })
const answer = (text: string): LanguageModelV4Prompt[number] => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
})
const call = (id: string): LanguageModelV4Prompt[number] => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName: 'search', input: {} }],
})
const result = (id: string, value: string): LanguageModelV4Prompt[number] => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'search', output: { type: 'text', value } }],
})
const words = (count: number): string => 'word '.repeat(count)

const prompt: LanguageModelV4Prompt = [
  { role: 'system', content: 'rules' },
  user('one'),
  call('a'),
  result('a', words(1_000)),
  answer(words(200)),
  user('two'),
  call('b'),
  result('b', words(1_000)),
  answer(words(200)),
  user('newest'),
  call('c'),
  result('c', words(1_000)),
]

const shape = (messages: LanguageModelV4Prompt): string[] =>
  messages.map((message) =>
    typeof message.content === 'string'
      ? 'system'
      : `${message.role} ${message.content.map((part) => (part.type === 'text' ? part.text.slice(0, 6) : part.type === 'tool-result' && part.output.type === 'text' ? part.output.value.length : part.type)).join()}`,
  )

test('estimates a token for four ASCII letters and for one ideograph', () => {
  expect(estimateTokens('word '.repeat(400))).toBe(500)
  expect(estimateTokens('東京都港区')).toBe(5)
  expect(estimateTokens('')).toBe(0)
})

test('a prompt that fits is left as it is', () => {
  expect(fitPrompt(prompt, promptTokens(prompt))).toBe(prompt)
})

test('results of earlier turns go first, the oldest before the others', () => {
  const fitted = fitPrompt(prompt, promptTokens(prompt) - 500)
  expect(shape(fitted)).toEqual([
    'system',
    'user one',
    'assistant tool-call',
    'tool 41',
    'assistant word w',
    'user two',
    'assistant tool-call',
    'tool 5000',
    'assistant word w',
    'user newest',
    'assistant tool-call',
    'tool 5000',
  ])
  expect(promptTokens(fitted)).toBeLessThanOrEqual(promptTokens(prompt) - 500)
})

test('then whole turns go, the oldest first', () => {
  expect(shape(fitPrompt(prompt, 1_600))).toEqual([
    'system',
    'user two',
    'assistant tool-call',
    'tool 41',
    'assistant word w',
    'user newest',
    'assistant tool-call',
    'tool 5000',
  ])
})

test('then the results of the present turn are cut; system and newest message never go', () => {
  const fitted = fitPrompt(prompt, 600)
  expect(shape(fitted).slice(0, 3)).toEqual(['system', 'user newest', 'assistant tool-call'])
  expect(promptTokens(fitted)).toBeLessThanOrEqual(600)
  expect(shape(fitPrompt(prompt, 0)).slice(0, 2)).toEqual(['system', 'user newest'])
})

test('whatever fits, what is left begins with a question, and each result follows its call', () => {
  for (let limit = 0; limit <= promptTokens(prompt); limit += 7) {
    const [, first, ...rest] = fitPrompt(prompt, limit)
    expect(first?.role, `limit ${limit}`).toBe('user')
    const calls = new Set<string>()
    for (const { content } of rest)
      for (const part of typeof content === 'string' ? [] : content) {
        if (part.type === 'tool-call') calls.add(part.toolCallId)
        if (part.type === 'tool-result') expect(calls, `limit ${limit}`).toContain(part.toolCallId)
      }
  }
})

test('results of a search stay JSON that can be read, the first of them longest', () => {
  const results = ['a', 'b', 'c'].map((title) => ({ document: 1, title, content: words(300) }))
  const searched = JSON.stringify({ results, note: 'Quotations.' })
  const longPrompt: LanguageModelV4Prompt = [
    { role: 'system', content: 'rules' },
    user('one'),
    call('a'),
    result('a', searched),
  ]
  for (let limit = 100; limit < promptTokens(longPrompt); limit += 50) {
    const part = fitPrompt(longPrompt, limit).at(-1)!.content[0]
    if (typeof part !== 'object' || part.type !== 'tool-result' || part.output.type !== 'text')
      throw new Error('no result')
    const left = JSON.parse(part.output.value) as { results: { title: string; content: string }[]; note: string }
    expect(left.note).toBe('Quotations.')
    expect(left.results[0]).toMatchObject({ title: 'a', content: expect.stringMatching(/^word word/) })
    expect(promptTokens(fitPrompt(longPrompt, limit)), `limit ${limit}`).toBeLessThanOrEqual(limit + 40)
  }
})
