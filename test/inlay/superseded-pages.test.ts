import { assertSays, createTestInlay } from 'inlay/testing'
import { expect, test } from 'vitest'
import { request } from '../knowledge/requests.ts'

test('a superseded page comes behind the current one over HTTP, and is never quoted alone', async () => {
  await using inlay = await createTestInlay({ log: () => {} })
  const pages = [
    [
      'Remote work policy 2022',
      '> **Note:** This policy has been superseded.\n\nRemote work policy: remote work is allowed on two days a week. ' +
        'Questions about the remote work policy go to HR.',
      '2022-01-10',
    ],
    ['Remote work policy 2025', 'Staff may work remotely on up to three days a week.', '2025-03-01'],
  ] as const
  for (const [title, text, date] of pages)
    await inlay.ingestAndWait(
      request({ id: title, semantic_identifier: title, text, doc_updated_at: `${date}T00:00:00Z` }),
    )
  const { key } = await inlay.keys.create({ name: 'reader', scopes: ['chat'] })
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = new Request(`http://x${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await inlay.fetch(sent)).text()
  }
  const { results } = JSON.parse(await post('/search', { query: 'remote work policy' })) as {
    results: { title: string; updated_at: string }[]
  }
  expect(results.map(({ title, updated_at: date }) => [title, date.slice(0, 10)])).toEqual([
    ['Remote work policy 2025', '2025-03-01'],
    ['Remote work policy 2022', '2022-01-10'],
  ])
  const answer = await post('/chat/send-chat-message', { message: 'remote work policy', stream: false })
  expect(answer).toContain('three days a week')
})

test('of two policies whose titles differ in the year, the built-in model answers with the newer one', async () => {
  await using inlay = await createTestInlay({ log: () => {} })
  const pages = [
    [
      'Annual leave policy (2023)',
      'Everybody has 28 days of leave a year. You can carry over up to 10 days to the next year. Days that you carry ' +
        'over expire on 30 June.',
    ],
    [
      'Annual leave policy (2025)',
      'Everybody has 30 days of leave a year, and parents 32. Up to 5 days can be carried over. They expire on 31 March. ' +
        'Your manager approves leave in the portal.',
    ],
  ] as const
  for (const [title, text] of pages)
    await inlay.ingestAndWait(request({ id: title, semantic_identifier: title, title, text }))
  for (const message of [
    'how many days can i carry over and when do they expire?',
    'when do carried over days expire?',
  ]) {
    const answer = await inlay.ask(message)
    assertSays(answer, '31 March')
    expect(answer.answer).not.toContain('30 June')
  }
})
