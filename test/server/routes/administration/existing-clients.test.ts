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
    num_tokens: expect.any(Number),
  })
  expect((await call('GET', '/document/chunk-info?document_id=leave&chunk_id=7')).status).toBe(404)
  expect((await call('GET', '/document/chunk-info?document_id=none&chunk_id=0')).status).toBe(404)
  const { key } = await inlay.keys.create({ scopes: ['chat'] })
  expect((await call('POST', '/admin/search', { query: 'herons' }, key)).status).toBe(403)
})

test.each([
  ['POST', '/admin/persona/upload-image'],
  ['POST', '/web-search/search-lite'],
  ['POST', '/web-search/open-urls'],
  ['POST', '/image-generation/generate'],
  ['GET', '/user/usage'],
  ['GET', '/search/search-history'],
  ['POST', '/persona/1/transfer-ownership'],
  ['DELETE', '/persona/1/share/me'],
  ['POST', '/mcp/user-credentials'],
  ['GET', '/document/document-size-info'],
])('%s %s is not offered, and says why', async (method, path) => {
  const { call } = await newInstallation()
  expect(await call(method, path)).toMatchObject({
    status: 403,
    body: { error_code: 'DEPLOYMENT_UNSUPPORTED', detail: expect.stringContaining('here') },
  })
})
