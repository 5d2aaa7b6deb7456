import { expect, test } from 'vitest'
import { newService } from './conversation.ts'

test('a shell script that sends numbers and booleans as text is answered as one that does not', async () => {
  const { ask, fetchJson } = await newService([['One.'], ['Two.']])
  const send = async (json: object): Promise<Record<string, unknown>> => {
    const response = await ask('/chat/send-chat-message', { json })
    expect(response.headers.get('content-type')).toContain('application/json')
    return (await response.json()) as Record<string, unknown>
  }
  const whole = await send({
    message: 'Q',
    stream: 'false',
    deep_research: 'off',
    include_citations: '1',
    parent_message_id: '-1',
    forced_tool_id: '0',
    chat_session_info: { persona_id: '0' },
    llm_override: { temperature: '0.5' },
    internal_search_filters: { time_cutoff: 1_700_000_000 },
  })
  expect(whole).toMatchObject({ answer: 'One.', error_msg: null })
  const { chat_session_id: session, message_id: answer } = whole
  const next = { message: 'And?', stream: 0, chat_session_id: session, parent_message_id: String(answer) }
  expect(await send(next)).toMatchObject({ answer: 'Two.', chat_session_id: session })
  const stored = await fetchJson(`/chat/get-chat-session/${String(session)}?include_deleted=n`)
  expect(stored).toMatchObject({ status: 200, body: { chat_session_id: session } })
})

test.each([
  [{ stream: 'never' }, 'bool_parsing'],
  [{ stream: [] }, 'bool_type'],
  [{ parent_message_id: '1.5' }, 'int_parsing'],
  [{ parent_message_id: 1.5 }, 'int_from_float'],
  [{ chat_session_info: { description: 7 } }, 'string_type'],
  [{ message: 7 }, 'string_type'],
])('%j is refused as %s', async (more, type) => {
  const { fetchJson } = await newService([['One.']])
  const refused = await fetchJson('/chat/send-chat-message', { json: { message: 'Q', ...more } })
  expect(refused).toMatchObject({ status: 422, body: { detail: [{ type }] } })
})
