import type { StreamLine } from '@inlay/protocol'
import type { Inlay, InlayOptions } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest, Reply, StandIn } from '../../stand-in/model-server.ts'
import { post, startWithDocuments } from './with-documents.ts'

async function startModel(expand: Reply): Promise<StandIn> {
  const server = await startOpenAi((request: RecordedRequest): Reply => {
    const text = JSON.stringify(request.body)
    if (text.includes('You prepare a search')) return expand
    if (!text.includes(question)) return [{ text: 'Hello.' }]
    if (text.includes('"role":"tool"')) return [{ text: 'Look at the results.' }]
    return [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['vacation allotment'] } }] }]
  })
  onTestFinished(() => server.close())
  return server
}

const question = 'How long is my vacation?'
const leave = 'Annual leave: everybody gets 25 days.'

function start(options: InlayOptions): Promise<Inlay> {
  const filler = (at: number): string =>
    `Section ${at}. ${`Staff of office ${at} tend the vacation plants. `.repeat(40)}`
  const texts = [...Array.from({ length: 24 }, (_, at) => filler(at)), leave, 'The neighbour speaks of carry-over.']
  return startWithDocuments(Object.fromEntries(texts.map((text, at) => [`d${at}`, text])), options)
}

async function ask(inlay: Inlay): Promise<{ readonly queries: unknown; readonly lines: readonly StreamLine[] }> {
  const first = await post(inlay, '/chat/send-chat-message', { message: 'Good morning', stream: false })
  const { chat_session_id } = (await first.json()) as { readonly chat_session_id: string }
  const response = await post(inlay, '/chat/send-chat-message', { message: question, chat_session_id })
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as StreamLine)
  const queries = lines.flatMap((line) =>
    'obj' in line && line.obj.type === 'search_tool_queries_delta' ? [line.obj.queries] : [],
  )
  return { queries, lines }
}

test('a model behind an API adds what documents say instead, and is asked nothing else', async () => {
  const server = await startModel([
    { text: '```json\n{"question": "How many days of annual leave do I get?", "keywords": ["leave days"]}\n```' },
  ])
  const inlay = await start({ model: { name: 'stand-in', grounding: 'tools', baseUrl: `${server.origin}/v1` } })
  const { queries, lines } = await ask(inlay)
  expect(queries).toEqual([['How many days of annual leave do I get?', 'vacation allotment', 'leave days']])
  expect(server.requests).toHaveLength(4)
  const read = JSON.stringify(server.requests.at(-1)?.body)
  expect(read).toContain('everybody gets 25 days')
  expect(lines.at(-1)).toMatchObject({ obj: { type: 'stop', stop_reason: null } })
})

test('a model that refuses to help still gets what its own query finds', async () => {
  const server = await startModel({ status: 400 })
  const inlay = await start({ model: { name: 'stand-in', grounding: 'tools', baseUrl: `${server.origin}/v1` } })
  const { queries, lines } = await ask(inlay)
  expect(queries).toEqual([['vacation allotment']])
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('vacation plants')
  expect(lines.at(-1)).toMatchObject({ obj: { type: 'stop', stop_reason: null } })
})

test('a host that wants no help pays for none', async () => {
  const server = await startModel([{ text: '{}' }])
  const inlay = await start({
    model: { name: 'stand-in', grounding: 'tools', baseUrl: `${server.origin}/v1` },
    searchHelp: { expand: false },
  })
  await ask(inlay)
  expect(server.requests).toHaveLength(3)
})
