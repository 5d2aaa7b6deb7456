import { createAnswerReader } from '@inlay/openai-api/internal/answer-lines'
import { readContent } from '@inlay/openai-api/internal/content'
import type { ClientFile } from '@inlay/agent'
import type { PacketBody, SearchDoc, StreamLine } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { leastCpuMsOf } from '../cpu-time.ts'

const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const line = (obj: PacketBody): StreamLine => ({ placement, obj })
const document = (id: string, link: string | null): SearchDoc => ({
  document_id: id,
  chunk_ind: 0,
  semantic_identifier: `Title of ${id}`,
  link,
  blurb: '',
  source_type: 'web',
  boost: 0,
  hidden: false,
  metadata: {},
  score: null,
  is_relevant: null,
  relevance_explanation: null,
  match_highlights: [],
  updated_at: null,
  primary_owners: null,
  secondary_owners: null,
  is_internet: false,
  file_id: null,
})
const start: PacketBody = {
  type: 'message_start',
  final_documents: [document('leave', 'https://x.example/a_(b)'), document('bikes', null)],
  pre_answer_processing_seconds: null,
}
const cite = (number: number, id: string): PacketBody => ({
  type: 'citation_info',
  citation_number: number,
  document_id: id,
})

test('links become plain marks with their ranges; other brackets stay', () => {
  const reader = createAnswerReader((id) => `/doc/${id}`)
  const deltas = [
    'Ä [[a] 25 days',
    ' [[1]](https://x.example/a_(b)) [[2]]()',
    ', bikes 🚲 ',
    '[[2]]()',
    '. x[[9]](no) [[',
  ]
  const events = [
    ...[start, cite(1, 'leave'), cite(2, 'bikes')].flatMap((packet) => reader.take(line(packet))),
    ...deltas.flatMap((content) => reader.take(line({ type: 'message_delta', content }))),
    ...reader.take(line({ type: 'stop', stop_reason: null })),
  ]
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  expect(text).toBe('Ä [[a] 25 days [1] [2], bikes 🚲 [2]. x[[9]](no) [[')
  expect(reader.cited.text).toBe(text)
  expect(reader.cited.marks.map(({ start: from, end, url }) => [text.slice(from, end), url])).toEqual([
    ['[1]', 'https://x.example/a_(b)'],
    ['[2]', '/doc/bikes'],
    ['[2]', '/doc/bikes'],
  ])
  expect(events.at(-1)).toMatchObject({ type: 'stop', reason: 'stop' })
  expect(reader.end()).toEqual([])
})

test('a run that breaks off or fails ends with an error', () => {
  const broken = createAnswerReader(String)
  broken.take(line(start))
  expect(broken.end()).toMatchObject([{ type: 'error', error: { code: 'SERVICE_UNAVAILABLE' } }])
  const failed = createAnswerReader(String)
  const error = { error: 'No.', stack_trace: null, error_code: 'CONTEXT_TOO_LONG', is_retryable: false, details: null }
  expect(failed.take(error)).toMatchObject([{ type: 'error', error: { code: 'CONTEXT_TOO_LONG', message: 'No.' } }])
  expect(failed.end()).toEqual([])
})

test('content is text or parts; files come in memory or by their ids', () => {
  const files: ClientFile[] = []
  const read = readContent(
    [
      { type: 'text', text: 'What is' },
      { type: 'input_text', text: 'this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${btoa('pixels')}` } },
      { type: 'file', file: { file_data: `data:text/plain;base64,${btoa('notes')}`, filename: 'notes.txt' } },
      { type: 'input_file', file_id: 'file-5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10' },
    ],
    files,
    'messages.0.content',
  )
  expect(read.text).toBe('What is\nthis?')
  expect(read.fileIds).toEqual([files[0]?.id, files[1]?.id, '5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10'])
  expect(files.map(({ name, mediaType, bytes }) => [name, mediaType, new TextDecoder().decode(bytes)])).toEqual([
    ['picture-1', 'image/png', 'pixels'],
    ['notes.txt', 'text/plain', 'notes'],
  ])
  for (const [part, words] of [
    [{ type: 'image_url', image_url: { url: 'https://x.example/a.png' } }, 'send the data itself'],
    [{ type: 'image_url', image_url: 'data:image/png;base64,?' }, 'must be base64'],
    [{ type: 'input_audio' }, '"input_audio" is not supported'],
  ] as const)
    expect(() => readContent([part], [], 'messages.0.content')).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(words),
        data: { param: 'messages.0.content.0', openaiCode: 'invalid_value' },
      }),
    )
})

test('hostile text costs linear time', () => {
  for (const content of [
    '['.repeat(2e6),
    '[[1]]('.repeat(3e5),
    `[[1]](${'('.repeat(2e6)}`,
    `[[1]](${'(a)'.repeat(7e5)}`,
  ]) {
    const began = performance.now()
    const reader = createAnswerReader(String)
    reader.take(line({ type: 'message_delta', content }))
    reader.take(line({ type: 'stop', stop_reason: null }))
    expect(reader.cited.text).toBe(content)
    expect(performance.now() - began).toBeLessThan(2_000)
  }
})

test('a large picture is decoded at once, and too many files are refused', async () => {
  const picture = { type: 'image_url', image_url: `data:image/png;base64,${'A'.repeat(9e6)}` }
  expect(readContent([picture], [], '').fileIds).toHaveLength(1)
  const decoding = await leastCpuMsOf(() => atob('A'.repeat(9e6)))
  expect(await leastCpuMsOf(() => readContent([picture], [], ''))).toBeLessThan(10 * decoding)
  const file = { type: 'file', file: { file_id: 'file-1' } }
  expect(() =>
    readContent(
      Array.from({ length: 1001 }, () => file),
      [],
      'messages.0.content',
    ),
  ).toThrow(/1000 files/)
})
