import { describe, expect, test } from 'vitest'
import { chooseSections } from '@inlay/agent/internal/actions/internal-search/query-expansion'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import type { ModelQuestion, Passage } from '@inlay/agent'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

const many = (count: number): Passage[] =>
  Array.from({ length: count }, (_, at) => newPassage(`d${at + 1}`, `Text ${at + 1}.`, { score: 1 - at / 100 }))
const options = { shown: 6, limit: 3, timeoutMs: 1_000 }
const choose = async (answer: string | (() => Promise<string>), sections = many(8)) => {
  const requests: ModelQuestion[] = []
  const ask = async (question: ModelQuestion) => (
    requests.push(question),
    typeof answer === 'string' ? answer : await answer()
  )
  const chosen = await chooseSections(sections, newTurn({ ask }).turn, ['q'], options)
  return { requests, chosen: chosen?.map(({ document }) => document.document_id) }
}

describe('the choice of sections', () => {
  test('is the model’s, in its order, each once and not more than wanted', async () => {
    expect((await choose('[3, 1, 3, 2, 5]')).chosen).toEqual(['d3', 'd1', 'd2'])
    expect((await choose('The best are:\n[2]')).chosen).toEqual(['d2'])
  })

  test('shows the model only the best, and long ones only in part', async () => {
    const sections = many(8).map((item) => ({ ...item, content: 'long '.repeat(1_000) }))
    const { requests } = await choose('[1]', sections)
    const shown = JSON.parse(requests[0]?.text ?? '') as { sections: { number: number; text: string }[] }
    expect(shown.sections.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
    expect(Math.max(...shown.sections.map(({ text }) => text.length))).toBeLessThan(1_000)
  })

  test.each([
    ['is no list', '{"sections": "all"}'],
    ['is text', 'All of them.'],
    ['names sections that were not shown', '[1, 77]'],
    ['holds no numbers', '["a", "b"]'],
    ['is empty', '[]'],
    ['is nothing', ''],
  ])('is the ranking’s when the answer %s', async (_name, answer) => {
    expect((await choose(answer)).chosen).toBeUndefined()
  })

  test('is the ranking’s when the model fails', async () => {
    expect((await choose(() => Promise.reject(new Error('down')))).chosen).toBeUndefined()
  })

  test('is not asked for when there is little to choose from', async () => {
    expect(await choose('[1]', many(3))).toEqual({ requests: [], chosen: undefined })
  })

  test('decides what is shown and read, before the best of the ranking; what was found stays complete', async () => {
    const action = createInternalSearch({ search: async () => many(20) })
    const { turn, packets } = newTurn({ ask: async ({ text }) => (text.includes('"sections"') ? '[12, 3]' : '{}') })
    const result = await action.run({ queries: ['q'] }, turn)
    const ids = ['d12', 'd3', 'd1', 'd2']
    expect(packets.at(-1)).toMatchObject({ documents: ids.map((id) => ({ document_id: id })) })
    expect((JSON.parse(result.text) as { results: { content: string }[] }).results).toMatchObject([
      { document: 1, content: 'Text 12.' },
      { document: 2, content: 'Text 3.' },
      { document: 3, content: 'Text 1.' },
      { document: 4, content: 'Text 2.' },
    ])
    expect(result.foundDocuments).toHaveLength(20)
  })

  test('is not asked of a model that was too slow before in the same answer', async () => {
    let count = 0
    const ask = ({ signal }: ModelQuestion) =>
      new Promise<string>((_resolve, reject) => {
        count++
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    const action = createInternalSearch({ search: async () => many(20), help: { timeoutMs: 1 } })
    const { turn } = newTurn({ ask })
    for (const query of ['a', 'b']) {
      const result = await action.run({ queries: [query] }, turn)
      expect((JSON.parse(result.text) as { results: unknown[] }).results).toHaveLength(20)
    }
    expect(count).toBe(1)
  })

  test('can be left to the ranking by the host', async () => {
    const requests: ModelQuestion[] = []
    const ask = async (question: ModelQuestion) => (requests.push(question), '{}')
    const action = createInternalSearch({ search: async () => many(20), help: { choose: false } })
    const result = await action.run({ queries: ['q'] }, newTurn({ ask }).turn)
    expect(requests).toHaveLength(1)
    expect((JSON.parse(result.text) as { results: unknown[] }).results).toHaveLength(20)
  })
})
