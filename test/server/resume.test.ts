import { createLineDecoder } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { alice } from './fakes.ts'
import { findsAlways, newDoc, newPassage } from '../agent/setting.ts'
import { newService } from './conversation.ts'
import { scriptedAction } from '../agent/scripted-action.ts'

const web = newDoc('law', { is_internet: true })
const search = findsAlways(newPassage('leave', '28 days'), newPassage('carry', 'five days'))
const actions = [
  scriptedAction({
    id: 12,
    name: 'web_search',
    builtIn: 'WebSearchTool',
    start: { type: 'search_tool_start', is_internet_search: true },
    packets: [
      { type: 'search_tool_queries_delta', queries: ['law'] },
      { type: 'search_tool_documents_delta', documents: [web] },
    ],
    documents: [web],
  }),
]
// Reasoning twice, narration, two parallel searches, citations of both, text that is split anywhere.
const script = [
  [
    { reasoning: ['Both ', 'sources.'] },
    'Let me look. ',
    {
      calls: [
        { name: 'internal_search', input: { queries: ['leave'] } },
        { name: 'web_search', input: {} },
      ],
    },
  ],
  [{ reasoning: 'Now.' }, ...'28 days [1], the law gives 20 [101]; five [2] carry over.\u2028'.split(/(?=[ [;])/)],
]

const formats = [
  ['Server-Sent Events', 'text/event-stream'],
  ['lines', 'application/x-ndjson'],
] as const

describe.each(formats)('%s', (_name, accept) => {
  test('a run that has ended is resumed from every cursor with the same bytes as the live stream', async () => {
    const { ask } = await newService(script, { search, actions })
    const live = await ask('/chat/send-chat-message', { json: { message: 'Q' }, headers: { accept } })
    const text = await live.text()
    const pieces = accept === 'text/event-stream' ? text.split(/(?<=\n\n)/) : text.split(/(?<=\n)/)
    expect(pieces.length).toBeGreaterThan(30)
    const path = `/chat/chat-session/${sessionOf(text)}/resume-stream`
    for (let cursor = 0; cursor <= pieces.length; cursor++) {
      const rest = pieces.slice(cursor).join('')
      const resumed = await ask(`${path}?cursor=${cursor}`, { headers: { accept } })
      expect(resumed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      expect(await resumed.text()).toBe(rest)
      const again = await ask(path, { headers: { accept, 'last-event-id': String(cursor) } })
      expect(await again.text()).toBe(rest)
      // Nothing is left: 204 stops an EventSource from reconnecting.
      expect(again.status).toBe(rest === '' ? 204 : 200)
    }
  })

  test('a run that goes on is resumed from every cursor, by readers side by side', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const [first = [], second = []] = script
    const half = Math.floor(second.length / 2)
    const { ask, setting } = await newService(
      [first, [...second.slice(0, half), { pause: () => gate }, ...second.slice(half)]],
      { search, actions },
    )
    const run = await setting.send({ message: 'Q' }, { caller: alice })
    // Half of it is said before anybody reads.
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('days'))) break
    const path = `/chat/chat-session/${run.sessionId}/resume-stream`
    const readers = Array.from({ length: 40 }, async (_, cursor) =>
      (await ask(`${path}?cursor=${cursor}`, { headers: { accept } })).text(),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(run.finished).toBe(false)
    release()
    const texts = await Promise.all(readers)
    const all = linesOf(texts[0] ?? '')
    expect(all.length).toBeGreaterThan(30)
    for (const [cursor, text] of texts.entries()) expect(linesOf(text)).toEqual(all.slice(cursor))
  })
})

test('the run of a repeated send is the same, whichever way it is read', async () => {
  const { ask, setting } = await newService(script, { search, actions })
  const send = (stream: boolean) =>
    ask('/chat/send-chat-message', { json: { message: 'Q', stream }, headers: { 'idempotency-key': `k${stream}` } })
  const streamed = await (await send(true)).text()
  expect(await (await send(true)).text()).toBe(streamed)
  expect(setting.model.requests).toHaveLength(2)
})

function linesOf(text: string): unknown[] {
  const decoder = createLineDecoder()
  return [...decoder.push(text), ...decoder.end()].map(({ line }) => line)
}

function sessionOf(text: string): string {
  return /"chat_session_id":"([^"]+)"/.exec(text)?.[1] ?? ''
}
