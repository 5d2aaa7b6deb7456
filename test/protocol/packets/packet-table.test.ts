import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import {
  createLineDecoder,
  encodeLine,
  type PacketType,
  packetBodySchema,
  packetSchema,
  packetTable,
  packetTypes,
} from '@inlay/protocol'
import { packetSchemaName } from '@inlay/protocol/internal/packets/packet-entry'
import descriptions from '../../../packages/protocol/scripts/descriptions.ts'

const placement = { turn_index: 1, tab_index: 2, sub_turn_index: 3, model_index: 0 }
const decode = (line: unknown): unknown => createLineDecoder('lines').push(`${JSON.stringify(line)}\n`)[0]?.line

describe('the packet table', () => {
  it('has every type of the contract', () => {
    const contract = [
      'section_end stop top_level_branching error message_start message_delta search_tool_start',
      'search_tool_queries_delta search_tool_documents_delta open_url_start open_url_urls open_url_documents',
      'image_generation_start image_generation_heartbeat image_generation_final python_tool_start python_tool_delta',
      'custom_tool_start custom_tool_delta reasoning_start reasoning_delta reasoning_done citation_info',
      'deep_research_plan_start deep_research_plan_delta research_agent_start intermediate_report_start',
      'intermediate_report_delta intermediate_report_cited_docs',
    ].flatMap((names) => names.split(' '))
    expect(contract).toHaveLength(29)
    expect(packetTypes).toEqual(expect.arrayContaining(contract))
  })

  it.each(packetTypes)('%s has an example that is its own encoding, decoding and shape', (type: PacketType) => {
    const { example, schema } = packetTable[type]
    const packet = { placement, obj: example }
    expect(v.parse(schema, example)).toEqual(example)
    expect(v.parse(packetBodySchema, example)).toEqual(example)
    expect(v.parse(packetSchema, packet)).toEqual(packet)
    expect(decode(packet)).toEqual(packet)
    expect(encodeLine(packet)).toBe(JSON.stringify(packet))
    expect(descriptions[packetSchemaName(type)]?.description).toMatch(/\.$/)
  })

  it('fills fields that an older server leaves out', () => {
    const sparse: Record<string, [unknown, unknown]> = {
      'a failed tool without reason': [
        { type: 'error' },
        { type: 'error', exception: '', error_code: null, is_retryable: true },
      ],
      'a start without documents': [
        { type: 'message_start' },
        { type: 'message_start', final_documents: null, pre_answer_processing_seconds: null },
      ],
      'output without errors': [
        { type: 'python_tool_delta', stdout: '1' },
        { type: 'python_tool_delta', stdout: '1', stderr: '', file_ids: [] },
      ],
      'an answer without data': [
        { type: 'custom_tool_delta', tool_name: 'a', response_type: 'text' },
        {
          type: 'custom_tool_delta',
          tool_name: 'a',
          tool_id: null,
          response_type: 'text',
          data: null,
          file_ids: null,
          error: null,
        },
      ],
    }
    for (const [name, [given, read]] of Object.entries(sparse))
      expect(decode({ placement: { turn_index: 0 }, obj: given }), name).toEqual({
        placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
        obj: read,
      })
  })

  it('keeps usage out of a stop that does not tell it', () => {
    expect(decode({ placement, obj: { type: 'stop', stop_reason: null } })).toEqual({
      placement,
      obj: { type: 'stop', stop_reason: null },
    })
    const usage = { input_tokens: 12, output_tokens: 3, reasoning_tokens: null, cached_input_tokens: 0 }
    expect(decode({ placement, obj: { type: 'stop', stop_reason: null, usage } })).toHaveProperty('obj.usage', usage)
  })

  it.each([
    ['an unknown type', { placement, obj: { type: 'hologram', depth: 3 } }],
    ['a type that only objects know', { placement, obj: { type: 'constructor' } }],
    ['a missing field', { placement, obj: { type: 'message_delta' } }],
    ['a field of another type', { placement, obj: { type: 'message_delta', content: 7 } }],
    ['no placement', { obj: { type: 'section_end' } }],
    ['a body that is no object', { placement, obj: 'stop' }],
  ])('passes on a packet with %s as unknown', (_name, packet) => {
    const line = createLineDecoder('lines').push(`${JSON.stringify(packet)}\n`)[0]?.line
    expect(line).toEqual({ unknown: packet })
    expect(line && encodeLine(line)).toBe(JSON.stringify(packet))
  })
})
