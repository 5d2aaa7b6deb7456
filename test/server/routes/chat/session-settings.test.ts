import { expect, test } from 'vitest'
import type { ChatSessionDetail } from '@inlay/protocol'
import { newService } from '../../conversation.ts'
import { unknownSessionId } from '../../fakes.ts'

const put = (json: object) => ({ method: 'PUT', json })
const done = { status: 200, body: null }
const coded = (status: number, code: string) => ({
  status,
  body: { error_code: code, detail: expect.any(String) },
})

test('a branch is selected by one of its messages', async () => {
  const { say, fetchJson, setting } = await newService([['One.'], ['Two.'], ['Three.']])
  const { session, answer } = await say('Q')
  const again = await say('', { chat_session_id: session, parent_message_id: answer - 1 })
  expect(await fetchJson('/chat/set-message-as-latest', put({ message_id: answer }))).toEqual(done)
  await say('And?', { chat_session_id: session })
  expect(JSON.stringify(setting.model.requests[2]?.prompt)).toContain('One.')
  const body = (await fetchJson(`/chat/get-chat-session/${session}`)).body as ChatSessionDetail
  expect(body.messages.find(({ message_id }) => message_id === answer - 1)?.latest_child_message).toBe(answer)
  expect(
    await fetchJson('/chat/set-message-as-latest', { ...put({ message_id: answer }), key: 'key-bob' }),
  ).toMatchObject(coded(400, 'VALIDATION_ERROR'))
  for (const id of [again.answer + 99, body.messages[0]?.message_id ?? 0, -1])
    expect(await fetchJson('/chat/set-message-as-latest', put({ message_id: id }))).toMatchObject(
      coded(400, 'VALIDATION_ERROR'),
    )
  expect((await fetchJson('/chat/set-message-as-latest', put({ message_id: 'one' }))).status).toBe(422)
})

test('an answer is preferred among those to its question', async () => {
  const { say, fetchJson } = await newService(() => ['x'])
  const { session, answer } = await say('Q')
  const prefer = (question: number, response: number) =>
    fetchJson('/chat/set-preferred-response', put({ user_message_id: question, preferred_response_id: response }))
  expect(await prefer(answer - 1, answer)).toEqual(done)
  const body = (await fetchJson(`/chat/get-chat-session/${session}`)).body as ChatSessionDetail
  expect(body.messages[1]?.preferred_response_id).toBe(answer)
  expect(await prefer(answer, answer - 1)).toMatchObject(coded(400, 'INVALID_INPUT'))
  expect(await prefer(answer - 1, 999)).toMatchObject(coded(400, 'INVALID_INPUT'))
})

test('feedback is kept, taken back, refused without content, and limited', async () => {
  const { say, fetchJson, ask } = await newService(() => ['x'])
  const { session, answer } = await say('Q')
  const judge = (json: object, key = 'key-alice') => fetchJson('/chat/create-chat-message-feedback', { json, key })
  const shown = async () =>
    ((await fetchJson(`/chat/get-chat-session/${session}`)).body as ChatSessionDetail).messages[2]?.current_feedback
  expect(await judge({ chat_message_id: answer, is_positive: true, feedback_text: 'Good' })).toEqual(done)
  expect(await shown()).toBe('like')
  const path = `/chat/remove-chat-message-feedback?chat_message_id=${answer}`
  expect(await fetchJson(path, { method: 'DELETE' })).toEqual(done)
  expect(await shown()).toBeNull()
  expect((await judge({ chat_message_id: answer })).status).toBe(422)
  expect(await judge({ chat_message_id: answer, is_positive: true }, 'key-bob')).toMatchObject(
    coded(400, 'VALIDATION_ERROR'),
  )
  expect(await judge({ chat_message_id: answer - 1, is_positive: true })).toMatchObject(coded(400, 'VALIDATION_ERROR'))
  for (let count = 3; count < 100; count++) await judge({ chat_message_id: answer, is_positive: false })
  const limited = await ask(path, { method: 'DELETE' })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
  expect(await limited.json()).toMatchObject({ error_code: 'RATE_LIMITED' })
})

test('model, temperature and effort of a session are kept and shown', async () => {
  const { fetchJson } = await newService([])
  const { body } = await fetchJson('/chat/create-chat-session', { json: {} })
  const id = (body as { chat_session_id: string }).chat_session_id
  const set = (what: string, json: object) =>
    fetchJson(`/chat/update-chat-session-${what}`, put({ chat_session_id: id, ...json }))
  expect(await set('model', { new_alternate_model: 'script-1' })).toEqual(done)
  expect(await set('temperature', { temperature_override: 0.4 })).toEqual(done)
  expect(await set('reasoning', { reasoning_effort_override: 'low' })).toEqual(done)
  expect((await fetchJson(`/chat/get-chat-session/${id}`)).body).toMatchObject({
    current_alternate_model: 'script-1',
    current_temperature_override: 0.4,
    current_reasoning_effort_override: 'low',
  })
  expect(await set('temperature', { temperature_override: 3 })).toMatchObject(coded(400, 'VALIDATION_ERROR'))
  expect(await set('reasoning', { reasoning_effort_override: 'huge' })).toMatchObject(coded(400, 'INVALID_INPUT'))
  expect((await set('temperature', { temperature_override: 'warm' })).status).toBe(422)
  expect((await set('model', {})).status).toBe(422)
  expect(
    await fetchJson(
      '/chat/update-chat-session-model',
      put({ chat_session_id: unknownSessionId, new_alternate_model: 'script-1' }),
    ),
  ).toMatchObject(coded(404, 'SESSION_NOT_FOUND'))
})

test('the room that is left is told', async () => {
  const { fetchJson, say } = await newService(() => ['x'])
  const { session } = await say('Q')
  const { body } = await fetchJson(`/chat/available-context-tokens/${session}`)
  const { body: documents } = await fetchJson('/chat/max-selected-document-tokens?persona_id=0')
  expect(body).toEqual({ available_tokens: expect.any(Number) })
  expect(documents).toEqual({ max_tokens: expect.any(Number) })
  expect((body as { available_tokens: number }).available_tokens).toBeGreaterThan(90_000)
  expect(await fetchJson('/chat/max-selected-document-tokens?persona_id=5')).toMatchObject(
    coded(404, 'PERSONA_NOT_FOUND'),
  )
  expect(await fetchJson(`/chat/available-context-tokens/${session}`, { key: 'key-bob' })).toMatchObject(
    coded(404, 'SESSION_NOT_FOUND'),
  )
})
