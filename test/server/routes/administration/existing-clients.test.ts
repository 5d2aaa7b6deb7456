import { expect, test } from 'vitest'
import { newInstallation } from './installation.ts'

const ok = { status: 200, body: null }

test('settings of a person are kept for them alone, in a body or in the query as clients send them', async () => {
  const { call, inlay } = await newInstallation()
  const { key } = await inlay.keys.create({ scopes: ['chat'], owner: 'alice' })
  expect(await call('PATCH', '/user/default-model', { default_model: 'a__b__c' }, key)).toEqual(ok)
  expect(await call('PATCH', '/user/theme-preference', { theme_preference: 'dark' }, key)).toEqual(ok)
  expect(await call('PATCH', '/user/auto-scroll', { auto_scroll: 'false' }, key)).toEqual(ok)
  const query = '/user/temperature-override-enabled?temperature_override_enabled=true'
  expect(await call('PATCH', query, undefined, key)).toEqual(ok)
  expect(await call('PATCH', '/user/shortcut-enabled?shortcut_enabled=0', undefined, key)).toEqual(ok)
  const preferences = {
    default_model: 'a__b__c',
    theme_preference: 'dark',
    auto_scroll: false,
    temperature_override_enabled: true,
    shortcut_enabled: false,
  }
  expect((await call('GET', '/me', undefined, key)).body).toMatchObject({ preferences })
  expect((await call('GET', '/me')).body).toMatchObject({
    preferences: { default_model: null, theme_preference: null },
  })
  expect(await call('PATCH', '/user/default-model', { default_model: null }, key)).toEqual(ok)
  expect((await call('GET', '/me', undefined, key)).body).toMatchObject({ preferences: { default_model: null } })
  expect((await call('PATCH', '/user/theme-preference', { theme_preference: 'pink' }, key)).status).toBe(422)
  expect((await call('PATCH', '/user/shortcut-enabled', undefined, key)).status).toBe(422)
})

test('settings are found where the web client of the reference sends them', async () => {
  const { call, inlay } = await newInstallation()
  const { key } = await inlay.keys.create({ scopes: ['chat'], owner: 'alice', email: 'alice@example.org' })
  const patch = (path: string, body?: object) => call('PATCH', path, body, key)
  expect(await patch('/auto-scroll', { auto_scroll: true })).toEqual(ok)
  expect(await patch('/temperature-override-enabled?temperature_override_enabled=true')).toEqual(ok)
  expect(await patch('/shortcut-enabled?shortcut_enabled=true')).toEqual(ok)
  expect(await patch('/paste-as-tile?paste_as_tile=true')).toEqual(ok)
  expect(await patch('/user/language', { language: 'de' })).toEqual(ok)
  expect(await patch('/user/chat-background', { chat_background: 'lake' })).toEqual(ok)
  expect(await patch('/user/default-app-mode', { default_app_mode: 'SEARCH' })).toEqual(ok)
  expect(await patch('/voice/settings', { auto_send: true })).toEqual(ok)
  expect(await patch('/voice/settings', { playback_speed: 1.5 })).toEqual(ok)
  expect((await call('GET', '/me', undefined, key)).body).toMatchObject({
    preferences: {
      auto_scroll: true,
      temperature_override_enabled: true,
      shortcut_enabled: true,
      paste_as_tile: true,
      language: 'de',
      chat_background: 'lake',
      default_app_mode: 'SEARCH',
      voice_auto_send: true,
      voice_auto_playback: null,
      voice_playback_speed: 1.5,
    },
  })
  expect((await patch('/voice/settings', { playback_speed: 100 })).status).toBe(422)
  for (const path of ['/federated/oauth-status', '/user-oauth-token/status'])
    expect(await call('GET', path, undefined, key)).toEqual({ status: 200, body: [] })
  const alice = expect.objectContaining({ email: 'alice@example.org' })
  expect((await call('GET', '/users', undefined, key)).body).toEqual([alice])
  await inlay.keys.create({ scopes: ['chat'], owner: 'bob' })
  expect((await call('GET', '/users', undefined, key)).body).toEqual([alice])
  expect((await call<unknown[]>('GET', '/users')).body).toHaveLength(2)
})

test('prompt shortcuts are made, changed, listed and removed by their owner alone', async () => {
  const { call, inlay } = await newInstallation()
  const { key } = await inlay.keys.create({ scopes: ['chat'], owner: 'alice' })
  const shortcut = await call<{ id: number }>(
    'POST',
    '/input_prompt',
    { prompt: 'sum', content: 'Sum up.', is_public: false },
    key,
  )
  expect(shortcut).toMatchObject({
    status: 200,
    body: { prompt: 'sum', content: 'Sum up.', active: true, is_public: false },
  })
  const path = `/input_prompt/${shortcut.body.id}`
  const change = { prompt: 'sum', content: 'Sum up briefly.', active: false }
  expect((await call('PATCH', path, change, key)).body).toMatchObject(change)
  expect((await call('GET', '/input_prompt', undefined, key)).body).toMatchObject([{ id: shortcut.body.id, ...change }])
  expect((await call('GET', '/input_prompt')).body).toEqual([])
  for (const method of ['GET', 'DELETE']) expect((await call(method, path)).status).toBe(404)
  expect(await call('DELETE', path, undefined, key)).toEqual(ok)
  expect((await call('GET', path, undefined, key)).status).toBe(404)
  const everybody = { prompt: 'sum', content: 'Sum up.', is_public: true }
  expect(await call('POST', '/input_prompt', everybody, key)).toMatchObject({ status: 403 })
})

test('connectors and credentials are listed to administrators, without values', async () => {
  const { call, inlay } = await newInstallation()
  const connector = {
    name: 'c',
    source: 'file',
    input_type: 'load_state',
    connector_specific_config: {},
    access_type: 'public',
  }
  const { body } = await call<{ id: number }>('POST', '/manage/admin/connector', connector)
  const credential = { credential_json: { token: 'secret' }, admin_public: true, source: 'file' }
  const added = await call<{ id: number }>('POST', '/manage/credential', credential)
  expect((await call('GET', '/manage/admin/connector')).body).toMatchObject([
    { id: body.id, name: 'c', source: 'file', credential_ids: [] },
  ])
  const listed = await call('GET', '/manage/admin/credential')
  expect(listed.body).toMatchObject([{ id: added.body.id, source: 'file' }])
  expect(JSON.stringify(listed.body)).not.toContain('secret')
  const { key } = await inlay.keys.create({ scopes: ['chat'] })
  for (const path of ['/manage/admin/connector', '/manage/admin/credential'])
    expect((await call('GET', path, undefined, key)).status).toBe(403)
})

test('an administrator searches for documents, and a chunk is read by those who may see it', async () => {
  const { call, inlay } = await newInstallation()
  const document = {
    id: 'leave',
    semantic_identifier: 'Leave',
    metadata: {},
    sections: [{ text: 'Herons are counted in May.' }],
  }
  await call('POST', '/service-api/ingestion', { document })
  await expect
    .poll(async () => (await call('POST', '/admin/search', { query: 'herons', filters: {} })).body, { timeout: 10_000 })
    .toMatchObject({ documents: [{ document_id: 'leave', semantic_identifier: 'Leave' }] })
  expect((await call('GET', '/document/chunk-info?document_id=leave&chunk_id=0')).body).toMatchObject({
    content: expect.stringContaining('Herons are counted in May.'),
    // A token for four letters of plain English, rounded up; the chunk may begin with its title.
    num_tokens: expect.toSatisfy((tokens: number) => tokens >= 7 && tokens <= 12),
  })
  expect((await call('GET', '/document/document-size-info?document_id=leave')).body).toEqual({
    num_chunks: 1,
    num_tokens: expect.toSatisfy((tokens: number) => tokens >= 7 && tokens <= 12),
  })
  expect((await call('GET', '/document/document-size-info?document_id=none')).status).toBe(404)
  expect((await call('GET', '/document/chunk-info?document_id=leave&chunk_id=7')).status).toBe(404)
  expect((await call('GET', '/document/chunk-info?document_id=none&chunk_id=0')).status).toBe(404)
  const { key } = await inlay.keys.create({ scopes: ['chat'] })
  expect((await call('POST', '/admin/search', { query: 'herons' }, key)).status).toBe(403)
})

test('the size of a document counts all of its chunks, and is told to those who may see it', async () => {
  const { call, inlay } = await newInstallation()
  const paragraph = (place: number): string => `Heron ${place} stands in the reeds and waits for fish. `.repeat(40)
  const sections = Array.from({ length: 80 }, (_, place) => ({
    text: paragraph(place),
    link: `https://a.example/${place}`,
  }))
  const document = { id: 'herons', semantic_identifier: 'Herons', metadata: {}, sections }
  await call('POST', '/service-api/ingestion', { document })
  const { body } = await call<{ num_chunks: number; num_tokens: number }>(
    'GET',
    '/document/document-size-info?document_id=herons',
  )
  const letters = sections.reduce((sum, { text }) => sum + text.length, 0)
  // More than one read of the index takes, and every text once.
  expect(body.num_chunks).toBeGreaterThan(64)
  expect(body.num_tokens / (letters / 4)).toBeCloseTo(1, 0)
  const { key } = await inlay.keys.create({ scopes: ['ingest'] })
  expect((await call('GET', '/document/document-size-info?document_id=herons', undefined, key)).status).toBe(403)
})

test('a list is no object of settings', async () => {
  const { call } = await newInstallation()
  for (const body of [[null, null], [], [{ company_name: 'Optics' }]])
    expect((await call('PATCH', '/admin/settings', body)).status).toBe(422)
})

test('callers see what they used of their limits, and nothing of others', async () => {
  const { call, inlay } = await newInstallation({ callerLimits: { sessionsPerDay: 5 } })
  const alice = (await inlay.keys.create({ scopes: ['chat'], owner: 'alice' })).key
  const bob = (await inlay.keys.create({ scopes: ['chat'], owner: 'bob' })).key
  for (const _ of [1, 2]) await call('POST', '/chat/create-chat-session', {}, alice)
  const own = { limit: 'sessions_per_day', of: 'caller', max: 5 }
  // The usage page of clients reads these before anything else.
  const costs = {
    per_day_by_model: [],
    window_cost_cents: 0,
    budget_cents: null,
    budget_remaining_cents: null,
    budget_period_hours: null,
    budget_reset_at: null,
    selected_model_price: null,
    available_model_prices: [],
  }
  expect((await call('GET', '/user/usage', undefined, alice)).body).toEqual({
    ...costs,
    usage: [{ ...own, used: 2, resets_at: expect.stringContaining('T00:00:00') }],
  })
  expect((await call('GET', '/user/usage', undefined, bob)).body).toEqual({
    ...costs,
    usage: [{ ...own, used: 0, resets_at: null }],
  })
})

test('the search history tells what answers of the caller searched for', async () => {
  const { call, inlay } = await newInstallation()
  const alice = (await inlay.keys.create({ scopes: ['chat'], owner: 'alice' })).key
  const bob = (await inlay.keys.create({ scopes: ['chat'], owner: 'bob' })).key
  const document = {
    id: 'd',
    semantic_identifier: 'Herons',
    metadata: {},
    sections: [{ text: 'Herons are counted in May.' }],
  }
  await call('POST', '/service-api/ingestion', { document })
  const none = { status: 200, body: { search_queries: [] } }
  expect(await call('GET', '/search/search-history', undefined, alice)).toEqual(none)
  const message = { message: 'When are herons counted?', stream: false, chat_session_info: { persona_id: 0 } }
  expect((await call('POST', '/chat/send-chat-message', message, alice)).status).toBe(200)
  const history = await call<{ search_queries: { query: string }[] }>(
    'GET',
    '/search/search-history?limit=10&filter_days=1',
    undefined,
    alice,
  )
  expect(history.body.search_queries).toMatchObject([
    { query: expect.stringMatching(/heron/i), query_expansions: expect.any(Array), created_at: expect.any(String) },
  ])
  expect(await call('GET', '/search/search-history', undefined, bob)).toEqual(none)
  expect((await call('GET', '/search/search-history?limit=0', undefined, alice)).status).toBe(422)
})

test('nobody signs in to MCP servers', async () => {
  const { call } = await newInstallation()
  expect((await call('GET', '/mcp/user-credentials')).body).toEqual({ credentials: [] })
  const credentials = { server_id: 1, credentials: { api_key: 'a' }, transport: 'streamable-http' }
  expect((await call('POST', '/mcp/user-credentials', credentials)).status).toBe(404)
  expect((await call('DELETE', '/mcp/user-credentials/1')).status).toBe(404)
  expect((await call('POST', '/mcp/user-credentials', {})).status).toBe(422)
})

test('POST /search is bounded by ranges of creation and update', async () => {
  const { call } = await newInstallation()
  const document = {
    id: 'd',
    semantic_identifier: 'Herons',
    metadata: {},
    sections: [{ text: 'Herons are counted in May.' }],
    doc_created_at: '2026-01-10T00:00:00Z',
    doc_updated_at: '2026-03-10T00:00:00Z',
  }
  await call('POST', '/service-api/ingestion', { document })
  const countOf = async (range: object): Promise<number> =>
    (await call<{ results: unknown[] }>('POST', '/search', { query: 'herons', ...range })).body.results.length
  expect(await countOf({})).toBe(1)
  expect(await countOf({ updated_at_range: { start: '2026-03-01T00:00:00Z' } })).toBe(1)
  expect(await countOf({ updated_at_range: { end: '2026-03-01T00:00:00Z' } })).toBe(0)
  expect(await countOf({ created_at_range: { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' } })).toBe(1)
  expect(await countOf({ created_at_range: { start: '2026-02-01T00:00:00Z' } })).toBe(0)
  const wrong = await call('POST', '/search', { query: 'herons', created_at_range: { start: 'x' } })
  expect(wrong.status).toBe(422)
})

test('a web search that reads every page is not offered, and says what is', async () => {
  const { call } = await newInstallation()
  expect(await call('POST', '/web-search/search')).toMatchObject({
    status: 403,
    body: { error_code: 'DEPLOYMENT_UNSUPPORTED', detail: expect.stringContaining('/web-search/open-urls') },
  })
})
