import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fold, lineKind, packetSchema, type ChatFullResponse, type Packet, type StreamLine } from '@inlay/protocol'
import { createParser } from 'eventsource-parser'
import { safeParse } from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from './process.ts'

/** Real documents to try on, by default from a folder beside the repository; the walk is left out where there are none. */
const book = process.env['INLAY_TEST_BOOK'] ?? '../shared/corpora/documents/rust-book'
const question = 'What is the difference between a String and a string slice?'

function inlay(dataFolder: string, ...words: string[]): string {
  const cli = join(import.meta.dirname, '../../packages/inlay/src/cli.ts')
  const done = spawnSync(process.execPath, ['--conditions=@inlay/source', cli, ...words], {
    encoding: 'utf8',
    env: { ...process.env, INLAY_DATA: dataFolder, NO_COLOR: '1' },
  })
  expect(done.status, done.stderr).toBe(0)
  return done.stdout
}

describe.skipIf(!existsSync(book))('a book, read in by the command line', () => {
  const folder = temporaryFolder()
  let service: Service
  beforeAll(async () => {
    inlay(folder.path, 'ingest', book)
    service = await startService(folder.path)
    // Rows that the command did not fold are folded after the first search, which may change the order.
    await service.fetch('/search', { method: 'POST', body: JSON.stringify({ query: question }) })
    await eventually('every row is folded in', async () => {
      const figures = await (await service.fetch('/service-api/ingestion-figures')).json()
      return figures.index.unindexed_rows === 0 || undefined
    })
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })

  const ask = (body: object, accept = '*/*'): Promise<Response> =>
    service.fetch('/chat/send-chat-message', { method: 'POST', body: JSON.stringify(body), headers: { accept } })

  test('read in again, nothing changes', () => {
    expect(inlay(folder.path, 'ingest', book)).toMatch(/0 new, 0 changed, 112 unchanged, 0 failed/)
  })

  test('the command line answers with the right chapters', () => {
    const answer = inlay(folder.path, 'ask', question)
    expect(answer).toMatch(/ch08-02-strings\.md/)
    expect(answer).toMatch(/ch04-03-slices\.md/)
    expect(answer).toMatch(/slice/)
  })

  test('the stream, the lines and the whole answer say the same, in the order of the wire', async () => {
    const events: string[] = []
    const parser = createParser({
      onEvent: ({ data, id }) => (expect(Number(id)).toBe(events.length + 1), events.push(data)),
    })
    parser.feed(await (await ask({ message: question })).text())
    const streamed = events.map((data) => JSON.parse(data) as StreamLine)

    const text = await (await ask({ message: question }, 'application/x-ndjson')).text()
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StreamLine)

    const whole = (await (await ask({ message: question, stream: false })).json()) as ChatFullResponse

    for (const run of [streamed, lines]) {
      const packets = run.filter((line): line is Packet => 'obj' in line)
      for (const packet of packets) expect(safeParse(packetSchema, packet).issues).toBeUndefined()
      expect(run.slice(0, 2).map(lineKind)).toEqual(['session', 'message_id'])
      expect(run.slice(2).every((line) => 'obj' in line)).toBe(true)
      const types = packets.map(({ obj }) => obj.type)
      expect(types.slice(0, 5)).toEqual([
        'search_tool_start',
        'search_tool_queries_delta',
        'search_tool_documents_delta',
        'section_end',
        'message_start',
      ])
      expect(new Set(types.slice(5, -1))).toEqual(new Set(['message_delta', 'citation_info']))
      expect(types.at(-1)).toBe('stop')

      const folded = fold(run)
      expect(folded.answer).toBe(whole.answer)
      expect(folded.answer_citationless).toBe(whole.answer_citationless)
      expect(folded.citation_info).toEqual(whole.citation_info)
      expect(folded.top_documents).toEqual(whole.top_documents)
    }
    const cited = whole.citation_info.map(({ document_id }) => document_id)
    expect(cited.join(' ')).toMatch(/ch08-02-strings\.md/)
    for (const id of cited) expect(whole.top_documents.map(({ document_id }) => document_id)).toContain(id)
    expect(whole.tool_calls[0]).toMatchObject({ tool_name: 'internal_search' })
  })
})
