import { expect, test } from 'vitest'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import type { ModelQuestion, Passage } from '@inlay/agent'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

const many = (count: number): Passage[] =>
  Array.from({ length: count }, (_, at) => newPassage(`d${at + 1}`, `Text ${at + 1}.`, { score: 1 - at / 100 }))
const resultsIn = (text: string): unknown[] => (JSON.parse(text) as { results: unknown[] }).results

test('a search asks the model for queries alone, however much it finds', async () => {
  const requests: ModelQuestion[] = []
  const ask = async (question: ModelQuestion) => (requests.push(question), '{}')
  const action = createInternalSearch({ search: async () => many(20) })
  const { text } = await action.run({ queries: ['q'] }, newTurn({ ask }).turn)
  expect(requests).toHaveLength(1)
  expect(resultsIn(text)).toHaveLength(20)
})

test('a model that was too slow is not asked again in the same answer', async () => {
  let count = 0
  const ask = ({ signal }: ModelQuestion) =>
    new Promise<string>((_resolve, reject) => {
      count++
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const action = createInternalSearch({ search: async () => many(20), help: { timeoutMs: 1 } })
  const { turn } = newTurn({ ask })
  for (const query of ['a', 'b']) {
    const { text } = await action.run({ queries: [query] }, turn)
    expect(resultsIn(text)).toHaveLength(20)
  }
  expect(count).toBe(1)
})
