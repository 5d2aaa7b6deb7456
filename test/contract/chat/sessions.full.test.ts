import { afterAll, beforeAll, expect, test } from 'vitest'
import { heron, searchThenSay, startService, type Json, type Service } from '../service.ts'

let service: Service
let session: string
let message: number
beforeAll(async () => {
  service = await startService()
  await service.ingest(heron('a'))
  service.answerWith(searchThenSay('It waits in the reeds [1].'))
  const answer = await service.ask({ message: 'Where does the heron wait?' })
  session = answer.chat_session_id
  message = answer.message_id
})
afterAll(async () => {
  await service.close()
  expect(service.errors).toEqual([])
})

const unknown = '7b0e4b3e-6c6f-4a54-9a0b-0f2f5a6d1c11'

test('a whole answer has ten fields, and each of its calls six', async () => {
  const answer = await service.ask({ message: 'Where?' })
  expect(Object.keys(answer).toSorted()).toEqual(
    [
      'answer',
      'answer_citationless',
      'pre_answer_reasoning',
      'tool_calls',
      'top_documents',
      'citation_info',
      'message_id',
      'chat_session_id',
      'incognito',
      'error_msg',
    ].toSorted(),
  )
  const [call] = answer.tool_calls
  expect(Object.keys(call).toSorted()).toEqual([
    'generated_images',
    'pre_reasoning',
    'search_docs',
    'tool_arguments',
    'tool_name',
    'tool_result',
  ])
  expect(JSON.parse(call.tool_result).results[0]).toMatchObject({ document: 1, title: 'Heron a' })
  expect(answer.citation_info).toEqual([{ type: 'citation_info', citation_number: 1, document_id: 'a' }])
})

test('a session tells its sixteen fields, each message seventeen; its root is a message of the system', async () => {
  const { json } = await service.call('GET', `/chat/get-chat-session/${session}`)
  expect(Object.keys(json)).toEqual(
    expect.arrayContaining([
      'chat_session_id',
      'description',
      'persona_id',
      'persona_name',
      'personal_icon_name',
      'messages',
      'time_created',
      'shared_status',
      'current_alternate_model',
      'current_temperature_override',
      'current_reasoning_effort_override',
      'deleted',
      'owner_name',
      'packets',
      'current_run',
      'incognito',
    ]),
  )
  expect(json.messages.map((each: Json) => each.message_type)).toEqual(['system', 'user', 'assistant'])
  expect(json.messages[0].message).toBe('')
  expect(Object.keys(json.messages[2])).toEqual(
    expect.arrayContaining([
      'chat_session_id',
      'message_id',
      'parent_message',
      'latest_child_message',
      'message',
      'reasoning_tokens',
      'message_type',
      'context_docs',
      'citations',
      'time_sent',
      'files',
      'error',
      'current_feedback',
      'processing_duration_seconds',
      'preferred_response_id',
      'model_display_name',
      'request_params',
    ]),
  )
  expect(json.messages[2].citations).toEqual({ 1: 'a' })
  expect(json.messages[2].context_docs[0]).toMatchObject({ document_id: 'a', db_doc_id: expect.any(Number) })
  expect(json.packets).toHaveLength(1)
})

test('sessions are listed by page, newest first, with nine fields each', async () => {
  const { json } = await service.call('GET', '/chat/get-user-chat-sessions?page_size=1')
  expect(Object.keys(json)).toEqual(['sessions', 'has_more'])
  expect(Object.keys(json.sessions[0])).toEqual(
    expect.arrayContaining([
      'id',
      'name',
      'persona_id',
      'time_created',
      'time_updated',
      'shared_status',
      'current_alternate_model',
      'current_temperature_override',
      'current_reasoning_effort_override',
    ]),
  )
  for (const query of ['page_size=0', 'page_size=101', 'before=x'])
    expect((await service.call('GET', `/chat/get-user-chat-sessions?${query}`)).status, query).toBe(422)
})

test('chats that were searched for come by age, in named groups', async () => {
  const { json } = await service.call('GET', '/chat/search?query=heron')
  expect(Object.keys(json)).toEqual(['groups', 'has_more', 'next_page'])
  expect(json.groups.map((group: Json) => group.title)).toEqual(['Today'])
  expect(json.groups[0].chats[0]).toMatchObject({ id: expect.any(String), shared_status: 'private' })
})

test('what changes a session answers null, or what it changed', async () => {
  const answers: (readonly [string, string, object | undefined, Json])[] = [
    ['PUT', '/chat/rename-chat-session', { chat_session_id: session, name: 'N' }, { new_name: 'N' }],
    ['PATCH', `/chat/chat-session/${session}`, { sharing_status: 'public' }, null],
    ['PUT', '/chat/set-message-as-latest', { message_id: message }, null],
    ['POST', '/chat/create-chat-message-feedback', { chat_message_id: message, is_positive: true }, null],
    ['DELETE', `/chat/remove-chat-message-feedback?chat_message_id=${message}`, undefined, null],
    ['PUT', '/chat/update-chat-session-model', { chat_session_id: session, new_alternate_model: 's' }, null],
    ['PUT', '/chat/update-chat-session-temperature', { chat_session_id: session, temperature_override: 0.5 }, null],
    ['PUT', '/chat/update-chat-session-reasoning', { chat_session_id: session, reasoning_effort_override: null }, null],
  ]
  for (const [method, path, body, expected] of answers) {
    const { status, json } = await service.call(method, path, body)
    expect([status, json], path).toEqual([200, expected])
  }
  expect((await service.call('GET', `/chat/get-chat-session/${session}?is_shared=true`)).status).toBe(200)
})

test('limits of what fits are told as numbers, and what is not offered as such', async () => {
  const tokens = await service.call('GET', `/chat/available-context-tokens/${session}`)
  expect(tokens.json).toEqual({ available_tokens: expect.any(Number) })
  const most = await service.call('GET', '/chat/max-selected-document-tokens?persona_id=0')
  expect(most.json).toEqual({ max_tokens: expect.any(Number) })
  expect((await service.call('GET', '/chat/incognito-availability')).json.available).toBe(false)
  for (const path of ['/chat/send-message', '/chat/send-message-simple-api'])
    expect((await service.call('POST', path, {})).status, path).toBe(410)
})

test('a session that is not there is 404 wherever it is named', async () => {
  const requests: (readonly [string, string, object?])[] = [
    ['GET', `/chat/get-chat-session/${unknown}`],
    ['GET', `/chat/chat-session/${unknown}/resume-stream`],
    ['POST', `/chat/stop-chat-session/${unknown}`],
    ['PATCH', `/chat/chat-session/${unknown}`, { sharing_status: 'public' }],
    ['DELETE', `/chat/delete-chat-session/${unknown}`],
    ['PUT', '/chat/rename-chat-session', { chat_session_id: unknown, name: 'N' }],
  ]
  for (const [method, path, body] of requests) {
    const { status, json } = await service.call(method, path, body)
    expect([status, json.error_code], path).toEqual([404, 'SESSION_NOT_FOUND'])
  }
})

test('a session that is deleted is gone, and its stream with it', async () => {
  const { chat_session_id: id } = await service.ask({ message: 'Hi' })
  expect((await service.call('DELETE', `/chat/delete-chat-session/${id}`)).json).toBeNull()
  expect((await service.call('GET', `/chat/get-chat-session/${id}`)).status).toBe(404)
})

test.each([
  ['several in one bracket', 'See [1, 1].', /See \[\[1\]\]\(/],
  ['brackets of other scripts', 'See 【1】.', /See \[\[1\]\]\(/],
  ['directly after a word', 'reeds[1].', /reeds \[\[1\]\]\(/],
  ['an index of code', 'arr[0] = 1', /^arr\[0\] = 1/],
  ['an unknown number after a sentence', 'Yes [77].', /^Yes\s*\.$/],
  ['inline code', 'use `x[1]` now', /^use `x\[1\]` now/],
  ['the text of a link', '[1](http://x) a', /^\[1\]\(http:\/\/x\)/],
  ['spaces within', 'a [ 1 ]', /^a \[ 1 \]/],
])('a marker as %s', async (_what, text, expected) => {
  service.answerWith(searchThenSay(text))
  expect((await service.ask({ message: 'heron' })).answer).toMatch(expected)
})

test('without citations there are neither markers nor their packets', async () => {
  service.answerWith(searchThenSay('A [1]. B'))
  const answer = await service.ask({ message: 'heron', include_citations: false })
  expect([answer.answer, answer.citation_info]).toEqual(['A. B', []])
})
