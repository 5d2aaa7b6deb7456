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

const get = async (path: string): Promise<Json> => {
  const { status, json } = await service.call('GET', path)
  expect(status, path).toBe(200)
  return json
}
/** That a body has these fields, whatever else it has. */
const expectFields = (body: Json, fields: string): void =>
  expect(Object.keys(body)).toEqual(expect.arrayContaining(fields.split(' ')))

const definition = {
  openapi: '3.0.0',
  info: { title: 'Rooms', description: 'Rooms.', version: '1' },
  servers: [{ url: 'https://rooms.example' }],
  paths: {
    '/rooms/{id}': {
      get: {
        operationId: 'getRoom',
        summary: 'A room',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {},
      },
    },
  },
}

test('an action is told in seventeen fields, the built-in ones by their kind', async () => {
  const tools = await get('/tool')
  for (const tool of tools)
    expectFields(
      tool,
      'id name description definition display_name in_code_tool_id custom_headers passthrough_auth mcp_server_id user_id oauth_config_id oauth_config_name enabled permissions chat_selectable agent_creation_selectable default_enabled',
    )
  const kinds = tools.map((tool: Json) => tool.in_code_tool_id)
  expect(kinds).toEqual(expect.arrayContaining(['SearchTool', 'OpenURLTool', 'MemoryTool']))
  expect((await service.call('GET', '/tool/99999')).status).toBe(404)
})

test('an action is checked, added, switched off and removed', async () => {
  const checked = await service.call('POST', '/admin/tool/custom/validate', { definition })
  expect(checked.json.methods).toMatchObject([{ name: 'getRoom', method: 'GET', path: '/rooms/{id}' }])
  const body = {
    name: 'Rooms',
    description: null,
    definition,
    custom_headers: null,
    passthrough_auth: false,
    default_enabled: true,
  }
  const { json: added } = await service.call('POST', '/admin/tool/custom', body)
  expect((await get('/tool/openapi')).map((tool: Json) => tool.id)).toEqual([added.id])
  const off = await service.call('PATCH', '/admin/tool/status', { tool_ids: [added.id], enabled: false })
  expect(off.json).toMatchObject({ updated_count: 1, tool_ids: [added.id] })
  expect((await service.call('DELETE', `/admin/tool/custom/${added.id}`)).text).toBe('null')
  expect((await service.call('DELETE', `/admin/tool/custom/${added.id}`)).status).toBe(404)
})

test('an agent is listed in short and read in full; both have all their fields', async () => {
  const [short] = await get('/persona')
  expectFields(
    short,
    'id name description tools starter_messages document_sets hierarchy_node_count attached_document_count knowledge_sources default_model_configuration_id uploaded_image_id icon_name is_public is_listed is_featured builtin_persona display_priority labels owner owner_group user_permission permissions',
  )
  const full = await get('/persona/0')
  expectFields(
    full,
    'user_file_ids users groups user_shares group_shares public_permission sharing_status hierarchy_nodes attached_documents system_prompt replace_base_system_prompt task_prompt datetime_aware search_start_date admin_count ownership_vacant',
  )
  expect(['VIEWER', 'EDITOR']).toContain(full.public_permission)
  expect(Object.keys(await get('/agents?page_num=0&page_size=10'))).toEqual(['items', 'total_items'])
})

test('an agent needs seven fields to be made, and is removed with null', async () => {
  const body = {
    name: 'Clerk',
    description: '',
    document_set_ids: [],
    tool_ids: [],
    system_prompt: '',
    task_prompt: '',
    datetime_aware: true,
  }
  for (const field of Object.keys(body)) {
    const { [field as keyof typeof body]: _left, ...rest } = body
    expect((await service.call('POST', '/persona', rest)).status, field).toBe(422)
  }
  const { json } = await service.call('POST', '/persona', body)
  expect((await service.call('DELETE', `/persona/${json.id}`)).text).toBe('null')
  const gone = await service.call('GET', `/persona/${json.id}`)
  expect([gone.status, gone.json.error_code]).toEqual([404, 'PERSONA_NOT_FOUND'])
})

test('models are told with their providers, for everybody and for an agent', async () => {
  for (const path of ['/llm/provider', '/llm/persona/0/providers']) {
    const { providers, default_text: main } = await get(path)
    expectFields(
      providers[0].model_configurations[0],
      'id name is_visible max_input_tokens supports_image_input supports_reasoning supported_reasoning_efforts reasoning_effort_max reasoning_effort_default temperature_default is_recommended_default display_name custom_display_name provider_display_name vendor version region',
    )
    expect(main).toEqual({ provider_id: providers[0].id, model_name: 's' })
  }
})

test.each(['/user/projects/file/upload', '/user/file/upload'])(
  'a file that %s took is one everywhere',
  async (path) => {
    const { json } = await service.upload(path, 'n.txt', 'hello herons', { temp_id_map: '{bad' })
    expect(Object.keys(json)).toEqual(['user_files', 'rejected_files'])
    const [file] = json.user_files
    expectFields(
      file,
      'id temp_id name project_id user_id file_id created_at status last_accessed_at file_type chat_file_type token_count chunk_count',
    )
    expect(file).toMatchObject({ name: 'n.txt', project_id: null, chat_file_type: 'plain_text' })
    for (const id of [file.id, file.file_id]) {
      const fetched = await service.call('GET', `/chat/file/${id}`)
      expect([fetched.status, fetched.text]).toEqual([200, 'hello herons'])
      expect(fetched.headers.get('etag')).toBe(`"${file.file_id}"`)
      expect(fetched.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
    }
    const known = { 'if-none-match': `"${file.file_id}"` }
    expect((await service.call('GET', `/chat/file/${file.file_id}`, undefined, known)).status).toBe(304)
    for (const list of ['/user/projects/file/', '/user/projects/file', '/user/files/recent'])
      expect((await get(list)).map(({ id }: Json) => id)).toContain(file.id)
    const statuses = await service.call('POST', '/user/projects/file/statuses', { file_ids: [file.id] })
    expect(statuses.json).toMatchObject([{ id: file.id }])
    expect((await service.call('DELETE', `/user/projects/file/${file.id}`)).json).toEqual({
      has_associations: false,
      project_names: [],
      assistant_names: [],
    })
  },
)

test('a project is made by its name, keeps instructions, counts tokens, and is gone with 204', async () => {
  expect((await service.call('POST', '/user/projects/create?name=')).status).toBe(400)
  const { json: project } = await service.call('POST', '/user/projects/create?name=Marsh')
  expectFields(project, 'id name description created_at user_id instructions chat_sessions')
  const at = `/user/projects/${project.id}`
  expect(Object.keys(await get(`${at}/details`))).toEqual(['project', 'files', 'persona_id_to_is_featured'])
  const instructions = { instructions: 'Answer in one sentence.' }
  expect((await service.call('POST', `${at}/instructions`, instructions)).json).toEqual(instructions)
  expect(await get(`${at}/instructions`)).toEqual(instructions)
  expect(await get(`${at}/token-count`)).toEqual({ total_tokens: expect.any(Number) })
  const { json } = await service.upload('/user/projects/file/upload', 'n.txt', 'hello', {
    project_id: String(project.id),
    temp_id_map: '{"n.txt": "mine"}',
  })
  expect((await get(`/user/projects/files/${project.id}`)).map(({ id }: Json) => id)).toEqual([json.user_files[0].id])
  expect((await service.call('DELETE', `${at}/files/${json.user_files[0].id}`)).status).toBe(204)
  const { chat_session_id } = await service.ask({ message: 'Hi' })
  expect((await service.call('POST', `${at}/move_chat_session`, { chat_session_id })).status).toBe(204)
  expect((await get(`/user/projects/session/${chat_session_id}/token-count`)).total_tokens).toEqual(expect.any(Number))
  expect(await get(`/user/projects/session/${chat_session_id}/files`)).toEqual([])
  expect((await service.call('POST', '/user/projects/remove_chat_session', { chat_session_id })).status).toBe(204)
  expect((await service.call('DELETE', at)).status).toBe(204)
})

test('the service says what it is, and who asks', async () => {
  expect(await get('/health')).toEqual({ success: true, message: 'ok', data: null })
  const fields = 'threadpool_total_tokens threadpool_borrowed_tokens threadpool_tasks_waiting'
  expect(Object.keys((await get('/health/ready')).data)).toEqual(fields.split(' '))
  expect((await get('/version')).backend_version).toEqual(expect.any(String))
  expectFields(
    await get('/auth/type'),
    'multi_tenant requires_verification anonymous_user_enabled password_min_length password_max_length password_require_uppercase password_require_lowercase password_require_digit password_require_special_char has_users oauth_enabled password_auth_enabled sso_providers',
  )
  expectFields(
    await get('/me'),
    'id email is_active is_superuser is_verified account_type preferences personalization token_expires_at is_cloud_superuser team_name is_anonymous_user password_configured tenant_info effective_permissions is_group_manager admin_capabilities',
  )
  expect(Object.keys(await get('/me/permissions'))).toEqual(['permissions', 'is_manager', 'managed_group_ids'])
  expect((await fetch(`${service.base.replace(/\/api$/, '')}/health`)).status).toBe(200)
})
