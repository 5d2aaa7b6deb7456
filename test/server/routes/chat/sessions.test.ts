import { describe, expect, test } from 'vitest'
import {
  chatSearchAnswerSchema,
  chatSessionDetailSchema,
  chatSessionListSchema,
  parseWith,
  type ChatSessionDetail,
  type ChatSessionList,
} from '@inlay/protocol'
import { findsAlways, inShort, newPassage } from '../../../agent/setting.ts'
import { newService } from '../../conversation.ts'
import { unknownSessionId } from '../../fakes.ts'

const search = findsAlways(newPassage('leave', '28 days'))
const script = [[{ call: { name: 'internal_search', input: { queries: ['leave'] } } }], ['28 days [1].']]

describe('a session that is read', () => {
  test('tells everything of its messages and shows its answers again', async () => {
    const { say, fetchJson } = await newService(script, { search })
    const { session, answer } = await say('How many?', { chat_session_info: { description: 'Leave' } })
    const { status, body } = await fetchJson(`/chat/get-chat-session/${session}`)
    expect(status).toBe(200)
    expect(parseWith(chatSessionDetailSchema, body, 'body')).toEqual(body)
    const detail = body as ChatSessionDetail
    expect(detail).toMatchObject({
      chat_session_id: session,
      description: 'Leave',
      persona_id: 0,
      persona_name: expect.any(String),
      personal_icon_name: null,
      time_created: '2026-01-12T09:30:00.000Z',
      shared_status: 'private',
      current_alternate_model: null,
      current_temperature_override: null,
      current_reasoning_effort_override: null,
      deleted: false,
      current_run: null,
      incognito: false,
    })
    expect(detail.messages.map(({ message_type, message }) => [message_type, message])).toEqual([
      ['system', ''],
      ['user', 'How many?'],
      ['assistant', '28 days [[1]](https://wiki.example/leave).'],
    ])
    expect(detail.messages[2]).toMatchObject({
      chat_session_id: session,
      message_id: answer,
      parent_message: answer - 1,
      latest_child_message: null,
      reasoning_tokens: null,
      context_docs: [{ document_id: 'leave', db_doc_id: 1 }],
      citations: { 1: 'leave' },
      files: [],
      error: null,
      current_feedback: null,
      processing_duration_seconds: 0,
      preferred_response_id: null,
      model_display_name: 'Scripted',
      request_params: { model: 'script-1' },
    })
    expect(detail.packets).toHaveLength(1)
    expect(detail.packets[0]?.map(inShort).slice(0, 2)).toEqual([
      '0.0 search_tool_start internal',
      '0.0 search_tool_queries_delta ["leave"]',
    ])
  })

  test('names the run that can be resumed: of several models that of the question', async () => {
    const { setting, fetchJson } = await newService(() => [{ hang: true }])
    const first = await setting.send({}, { caller: { id: 'alice', scopes: ['chat'] } })
    expect((await fetchJson(`/chat/get-chat-session/${first.sessionId}`)).body).toMatchObject({
      current_run: { run_id: first.messageId },
      packets: [[]],
    })
    const two = await setting.send({ llm_overrides: [{}, {}] }, { caller: { id: 'alice', scopes: ['chat'] } })
    expect((await fetchJson(`/chat/get-chat-session/${two.sessionId}`)).body).toMatchObject({
      current_run: { run_id: two.messageId - 1 },
    })
  })

  test('is shown to others only while it is public, and never what runs in it', async () => {
    const { say, fetchJson } = await newService([['Hello.'], [{ hang: true }]])
    const { session } = await say('Hi')
    const path = `/chat/get-chat-session/${session}`
    const asBob = { key: 'key-bob' }
    expect(await fetchJson(path, asBob)).toMatchObject({ status: 404, body: { error_code: 'SESSION_NOT_FOUND' } })
    const none = await fetchJson(`/chat/get-chat-session/${unknownSessionId}?is_shared=true`, asBob)
    expect(none.status).toBe(404)
    expect(await fetchJson(`${path}?is_shared=true`, asBob)).toEqual(none)
    expect(await fetchJson(`${path}?is_shared=true`)).toMatchObject({
      status: 403,
      body: { error_code: 'INSUFFICIENT_PERMISSIONS' },
    })
    const sharing = { method: 'PATCH', json: { sharing_status: 'public' } }
    expect(await fetchJson(`/chat/chat-session/${session}`, sharing)).toEqual({ status: 200, body: null })
    const shared = await fetchJson(`${path}?is_shared=true`, asBob)
    expect(shared).toMatchObject({ status: 200, body: { shared_status: 'public', owner_name: null } })
    expect(await fetchJson(path, asBob)).toMatchObject({ status: 404 })
    await fetchJson(`/chat/chat-session/${session}`, { method: 'PATCH', json: { sharing_status: 'private' } })
    expect(await fetchJson(`${path}?is_shared=true`, asBob)).toEqual(none)
  })

  test('is not there when it is unknown, and a wrong id is named as such', async () => {
    const { fetchJson } = await newService([])
    expect(await fetchJson(`/chat/get-chat-session/${unknownSessionId}`)).toMatchObject({
      status: 404,
      body: { error_code: 'SESSION_NOT_FOUND', detail: expect.any(String) },
    })
    expect(await fetchJson('/chat/get-chat-session/none')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['path', 'session_id'], type: 'uuid_parsing' }] },
    })
  })
})

test('a session is created with its settings, never incognito', async () => {
  const { fetchJson } = await newService([])
  const { status, body } = await fetchJson('/chat/create-chat-session', { json: { description: 'Plans' } })
  expect({ status, body }).toEqual({ status: 200, body: { chat_session_id: expect.any(String), incognito: false } })
  expect((await fetchJson('/chat/create-chat-session', { json: {} })).status).toBe(200)
  expect(await fetchJson('/chat/create-chat-session', { json: { incognito: true } })).toMatchObject({
    status: 403,
    body: { error_code: 'DEPLOYMENT_UNSUPPORTED' },
  })
  expect(await fetchJson('/chat/incognito-availability')).toEqual({ status: 200, body: { available: false } })
  expect(await fetchJson(`/chat/end-incognito-session/${unknownSessionId}`, { method: 'POST' })).toMatchObject({
    status: 403,
    body: { error_code: 'DEPLOYMENT_UNSUPPORTED' },
  })
  expect(await fetchJson('/chat/create-chat-session', { json: { persona_id: 77 } })).toMatchObject({
    status: 404,
    body: { error_code: 'PERSONA_NOT_FOUND' },
  })
})

test('sessions are listed page by page, without empty ones that are old', async () => {
  const { setting, say, fetchJson } = await newService(() => ['x'])
  await fetchJson('/chat/create-chat-session', { json: { description: 'Empty' } })
  setting.clock.time += 300_001
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.unshift((await say('Hi')).session)
  const list = async (query: string) => {
    const { status, body } = await fetchJson(`/chat/get-user-chat-sessions${query}`)
    expect(status).toBe(200)
    return parseWith(chatSessionListSchema, body, 'body') as ChatSessionList
  }
  const first = await list('?page_size=2')
  expect(first.sessions.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(first.has_more).toBe(true)
  const before = encodeURIComponent(first.sessions[1]?.time_updated.replace('Z', '+00:00') ?? '')
  expect(await list(`?page_size=2&before=${before}`)).toMatchObject({ sessions: [{ id: ids[2] }], has_more: false })
  expect((await list('?include_failed_chats=true')).sessions.map(({ name }) => name)).toContain('Empty')
  expect((await list('?only_non_project_chats=false')).sessions).toHaveLength(3)
  expect((await list('?project_id=3')).sessions).toEqual([])
  for (const wrong of ['page_size=0', 'page_size=101', 'before=yesterday', 'include_failed_chats=maybe']) {
    expect(await fetchJson(`/chat/get-user-chat-sessions?${wrong}`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', wrong.split('=')[0]] }] },
    })
  }
})

describe('a name', () => {
  test('is stored when it is given, else found by the model', async () => {
    const { say, fetchJson } = await newService([
      ['28 days.'],
      [{ call: { name: 'name_conversation', input: { title: 'Days of leave' } } }],
    ])
    const { session } = await say('How many days?')
    const rename = (json: object, key = 'key-alice') =>
      fetchJson('/chat/rename-chat-session', { method: 'PUT', json, key })
    expect(await rename({ chat_session_id: session, name: 'Mine' })).toEqual({
      status: 200,
      body: { new_name: 'Mine' },
    })
    expect(await rename({ chat_session_id: session, name: null })).toEqual({
      status: 200,
      body: { new_name: 'Days of leave' },
    })
    for (const path of ['/chat/create-chat-session', '/chat/send-chat-message'] as const) {
      const info = { description: 'n'.repeat(1001) }
      const json = path.endsWith('session') ? info : { message: 'x', chat_session_info: info }
      expect(await fetchJson(path, { method: 'POST', json, key: 'key-alice' })).toMatchObject({ status: 422 })
    }
    // A list of names of megabytes would hold up everybody.
    expect(await rename({ chat_session_id: session, name: 'n'.repeat(1001) })).toMatchObject({ status: 422 })
    expect(await rename({ chat_session_id: session, name: 'x' }, 'key-bob')).toMatchObject({ status: 404 })
    expect(await rename({ chat_session_id: unknownSessionId })).toMatchObject({ status: 404 })
    expect(await rename({ name: 'x' })).toMatchObject({ status: 422 })
  })
})

test('a session is hidden when it is deleted, and gone when it is erased', async () => {
  const { say, fetchJson, ask } = await newService(() => ['x'])
  const [first, second] = [await say('Hi'), await say('Ho')]
  const remove = (query: string, key = 'key-alice') =>
    fetchJson(`/chat/delete-chat-session/${query}`, { method: 'DELETE', key })
  expect(await remove(first.session, 'key-bob')).toMatchObject({ status: 404 })
  expect(await remove(first.session)).toEqual({ status: 200, body: null })
  expect(await remove(first.session)).toMatchObject({ status: 404, body: { error_code: 'SESSION_NOT_FOUND' } })
  const read = (id: string) => fetchJson(`/chat/get-chat-session/${id}?include_deleted=true`)
  expect(await read(first.session)).toMatchObject({ status: 200, body: { deleted: true } })
  expect(await remove(`${second.session}?hard_delete=true`)).toEqual({ status: 200, body: null })
  expect((await read(second.session)).status).toBe(404)
  await say('Hi')
  const all = await ask('/chat/delete-all-chat-sessions', { method: 'DELETE' })
  expect([all.status, await all.json()]).toEqual([200, null])
  expect((await fetchJson('/chat/get-user-chat-sessions')).body).toEqual({ sessions: [], has_more: false })
})

test('sessions are searched by word, grouped and paged', async () => {
  const { setting, say, fetchJson } = await newService(() => ['The bees swarm in May.'])
  const first = await say('Bees?')
  setting.clock.time += 86_400_000
  const second = await say('Bees again?')
  const find = async (query: string) => {
    const { status, body } = await fetchJson(`/chat/search${query}`)
    expect(status).toBe(200)
    return parseWith(chatSearchAnswerSchema, body, 'body')
  }
  expect(await find('?query=swarming%20bee')).toMatchObject({
    groups: [
      {
        title: 'Today',
        chats: [
          {
            id: second.session,
            persona_id: 0,
            match: { message_id: expect.any(Number) as number, text: 'The bees swarm in May.' },
          },
        ],
      },
      { title: 'Yesterday', chats: [{ id: first.session, shared_status: 'private' }] },
    ],
    has_more: false,
    next_page: null,
  })
  expect(await find('?query=wasps')).toEqual({ groups: [], has_more: false, next_page: null })
  expect(await find('?page_size=1')).toMatchObject({ groups: [{ title: 'Today' }], has_more: true, next_page: 2 })
  expect(await find('?page_size=1&page=2')).toMatchObject({ groups: [{ title: 'Yesterday' }], next_page: null })
  expect((await fetchJson('/chat/search?page=0')).status).toBe(422)
})

test('a session is pinned, and a deleted one comes back', async () => {
  const { ask, say, fetchJson } = await newService(() => ['Yes.'])
  const { session } = await say('Bees?')
  const own = `/service-api/chat-sessions/${session}`
  const pin = async (pinned: unknown) => (await ask(`${own}/pin`, { method: 'PUT', json: { pinned } })).status
  const names = async () => {
    const { body } = await fetchJson('/service-api/pinned-chat-sessions')
    return (body as { id: string }[]).map(({ id }) => id)
  }
  expect(await pin(true)).toBe(200)
  expect(await names()).toEqual([session])
  expect(await pin('yes please')).toBe(422)
  expect((await ask(`/chat/delete-chat-session/${session}`, { method: 'DELETE' })).status).toBe(200)
  expect(await names()).toEqual([])
  expect(await pin(false)).toBe(404)
  expect((await ask(`${own}/restore`, { method: 'POST' })).status).toBe(200)
  expect(await names()).toEqual([session])
  expect(await pin(false)).toBe(200)
  expect(await names()).toEqual([])
  const unknown = '/service-api/chat-sessions/6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11/restore'
  expect((await ask(unknown, { method: 'POST' })).status).toBe(404)
})
