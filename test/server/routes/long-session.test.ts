import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { SearchDoc } from '@inlay/protocol'
import { cpuMs } from '../../cpu-time.ts'
import { newService } from '../conversation.ts'

const aDocument = (number: number): Partial<SearchDoc> => ({
  document_id: `document-${number}`,
  semantic_identifier: `Document ${number}`,
  link: `https://docs.example/${number}`,
  blurb: 'The heron stands in the shallow water and waits. '.repeat(8),
  source_type: 'web',
  score: 0.5,
  match_highlights: ['the <hi>heron</hi> stands'],
  metadata: { place: 'pond' },
})

test('others get their turn while a session of ten megabytes is read', { timeout: 60_000 }, async () => {
  const service = await newService([])
  const { db } = service.setting
  const { body } = await service.fetchJson('/chat/create-chat-session', { json: {} })
  const id = (body as { chat_session_id: string }).chat_session_id
  const documents = Array.from({ length: 10 }, (_, number) => aDocument(number))
  const packets = JSON.stringify([{ type: 'search_tool_start' }, { type: 'search_tool_documents_delta', documents }])
  await db.transaction().execute(async (records) => {
    let parent: number | null = null
    for (let count = 0; count < 560; count++) {
      const role = count === 0 ? 'system' : count % 2 === 1 ? 'user' : 'assistant'
      const isAnswer = role === 'assistant'
      const text = isAnswer ? `Ein Reiher wartet. ${'Er steht im Wasser – lange. '.repeat(300)}` : 'And then?'
      const held = isAnswer ? JSON.stringify(documents) : null
      const { rows }: { rows: { id: number }[] } = await sql<{ id: number }>`
        insert into inlay_chat_messages (session_id, parent_id, role, status, created_at, text, documents)
        values (${id}, ${parent}, ${role}, 'done', 0, ${text}, ${held}) returning id`.execute(records)
      parent = rows[0]!.id
      if (isAnswer)
        await sql`insert into inlay_chat_tool_calls
          (message_id, step, turn_index, tab_index, call_id, action_id, name, failed, arguments, result, packets)
          values (${parent}, 0, 0, 0, 'call', 1, 'search', 0, '{}', 'found', ${packets})`.execute(records)
    }
  })
  const read = async (): Promise<{ bytes: number; longestMs: number; turns: number }> => {
    let [last, longestMs, turns, isRead] = [cpuMs(), 0, 0, false]
    const turn = (): void => {
      const now = cpuMs()
      longestMs = Math.max(longestMs, now - last)
      last = now
      turns++
      if (!isRead) setImmediate(turn)
    }
    setImmediate(turn)
    const response = await service.ask(`/chat/get-chat-session/${id}`)
    let bytes = 0
    for await (const chunk of response.body!) bytes += chunk.byteLength
    await new Promise((resolve) => setImmediate(resolve))
    isRead = true
    return { bytes, longestMs, turns }
  }
  const readings = [await read(), await read(), await read()].toSorted((a, b) => a.longestMs - b.longestMs)
  expect(readings[1]!.bytes).toBeGreaterThan(10e6)
  expect(readings[1]!.longestMs).toBeLessThan(50)
})
