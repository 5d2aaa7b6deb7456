import { afterAll, beforeAll, expect, test } from 'vitest'
import { heron, startService, type Json, type Service } from '../service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.ingest(heron('a'))
})
afterAll(async () => {
  await service.close()
  expect(service.errors).toEqual([])
})

const expectFields = (body: Json, fields: string): void =>
  expect(Object.keys(body)).toEqual(expect.arrayContaining(fields.split(' ')))

test('a document set is made by its bare id, changed and removed with null', async () => {
  const body = { name: 'Birds', description: 'x', cc_pair_ids: [1], is_public: true }
  const { json: id } = await service.call('POST', '/manage/admin/document-set', body)
  expect(id).toEqual(expect.any(Number))
  const change = { id, ...body, name: 'Waders', users: [], groups: [] }
  expect((await service.call('PATCH', '/manage/admin/document-set', change)).text).toBe('null')
  const { json: sets } = await service.call('GET', '/manage/document-set')
  expect(sets).toMatchObject([{ id, name: 'Waders' }])
  expectFields(
    sets[0],
    'id name description cc_pair_summaries is_up_to_date is_public users groups permissions federated_connector_summaries',
  )
  expect((await service.call('DELETE', `/manage/admin/document-set/${id}`)).text).toBe('null')
  const gone = await service.call('DELETE', `/manage/admin/document-set/${id}`)
  expect([gone.status, gone.json.error_code]).toEqual([404, 'DOCUMENT_SET_NOT_FOUND'])
})

/** Three lists show the status of connectors. */
async function expectListed(): Promise<void> {
  const status = await service.call('GET', '/manage/admin/connector/status')
  expectFields(status.json[0], 'cc_pair_id name connector credential access_type groups')
  const short = await service.call('GET', '/manage/connector-status')
  expect(Object.keys(short.json[0])).toEqual(['has_successful_run', 'source', 'status'])
  const indexing = await service.call('POST', '/manage/admin/connector/indexing-status', {})
  expectFields(indexing.json[0], 'source summary current_page total_pages indexing_statuses')
}

test('a connector is made, given a credential, linked, watched, paused, run and removed', async () => {
  const connector = await service.call('POST', '/manage/admin/connector', {
    name: 'Files',
    source: 'file',
    input_type: 'load_state',
    access_type: 'public',
    connector_specific_config: { file_locations: [], file_names: [], zip_metadata_file_id: null },
  })
  expect(Object.keys(connector.json)).toEqual(['id', 'credential'])
  const credential = await service.call('POST', '/manage/credential', {
    credential_json: {},
    admin_public: true,
    source: 'file',
  })
  expect(Object.keys(credential.json)).toEqual(['id', 'credential'])
  const [connectorId, credentialId] = [connector.json.id, credential.json.id]
  const link = `/manage/connector/${connectorId}/credential/${credentialId}`
  const linked = await service.call('PUT', link, { name: 'p', access_type: 'public' })
  expect(linked.json).toMatchObject({ success: true, data: expect.any(Number) })
  expect((await service.call('PUT', link, { name: 'p', access_type: 'public' })).json).toMatchObject({
    success: false,
    data: connectorId,
  })
  const pair = `/manage/admin/cc-pair/${linked.json.data}`
  expect((await service.call('PUT', `${pair}/status`, { status: 'PAUSED' })).json.message).toEqual(expect.any(String))
  expect((await service.call('PUT', `${pair}/status`, { status: 'X' })).status).toBeGreaterThanOrEqual(400)
  const { json: detail } = await service.call('GET', pair)
  expect(detail.status).toBe('PAUSED')
  expectFields(
    detail,
    'id name status in_repeated_error_state num_docs_indexed connector credential number_of_index_attempts last_index_attempt_status latest_deletion_attempt access_type is_editable_for_current_user permissions deletion_failure_message indexing creator creator_email last_indexed last_pruned last_full_permission_sync overall_indexing_speed latest_checkpoint_description permission_syncing last_permission_sync_attempt_status last_permission_sync_attempt_finished last_permission_sync_attempt_error_message supports_targeted_reindex',
  )
  await expectListed()
  const run = await service.call('POST', '/manage/admin/connector/run-once', { connector_id: connectorId })
  expect(run.json).toMatchObject({ success: true, data: expect.any(Number) })
  const removal = { connector_id: connectorId, credential_id: credentialId }
  expect((await service.call('POST', '/manage/admin/deletion-attempt', removal)).text).toBe('null')
})

test.each([
  '/settings',
  '/admin/persona',
  '/admin/agents?page_num=0&page_size=10',
  '/persona/labels',
  '/user/assistant/preferences',
  '/federated',
  '/notifications',
  '/notifications/summary',
  '/input_prompt',
  '/voice/status',
  '/mcp/servers/persona/0',
  '/manage/users',
  '/manage/users/accepted',
  '/admin/llm/provider',
  '/enterprise-settings',
  '/user/projects',
  '/user/pats',
])('what a client asks while it starts is answered, or refused in words: %s', async (path) => {
  const { status, json } = await service.call('GET', path)
  if (status === 200) expect(json).toEqual(expect.anything())
  else expect(json).toEqual({ error_code: expect.any(String), detail: expect.any(String) })
  expect(status).toBeLessThan(500)
})

test('the settings that clients look for are there, and are not set as a whole', async () => {
  const { json } = await service.call('GET', '/settings')
  expectFields(
    json,
    'maximum_chat_retention_days company_name application_status tier query_history_type image_analysis_max_size_mb user_file_max_upload_size_mb file_token_count_threshold_k multi_model_chat_enabled search_ui_enabled anonymous_user_enabled ee_features_enabled notifications needs_reindexing tenant_id vector_db_enabled hooks_enabled version max_allowed_upload_size_mb default_pruning_freq is_containerized posthog_key posthog_host',
  )
  expect((await service.call('PUT', '/settings', {})).status).toBe(405)
})

test('a label is made once, and agents are pinned', async () => {
  const { json } = await service.call('POST', '/persona/labels', { name: 'Sales' })
  expect(json).toEqual({ id: expect.any(Number), name: 'Sales' })
  expect((await service.call('POST', '/persona/labels', { name: 'Sales' })).status).toBe(400)
  const pins = { ordered_assistant_ids: [0] }
  expect((await service.call('PATCH', '/user/pinned-assistants', pins)).text).toBe('null')
})

test('a key is shown once, renewed and removed with null', async () => {
  const { json: key } = await service.call('POST', '/admin/api-key', { name: 'n', scopes: ['search'] })
  expectFields(key, 'api_key_id api_key_display api_key api_key_name user_id')
  expect((await service.call('GET', '/admin/api-key')).text).not.toContain(key.api_key)
  const renewed = await service.call('POST', `/admin/api-key/${key.api_key_id}/regenerate`)
  expect(renewed.json.api_key).toEqual(expect.any(String))
  expect(renewed.json.api_key).not.toBe(key.api_key)
  expect((await service.call('DELETE', `/admin/api-key/${key.api_key_id}`)).text).toBe('null')
})

test('what goes wrong has two fields, an id of the request, and a method that is not there says which are', async () => {
  const missing = await service.call('GET', '/nowhere')
  expect([missing.status, Object.keys(missing.json)]).toEqual([404, ['error_code', 'detail']])
  const method = await service.call('PUT', '/chat/send-chat-message', {})
  expect([method.status, method.json.error_code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
  expect(method.headers.get('allow')).toBe('POST, OPTIONS')
  expect(method.headers.get('x-request-id')).toMatch(/\S/)
  const malformed = await service.call('POST', '/chat/send-chat-message', '{bad')
  expect([malformed.status, malformed.json.detail[0].type]).toEqual([422, 'json_invalid'])
  const bare = await fetch(`${service.base}/chat/send-chat-message`, { method: 'POST', body: '{bad' })
  expect(bare.status, 'a caller is checked before a body').toBe(401)
})
