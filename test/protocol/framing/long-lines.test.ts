import fc from '../../fast-check.ts'
import { describe, expect, it } from 'vitest'
import {
  createFold,
  encodeLine,
  isPacket,
  maxLineBytes,
  type PacketBody,
  type PacketType,
  packetTable,
  packetTypes,
  splitLine,
  type StreamLine,
} from '@inlay/protocol'
import { document } from '../fixtures/documents.ts'

const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const packet = (obj: PacketBody): StreamLine => ({ placement, obj })
const size = (line: StreamLine): number => new TextEncoder().encode(encodeLine(line)).length

describe('a line that would not fit', () => {
  it('is split into lines that fit and join to the same text', () => {
    const maxBytes = 1000
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (content) => {
        const parts = splitLine(packet({ type: 'message_delta', content }), maxBytes)
        expect(parts.every((part) => size(part) <= maxBytes)).toBe(true)
        const texts = parts.map((part) => ('obj' in part && part.obj.type === 'message_delta' ? part.obj.content : ''))
        expect(texts.join('')).toBe(content)
      }),
    )
  })

  it('is never cut inside a character', () => {
    for (const content of ['🛰'.repeat(999), `x${'🛰'.repeat(999)}`])
      for (const part of splitLine(packet({ type: 'message_delta', content }), 1000))
        expect(encodeLine(part).isWellFormed() && !encodeLine(part).includes('\\ud')).toBe(true)
  })

  it('of a whole book stays under a mebibyte a line', () => {
    const parts = splitLine(packet({ type: 'reasoning_delta', reasoning: '§\u0000'.repeat(1_000_000) }))
    expect(parts.length).toBeGreaterThan(1)
    expect(Math.max(...parts.map(size))).toBeLessThan(1024 * 1024)
  })

  it('gives output in order, files and exit code with the last part', () => {
    const parts = splitLine(
      packet({ type: 'python_tool_delta', stdout: 'o'.repeat(300), stderr: 'e'.repeat(100), file_ids: ['f'] }),
      1000,
    )
    const fold = createFold()
    for (const part of parts) fold.add(part)
    expect(fold.state.blocks[0]).toMatchObject({
      output: 'o'.repeat(300),
      errorOutput: 'e'.repeat(100),
      fileIds: ['f'],
    })
    expect(parts.length).toBeGreaterThan(4)
  })

  it('gives arguments by name', () => {
    const parts = splitLine(
      packet({ type: 'tool_call_argument_delta', tool_type: 'run_python', argument_deltas: { code: 'x'.repeat(500) } }),
      1000,
    )
    const code = parts.map((part) =>
      'obj' in part && part.obj.type === 'tool_call_argument_delta' ? part.obj.argument_deltas.code : '',
    )
    expect(code.length).toBeGreaterThan(1)
    expect(code.join('')).toBe('x'.repeat(500))
  })

  it('loses ends of blurbs and highlights, but no document, before anything else', () => {
    const documents = Array.from({ length: 50 }, (_, at) =>
      document({ document_id: `d${at}`, blurb: 'b'.repeat(40_000), match_highlights: ['h'.repeat(40_000)] }),
    )
    const [part, ...more] = splitLine(packet({ type: 'search_tool_documents_delta', documents }))
    expect(more).toEqual([])
    expect(part && size(part)).toBeLessThanOrEqual(maxLineBytes)
    const kept = part && 'obj' in part && part.obj.type === 'search_tool_documents_delta' ? part.obj.documents : []
    expect(kept.map((each) => each.document_id)).toEqual(documents.map((each) => each.document_id))
    expect(kept[0]).toMatchObject({ link: documents[0]?.link, metadata: documents[0]?.metadata })
    expect(kept[0]?.blurb).toMatch(/^b{1000,}$/)
  })

  it('loses its last documents when their ids alone are too long', () => {
    const documents = Array.from({ length: 8 }, (_, at) => document({ document_id: `${at}`.repeat(500_000) }))
    const [part] = splitLine(
      packet({ type: 'message_start', final_documents: documents, pre_answer_processing_seconds: 1 }),
    )
    const kept = part && 'obj' in part && part.obj.type === 'message_start' ? part.obj.final_documents : []
    expect(kept?.map((each) => each.document_id[0])).toEqual(['0', '1'])
  })

  it('keeps its shape when a value is cut', () => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 'v'.repeat(1000)]))
    const obj = { ...packetTable.custom_tool_delta.example, data }
    const [part] = splitLine(packet(obj))
    expect(part && size(part)).toBeLessThanOrEqual(maxLineBytes)
    expect(part).toMatchObject({ obj: { type: 'custom_tool_delta', tool_name: obj.tool_name, error: null } })
  })

  it('keeps an error readable', () => {
    const [part] = splitLine({
      error: 'e'.repeat(2_000_000),
      stack_trace: null,
      error_code: 'API_ERROR',
      is_retryable: true,
      details: { model: 'm' },
    })
    expect(part).toMatchObject({ error_code: 'API_ERROR', details: null })
    expect(part && size(part)).toBeLessThanOrEqual(maxLineBytes)
  })

  it.each(packetTypes)('is not %s of ordinary size', (type: PacketType) => {
    const line = packet(packetTable[type].example)
    expect(splitLine(line)).toEqual([line])
    expect(splitLine(line).every(isPacket)).toBe(true)
  })
})
