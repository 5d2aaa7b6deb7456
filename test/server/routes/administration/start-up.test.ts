import { expect, test } from 'vitest'
import { newInstallation } from './installation.ts'
import { personaBody } from '../../persona-body.ts'

/** The requests of a web app at its start, and the fields it reads from the answers. */
const starts: readonly (readonly [path: string, expected: unknown])[] = [
  ['/health', { success: true }],
  [
    '/settings',
    { application_status: 'active', ee_features_enabled: false, vector_db_enabled: true, notifications: [] },
  ],
  ['/auth/type', { multi_tenant: false, sso_providers: [] }],
  ['/me', { preferences: { pinned_assistants: [], default_model: null, auto_scroll: null }, is_anonymous_user: false }],
  ['/me/permissions', { is_manager: false }],
  ['/persona', [{ id: 0 }]],
  ['/user/projects', []],
  ['/user/files/recent', []],
  ['/manage/connector-status', []],
  ['/manage/document-set', []],
  ['/federated', []],
  ['/input_prompt', []],
  ['/llm/provider', { providers: [{ id: 1 }] }],
  ['/chat/get-user-chat-sessions', { sessions: [], has_more: false }],
  ['/query/valid-tags', { tags: [] }],
  ['/chat/incognito-availability', { available: false }],
  ['/voice/status', { stt_enabled: false, tts_enabled: false }],
  ['/mcp/servers/persona/0', { mcp_servers: [] }],
  ['/notifications?page_num=0&page_size=10', { notifications: [], has_more: false }],
  ['/notifications/summary', { total_items: 0, undismissed_count: 0 }],
  ['/user/assistant/preferences', {}],
  ['/manage/users', { accepted: [], invited: [] }],
  ['/manage/users/accepted', { items: [], total_items: 0 }],
  ['/admin/llm/provider', { providers: [{ id: 1, api_key: null }] }],
]

test('everything a web app asks when it starts is answered', async () => {
  const { call, errors } = await newInstallation()
  for (const [path, expected] of starts)
    expect([path, await call('GET', path)]).toMatchObject([path, { status: 200, body: expected }])
  expect(errors).toEqual([])
})

test.each([
  ['GET', '/enterprise-settings'],
  ['GET', '/user/pats'],
  ['POST', '/auth/login'],
  ['POST', '/auth/register'],
  ['GET', '/manage/admin/user-group'],
  ['POST', '/search/send-search-message'],
])('%s %s is refused with the reason', async (method, path) => {
  const { call } = await newInstallation()
  const { status, body } = await call(method, path, method === 'GET' ? undefined : {})
  expect([status, body]).toMatchObject([403, { error_code: 'DEPLOYMENT_UNSUPPORTED' }])
  expect(String(body['detail'])).toMatch(/ (?:no|not|cannot) /)
})

test('settings that clients show are kept; those the deployment fixes are refused', async () => {
  const { call } = await newInstallation()
  expect(await call('PATCH', '/admin/settings', { company_name: 'Acme', search_ui_enabled: true })).toEqual({
    status: 200,
    body: null,
  })
  await call('PATCH', '/admin/settings', { auto_scroll: true })
  expect((await call('GET', '/settings')).body).toMatchObject({ company_name: 'Acme', auto_scroll: true })
  expect(await call('PATCH', '/admin/settings', { anonymous_user_enabled: true })).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('anonymous_user_enabled') },
  })
  for (const method of ['GET', 'PUT']) expect((await call(method, '/admin/settings')).status).toBe(405)
})

test('preferences and pins belong to the caller', async () => {
  const { call, inlay } = await newInstallation()
  const { key } = await inlay.keys.create({ scopes: ['chat'], owner: 'alice' })
  expect(await call('PATCH', '/user/assistant/0/preferences', { disabled_tool_ids: [2] }, key)).toEqual({
    status: 200,
    body: null,
  })
  expect((await call('GET', '/user/assistant/preferences', undefined, key)).body).toEqual({
    '0': { disabled_tool_ids: [2] },
  })
  expect((await call('GET', '/user/assistant/preferences')).body).toEqual({})
  const { body } = await call<{ id: number }>('POST', '/persona', personaBody, key)
  await call('PATCH', '/user/pinned-assistants', { ordered_assistant_ids: [0, body.id, 99, body.id] }, key)
  expect((await call('GET', '/me', undefined, key)).body).toMatchObject({
    preferences: { pinned_assistants: [body.id] },
  })
  expect((await call('GET', '/me')).body).toMatchObject({ preferences: { pinned_assistants: [] } })
})

test('people are the owners of keys', async () => {
  const { call, inlay } = await newInstallation()
  await inlay.keys.create({ scopes: ['chat'], owner: 'ann', email: 'ann@example.com' })
  await inlay.keys.create({ scopes: ['admin'], owner: 'ann' })
  await inlay.keys.create({ scopes: ['ingest'], name: 'importer' })
  expect((await call('GET', '/manage/users?q=ann')).body).toMatchObject({
    accepted: [{ email: 'ann@example.com', is_admin: true, is_active: true }],
  })
  expect((await call('GET', '/manage/users/accepted?page_size=1')).body).toMatchObject({ total_items: 2 })
})
