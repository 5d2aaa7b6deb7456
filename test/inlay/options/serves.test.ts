import { createTestInlay } from 'inlay/testing'
import { expect, test } from 'vitest'

test.each([
  ['everything', { chat: 200, search: 200, ingestion: 200, openai: 200, mcp: 200, ask: true }],
  ['knowledge', { chat: 404, search: 200, ingestion: 200, openai: 404, mcp: 200, ask: false }],
  ['search', { chat: 404, search: 200, ingestion: 404, openai: 404, mcp: 404, ask: false }],
] as const)('%s is served, and the rest is refused and not documented', async (serves, expected) => {
  const documents = [{ id: 'leave', semantic_identifier: 'Leave', sections: [{ text: 'Staff get 25 days of leave.' }] }]
  await using inlay = await createTestInlay({ serves, documents })
  const call = async (path: string, body?: object): Promise<Response> =>
    inlay.fetch(
      new Request(`http://host.example${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${inlay.apiKey}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const chat = await call('/api/chat/send-chat-message', { message: 'How long is leave?', stream: false })
  const search = await call('/api/search', { query: 'leave' })
  const ingestion = await call('/api/service-api/ingestion')
  const openai = await call('/v1/models')
  const tools = await call('/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const [ask, mcp] = [(await tools.text()).includes('"ask"'), tools.status]
  const statuses = { chat: chat.status, search: search.status, ingestion: ingestion.status, openai: openai.status }
  expect({ ...statuses, mcp, ask }).toEqual(expected)
  if (expected.chat === 404)
    expect(await chat.json()).toMatchObject({ detail: 'Chat: this deployment leaves it out (option serves).' })
  const { paths } = (await (await call('/api/openapi.json')).json()) as { paths: object }
  const documented = ['/chat/send-chat-message', '/search', '/service-api/ingestion'].map((path) =>
    Object.keys(paths).some((known) => known.endsWith(path)),
  )
  expect(documented).toEqual([expected.chat === 200, true, expected.ingestion === 200])
})
