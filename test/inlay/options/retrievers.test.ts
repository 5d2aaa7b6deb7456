import { createTestInlay, assertCites } from 'inlay/testing'
import { expect, test } from 'vitest'
import { searchWith, type Retriever } from 'inlay/internal/options/retrievers'

const wiki: Retriever = {
  name: 'wiki',
  retrieve: ({ query, caller }) =>
    caller.id === 'operator' && /sauna/i.test(query)
      ? [{ id: '7', title: 'Sauna rules', text: 'The sauna opens at nine.', link: 'https://wiki.example/7', score: 31 }]
      : [],
}

test('passages of a retriever are results of the same search and cited like documents', async () => {
  await using inlay = await createTestInlay({ retrievers: [wiki], answers: ['At nine [1].', 'At nine [2].'] })
  // Nothing is indexed yet.
  const cited = { title: 'Sauna rules', link: 'https://wiki.example/7' }
  const first = await inlay.ask('When does the sauna open?')
  assertCites(first, cited.title)
  expect(first.top_documents).toMatchObject([{ semantic_identifier: cited.title, link: cited.link }])
  await inlay.ingestAndWait({
    id: 'sauna',
    semantic_identifier: 'Plan',
    sections: [{ text: 'The sauna is in the cellar.' }],
  })
  const second = await inlay.ask('When does the sauna open?')
  assertCites(second, cited.title)
  expect(second.top_documents.map(({ document_id: id }) => id)).toEqual(['sauna', 'RETRIEVED_DOC_wiki_7'])
  expect(second.tool_calls).toHaveLength(1)
})

test('a retriever that fails, is slow or returns another form is reported and left out', async () => {
  const errors: unknown[] = []
  const search = searchWith(
    async () => [],
    [
      wiki,
      {
        name: 'broken',
        retrieve: () => {
          throw new Error('down')
        },
      },
      { name: 'slow', retrieve: () => new Promise(() => {}) },
      { name: 'odd', retrieve: () => JSON.parse('[{"id": 7}]') },
    ],
    { onError: (error) => errors.push(error), timeoutMs: 5 },
  )
  const query = { text: 'sauna', caller: { id: 'operator', scopes: [] }, limit: 5 }
  expect((await search(query)).map(({ document }) => document.semantic_identifier)).toEqual(['Sauna rules'])
  expect(errors.map(String).toSorted()).toEqual(
    ['broken', 'odd', 'slow'].map((name) => `Error: The retriever "${name}" failed, so its passages are missing.`),
  )
  errors.length = 0
  await search({ ...query, signal: AbortSignal.abort() })
  expect(errors).toEqual([])
})
