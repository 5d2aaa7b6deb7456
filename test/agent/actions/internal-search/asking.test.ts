import { expect, test } from 'vitest'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import type { ModelQuestion, Passage } from '@inlay/agent'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

const many = (count: number): Passage[] =>
  Array.from({ length: count }, (_, at) => newPassage(`d${at + 1}`, `Text ${at + 1}.`, { score: 1 - at / 100 }))
const resultsIn = (text: string): unknown[] => (JSON.parse(text) as { results: unknown[] }).results

const messages = [{ role: 'user', text: 'What is it about?' } as const]

test('a search of a follow-up asks the model for queries alone, however much it finds', async () => {
  const requests: ModelQuestion[] = []
  const ask = async (question: ModelQuestion) => (requests.push(question), '{}')
  const action = createInternalSearch({ search: async () => many(20) })
  const { text } = await action.run({ queries: ['q'] }, newTurn({ ask, messages }).turn)
  expect(requests).toHaveLength(1)
  expect(resultsIn(text)).toHaveLength(20)
  await action.run({ queries: ['q'] }, newTurn({ ask }).turn)
  expect(requests, 'a first question').toHaveLength(1)
})

test('a model is asked once in an answer, however often it searches', async () => {
  let count = 0
  const ask = async () => (count++, '{}')
  const action = createInternalSearch({ search: async () => many(20) })
  const { turn } = newTurn({ ask, messages })
  for (const query of ['a', 'b']) await action.run({ queries: [query] }, turn)
  expect(count).toBe(1)
})

test('a model that was too slow is not asked again in the same answer', async () => {
  let count = 0
  const ask = ({ signal }: ModelQuestion) =>
    new Promise<string>((_resolve, reject) => {
      count++
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const action = createInternalSearch({ search: async () => many(20), help: { timeoutMs: 1 } })
  const { turn } = newTurn({ ask, messages })
  for (const query of ['a', 'b']) {
    const { text } = await action.run({ queries: [query] }, turn)
    expect(resultsIn(text)).toHaveLength(20)
  }
  expect(count).toBe(1)
})
