import { describe, expect, it } from 'vitest'
import { originValues, parseWith, type SendMessageRequest, sendMessageRequestSchema } from '@inlay/protocol'

const read = (fields: object): SendMessageRequest =>
  parseWith(sendMessageRequestSchema, { message: 'Hello', ...fields }, 'body')

const defaults: SendMessageRequest = {
  message: 'Hello',
  llm_override: null,
  llm_overrides: null,
  allowed_tool_ids: null,
  forced_tool_id: null,
  file_descriptors: [],
  internal_search_filters: null,
  deep_research: false,
  mcp_headers: null,
  origin: 'unset',
  parent_message_id: -1,
  chat_session_id: null,
  chat_session_info: null,
  stream: true,
  include_citations: true,
  additional_context: null,
  include_usage: false,
  tool_approvals: null,
}

describe('a chat message', () => {
  it('needs nothing but its text, which may be empty', () => {
    expect(read({})).toEqual(defaults)
    expect(read({ message: '' }).message).toBe('')
  })

  it('takes null for every default, but means something by a null parent', () => {
    const nulls = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]))
    expect(read({ ...nulls, message: 'Hello' })).toEqual({ ...defaults, parent_message_id: null })
  })

  it('ignores what it does not know', () => {
    expect(read({ temperature: 3, mock_llm_response: 5 })).toEqual(defaults)
  })

  it.each(['', '  ', null, undefined])(
    'with the session id %j opens a new session, also beside its settings',
    (blank) => {
      expect(read({ chat_session_id: blank, chat_session_info: {} })).toMatchObject({
        chat_session_id: null,
        chat_session_info: { persona_id: 0, description: null, project_id: null, incognito: false },
      })
    },
  )

  it('may be null on one side of session id and settings', () => {
    const id = '0d9f3a52-41f7-4f0c-8f49-5c1be6a3d7e0'
    expect(read({ chat_session_id: id, chat_session_info: null }).chat_session_id).toBe(id)
  })

  it('names its session in any spelling of a uuid', () => {
    const id = '0d9f3a52-41f7-4f0c-8f49-5c1be6a3d7e0'
    for (const spelling of [id.toUpperCase(), id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`])
      expect(read({ chat_session_id: spelling }).chat_session_id).toBe(id)
  })

  it.each(originValues)('may come from %s', (origin) => {
    expect(read({ origin }).origin).toBe(origin)
  })

  it('keeps emoji and dashes but neither NUL nor half characters', () => {
    expect(read({ message: 'a\0b\uD800c — 🛰 “x”' }).message).toBe('abc — 🛰 “x”')
  })

  it('keeps filters with every moment in UTC', () => {
    const filters = {
      source_type: ['web'],
      tags: [{ tag_key: 'a', tag_value: 'b' }],
      time_cutoff: '2026-03-01T12:00:00',
      created_at_range: { start: '2026-03-01T12:00:00+02:00' },
    }
    expect(read({ internal_search_filters: filters }).internal_search_filters).toEqual({
      source_type: ['web'],
      document_set: null,
      tags: [{ tag_key: 'a', tag_value: 'b' }],
      time_cutoff: '2026-03-01T12:00:00.000Z',
      created_at_range: { start: '2026-03-01T10:00:00.000Z', end: null },
      updated_at_range: null,
    })
  })

  it('names a file by its id alone', () => {
    expect(read({ file_descriptors: [{ id: 'f' }] }).file_descriptors).toEqual([
      { id: 'f', type: null, name: null, user_file_id: null },
    ])
  })

  it('forces no action by 0', () => {
    expect(read({ forced_tool_id: 0 }).forced_tool_id).toBeNull()
    expect(read({ forced_tool_id: 4 }).forced_tool_id).toBe(4)
  })

  it('keeps the difference between all actions and none', () => {
    expect(read({ allowed_tool_ids: [] }).allowed_tool_ids).toEqual([])
    expect(read({ allowed_tool_ids: null }).allowed_tool_ids).toBeNull()
  })
})
