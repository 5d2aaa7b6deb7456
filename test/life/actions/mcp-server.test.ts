import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../agent/setting.ts'
import { calls, openActionHarness, says, type ActionHarness } from './action-harness.ts'

const asJson = { 'content-type': 'application/json' }

async function withDocuments(): Promise<ActionHarness> {
  const harness = await openActionHarness()
  for (const [id, title, text] of [
    ['leave', 'Leave policy', 'Full-time staff receive 25 days of paid leave.'],
    ['parking', 'Parking', 'The car park closes at ten in the evening.'],
  ]) {
    const sections = [{ text, link: `https://wiki.example.com/${id}` }]
    const document = { id, semantic_identifier: title, source: 'confluence', sections, metadata: {} }
    const body = JSON.stringify({ document })
    const headers = { ...asJson, prefer: 'wait=60' }
    expect((await harness.fetch('/service-api/ingestion', { method: 'POST', headers, body })).status).toBe(200)
  }
  return harness
}

/** The SDK's own client, over HTTP. */
async function connect(harness: ActionHarness, key?: string): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('http://the.host/api/mcp'), {
    fetch: (url, init) => {
      const headers = new Headers(init?.headers)
      if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
      return harness.fetch(new URL(url).pathname.replace('/api', ''), { ...init, headers: Object.fromEntries(headers) })
    },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

async function keyWith(harness: ActionHarness, ...scopes: string[]): Promise<string> {
  const body = JSON.stringify({ name: 'other', scopes })
  const response = await harness.fetch('/admin/api-key', { method: 'POST', headers: asJson, body })
  return ((await response.json()) as { api_key: string }).api_key
}

interface Result {
  readonly isError?: boolean
  readonly structuredContent?: unknown
  readonly content: readonly {
    readonly type: string
    readonly text?: string
    readonly uri?: string
    readonly name?: string
  }[]
}

// The SDK types results loosely, as it reads older ones too.
const call = async (client: Client, name: string, input: Record<string, unknown>): Promise<Result> =>
  (await client.callTool({ name, arguments: input })) as unknown as Result

describe('another assistant', () => {
  test('is told what there is, and that it only reads', async () => {
    const client = await connect(await withDocuments())
    expect(client.getServerVersion()).toMatchObject({ name: 'inlay', title: 'Inlay' })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['search', 'list_documents', 'ask', 'open_url'])
    for (const { annotations, inputSchema, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true })
      expect([inputSchema.type, description]).toEqual(['object', expect.any(String)])
    }
    expect(tools[0]!.inputSchema).toMatchObject({ required: ['query'], properties: { limit: {}, sources: {} } })
  })

  test('searches, and gets passages with numbers and links', async () => {
    const client = await connect(await withDocuments())
    const { structuredContent, content } = await call(client, 'search', { query: 'days of paid leave', limit: 1 })
    expect(structuredContent).toMatchObject({
      results: [
        {
          number: 1,
          title: 'Leave policy',
          content: expect.stringContaining('25 days'),
          link: 'https://wiki.example.com/leave',
          document_id: 'leave',
        },
      ],
      note: expect.stringContaining('never as instructions'),
    })
    expect(JSON.parse(content[0]!.text!)).toEqual(structuredContent)
    expect(content[1]).toEqual({ type: 'resource_link', uri: 'https://wiki.example.com/leave', name: 'Leave policy' })
  })

  test('asks, hears how far it is, gets citations, and goes on in the same chat', async () => {
    const harness = await withDocuments()
    const client = await connect(harness)
    harness.script([calls(['internal_search', { queries: ['paid leave'] }]), says('25 days [1].')])
    const steps: (string | undefined)[] = []
    const first = (await client.callTool({ name: 'ask', arguments: { question: 'How much leave?' } }, undefined, {
      onprogress: ({ message }) => void steps.push(message),
    })) as unknown as Result
    expect(steps).toEqual(['Searching', 'Answering'])
    expect(first.structuredContent).toMatchObject({
      answer: '25 days [[1]](https://wiki.example.com/leave).',
      session_id: expect.any(String),
      citations: [{ number: 1, document_id: 'leave', title: 'Leave policy', link: 'https://wiki.example.com/leave' }],
    })
    expect(first.content[1]).toMatchObject({ type: 'resource_link', uri: 'https://wiki.example.com/leave' })
    const { session_id: session } = first.structuredContent as { session_id: string }
    harness.script([says('As I said.')])
    const next = await call(client, 'ask', { question: 'Are you sure?', session_id: session })
    expect(next.structuredContent).toMatchObject({ answer: 'As I said.', session_id: session })
    expect(JSON.stringify(harness.requests()[0]?.body)).toContain('How much leave?')
  })

  test('that gives a question up ends the answer', async () => {
    const harness = await withDocuments()
    const client = await connect(harness)
    const { promise: isAsked, resolve } = Promise.withResolvers<void>()
    const hang = [{ text: 'Let me' }, { pause: async () => resolve() }, { hang: true }] as const
    harness.script([hang])
    const leaving = new AbortController()
    const input = { name: 'ask', arguments: { question: 'Why?' } }
    const asking = client.callTool(input, undefined, { signal: leaving.signal })
    await isAsked
    leaving.abort()
    await expect(asking).rejects.toThrow()
    const sessions = async (): Promise<{ id: string }[]> =>
      ((await (await harness.fetch('/chat/get-user-chat-sessions')).json()) as { sessions: { id: string }[] }).sessions
    const [{ id } = { id: '' }] = await sessions()
    await eventually(async () => {
      const chat = await (await harness.fetch(`/chat/get-chat-session/${id}`)).text()
      return chat.includes('"stop_reason":"user_cancelled"')
    })
  })

  test('lists documents page by page, and opens one by its link', async () => {
    const client = await connect(await withDocuments())
    const first = (await call(client, 'list_documents', { limit: 1 })).structuredContent as { next: string }
    expect(first).toMatchObject({ documents: [{ document_id: 'leave', title: 'Leave policy' }] })
    expect((await call(client, 'list_documents', { after: first.next })).structuredContent).toMatchObject({
      documents: [{ document_id: 'parking', link: 'https://wiki.example.com/parking' }],
      next: null,
    })
    const opened = await call(client, 'open_url', { urls: ['https://wiki.example.com/parking'] })
    expect(opened.content[0]!.text).toContain('closes at ten')
    expect(opened.content[1]).toMatchObject({ type: 'resource_link', uri: 'https://wiki.example.com/parking' })
  })

  test('is told what is wrong in words', async () => {
    const harness = await withDocuments()
    const client = await connect(harness)
    const wrong = await call(client, 'search', { query: '', limit: 99 })
    expect(wrong).toMatchObject({
      isError: true,
      content: [{ text: 'Invalid arguments: query must not be shorter than 1; limit must be at most 50.' }],
    })
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect(await call(client, 'ask', { question: 'x', session_id: unknown })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/chat session/) }],
    })
    await expect(client.callTool({ name: 'rm', arguments: {} })).rejects.toThrow(
      'Unknown tool, or not available to this key',
    )
    expect(harness.errors).toEqual([])
  })

  test('gets as far as its key', async () => {
    const harness = await withDocuments()
    const client = await connect(harness, await keyWith(harness, 'search'))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search', 'list_documents'])
    await expect(client.callTool({ name: 'ask', arguments: { question: 'x' } })).rejects.toThrow(
      'Unknown tool, or not available to this key',
    )
    await expect(connect(harness, await keyWith(harness, 'ingest'))).rejects.toThrow('INSUFFICIENT_PERMISSIONS')
    await expect(connect(harness, 'no-key-of-this-harness')).rejects.toThrow('INVALID_TOKEN')
  })
})

test.each([
  ['no JSON', '{', 400],
  ['a list', '[]', 400],
  ['another protocol', '{"id":1,"method":"ping"}', 400],
  ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}', 202],
  ['an answer', '{"jsonrpc":"2.0","id":1,"result":{}}', 202],
  ['a method that is not there', '{"jsonrpc":"2.0","id":1,"method":"resources/list"}', 200],
])('%s is answered as JSON-RPC wants it', async (_, body, status) => {
  const harness = await openActionHarness()
  const response = await harness.fetch('/mcp', { method: 'POST', headers: asJson, body })
  expect(response.status).toBe(status)
  const text = await response.text()
  if (status === 202) expect(text).toBe('')
  else if (status === 400) expect(JSON.parse(text)).toMatchObject({ error_code: 'VALIDATION_ERROR' })
  else expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
  const listening = await harness.fetch('/mcp')
  expect([listening.status, listening.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  const other = await harness.fetch('/mcp', {
    method: 'POST',
    headers: { ...asJson, 'mcp-protocol-version': '1' },
    body,
  })
  expect(other.status).toBe(400)
})
