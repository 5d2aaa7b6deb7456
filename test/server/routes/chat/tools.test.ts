import type { FetchAddress } from '@inlay/conversations'
import { toUserId, type ToolSnapshot } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { kennelDocument } from '../../../conversations/custom-tools/kennel.ts'
import { defineAction } from '@inlay/agent/host-actions'
import { makeKnowledge } from '../../../knowledge/setup.ts'
import { newService, type Service } from '../../conversation.ts'
import { personaBody } from '../../persona-body.ts'

const requests: string[] = []
const fetchAddress: FetchAddress = async (url) => {
  requests.push(url)
  return { status: 200, headers: new Headers(), bytes: new TextEncoder().encode(JSON.stringify(kennelDocument())) }
}
const hostAction = defineAction({
  id: 50,
  name: 'tell_time',
  description: 'Tells the time.',
  input: {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }), jsonSchema: { input: () => ({}) } },
  },
  run: async () => 'noon',
})
async function service(): Promise<Service> {
  const { knowledge } = await makeKnowledge()
  return newService([['Hello.']], { fetchAddress, actions: [hostAction], memories: true }, { knowledge })
}

const secret = { key: 'X-Key', value: 'sesame' }
const kennel = {
  name: 'Kennel',
  description: 'Dogs',
  definition: kennelDocument(),
  custom_headers: [secret],
  passthrough_auth: false,
  default_enabled: true,
}
const key = 'key-operator'

async function withKennel(): Promise<Service & { readonly tool: ToolSnapshot }> {
  const fixture = await service()
  const { status, body } = await fixture.fetchJson('/admin/tool/custom', { key, json: kennel })
  expect(status).toBe(200)
  return { ...fixture, tool: body as ToolSnapshot }
}

describe('a custom action', () => {
  test('is made, and is one entry whatever its functions', async () => {
    const { fetchJson, tool } = await withKennel()
    expect(tool).toEqual({
      id: 1001,
      name: 'Kennel',
      description: 'Dogs',
      definition: kennelDocument(),
      display_name: 'Kennel',
      in_code_tool_id: null,
      custom_headers: [secret],
      passthrough_auth: false,
      mcp_server_id: null,
      user_id: toUserId('operator'),
      oauth_config_id: null,
      oauth_config_name: null,
      enabled: true,
      permissions: {},
      chat_selectable: true,
      agent_creation_selectable: true,
      default_enabled: true,
    })
    const listed = (await fetchJson('/tool', { key })).body as ToolSnapshot[]
    expect(listed.map(({ id, name }) => `${id} ${name}`)).toEqual(['7 add_memory', '50 tell_time', '1001 Kennel'])
    expect(listed[2]).toEqual(tool)
    const personas = (await fetchJson('/persona', { key })).body as { tools: ToolSnapshot[] }[]
    expect(personas[0]!.tools).toEqual(listed)
  })

  test('shows its document and headers to administrators alone', async () => {
    const { ask } = await withKennel()
    for (const path of ['/tool', '/tool/openapi', '/tool/1001', '/persona', '/persona/0']) {
      const response = await ask(path)
      expect(response.status).toBe(200)
      const text = await response.text()
      expect(text).toContain('"custom_headers":null')
      expect(text).not.toContain('sesame')
      expect(text).toContain('"name":"Kennel","description":"Dogs"')
      expect(text).not.toContain('/dogs/{dogId}')
    }
  })

  test('is listed with what the caller may do', async () => {
    const { fetchJson } = await withKennel()
    const permissions = async (as: string): Promise<unknown> =>
      ((await fetchJson('/tool/openapi', { key: as })).body as ToolSnapshot[])[0]?.permissions
    expect(await permissions(key)).toEqual({ edit: true, delete: true, toggle: true, authenticate: false })
    expect(await permissions('key-alice')).toEqual({ edit: false, delete: false, toggle: false, authenticate: false })
  })

  test('changes field by field, switches off and on, and goes', async () => {
    const { fetchJson, tool } = await withKennel()
    const put = (json: unknown) => fetchJson('/admin/tool/custom/1001', { key, method: 'PUT', json })
    expect(await put({ name: 'Dogs', definition: null, custom_headers: [] })).toEqual({
      status: 200,
      body: { ...tool, name: 'Dogs', display_name: 'Dogs', custom_headers: [] },
    })
    const patch = (enabled: boolean) =>
      fetchJson('/admin/tool/status', { key, method: 'PATCH', json: { tool_ids: [1001, 50, 4], enabled } })
    expect((await patch(false)).body).toEqual({ updated_count: 2, tool_ids: [50, 1001] })
    expect((await fetchJson('/tool')).body).toMatchObject([{ id: 7 }])
    expect((await fetchJson('/tool/50', { key })).body).toMatchObject({ name: 'tell_time', enabled: false })
    expect((await fetchJson('/tool/50')).status).toBe(403)
    expect((await fetchJson('/tool/openapi')).body).toEqual([])
    expect((await fetchJson('/tool/openapi', { key })).body).toMatchObject([{ id: 1001, enabled: false }])
    expect((await fetchJson('/tool/1001', { key })).body).toMatchObject({ enabled: false })
    expect(await fetchJson('/tool/1001')).toMatchObject({
      status: 403,
      body: { error_code: 'INSUFFICIENT_PERMISSIONS' },
    })
    await patch(true)
    expect((await fetchJson('/tool/50')).body).toMatchObject({ enabled: true })
    expect((await fetchJson('/tool/1001')).status).toBe(200)
    expect(await fetchJson('/admin/tool/custom/1001', { key, method: 'DELETE' })).toEqual({ status: 200, body: null })
    expect(await fetchJson('/tool/1001')).toMatchObject({ status: 404, body: { error_code: 'NOT_FOUND' } })
  })

  test('may be made from an address, and looked over before', async () => {
    const { fetchJson } = await service()
    const definition = 'https://kennel.example/openapi.json'
    const { body } = await fetchJson('/admin/tool/custom/validate', { key, json: { definition } })
    expect((body as { methods: unknown[] }).methods).toContainEqual({
      name: 'getDog',
      summary: 'One dog.',
      method: 'GET',
      path: '/dogs/{dogId}',
      spec: { operationId: 'getDog', summary: 'One dog.' },
    })
    expect(requests).toEqual([definition])
    const created = await fetchJson('/admin/tool/custom', { key, json: { ...kennel, definition } })
    expect(created.body).toMatchObject({ definition: { info: { title: 'Kennel' } } })
  })
})

describe('a document of a custom action', () => {
  const body = (more: object) => ({ ...kennel, ...more })
  const cats = { get: { tags: ['cats'], summary: 'Lists cats.' }, head: {} }
  const withCats = { ...kennelDocument(), paths: { ...(kennelDocument()['paths'] as object), '/cats': cats } }

  test('lists what can be called, and the rest with the reason', async () => {
    const { fetchJson } = await service()
    const { body: checked } = await fetchJson('/admin/tool/custom/validate', { key, json: { definition: withCats } })
    expect(checked).toMatchObject({
      servers: ['https://kennel.example/v1'],
      skipped: [{ method: 'HEAD', path: '/cats', reason: 'HEAD is not called' }],
    })
    expect((checked as { methods: unknown[] }).methods).toContainEqual({
      name: 'get_cats',
      summary: 'Lists cats.',
      method: 'GET',
      path: '/cats',
      spec: { tags: ['cats'], summary: 'Lists cats.' },
    })
  })

  test('is taken as far as it can be called, and what is left out is told once', async () => {
    const { fetchJson } = await service()
    const created = await fetchJson('/admin/tool/custom', { key, json: body({ definition: withCats }) })
    expect(created).toMatchObject({ status: 200, body: { skipped: [{ method: 'HEAD', path: '/cats' }] } })
    expect((await fetchJson('/tool/1001', { key })).body).not.toHaveProperty('skipped')
  })

  test('may be chosen from, when it is given and later, and called at another server', async () => {
    const { fetchJson } = await service()
    const operations = ['tag:cats', 'GET /dogs/{dogId}']
    const json = body({ definition: withCats, operations, server_url: 'https://own.example' })
    expect((await fetchJson('/admin/tool/custom', { key, json })).body).toMatchObject({
      definition: { servers: [{ url: 'https://own.example' }], paths: { '/cats': {}, '/dogs/{dogId}': {} } },
    })
    const put = (change: object) => fetchJson('/admin/tool/custom/1001', { key, method: 'PUT', json: change })
    const { definition } = (await put({ operations: ['get_cats'] })).body as ToolSnapshot
    expect(Object.keys(definition!['paths'] as object)).toEqual(['/cats'])
    expect(await put({ operations: ['releaseDog'] })).toMatchObject({ status: 400 })
  })

  test('may be sent as text, larger than other bodies', async () => {
    const { fetchJson } = await service()
    const yaml = 'openapi: 3.1.0\nservers: [{ url: https://kennel.example }]\npaths:\n  /cats:\n    get: {}\n'
    const definition = `${yaml}${`# ${'x'.repeat(1_000)}\n`.repeat(2_000)}`
    const created = await fetchJson('/admin/tool/custom', { key, json: body({ definition }) })
    expect(created).toMatchObject({ status: 200, body: { definition: { paths: { '/cats': {} } } } })
    expect(await fetchJson('/admin/tool/custom', { key, json: body({ definition: 'ftp://x.example' }) })).toMatchObject(
      {
        status: 400,
        body: { error_code: 'VALIDATION_ERROR' },
      },
    )
  })
})

describe('a custom action that is not given to the default agent', () => {
  const granted = { ...personaBody, name: 'Keeper', is_public: true, tool_ids: [1001] }
  const message = { message: 'Who is there?', stream: false, forced_tool_id: 1001 }

  async function withOwnKennel() {
    const fixture = await service()
    const { default_enabled: _, ...rest } = kennel
    expect((await fixture.fetchJson('/admin/tool/custom', { key, json: rest })).status).toBe(200)
    return fixture
  }

  test('is not called through it, by whatever key', async () => {
    const { fetchJson } = await withOwnKennel()
    for (const as of [key, 'key-alice'])
      expect(await fetchJson('/chat/send-chat-message', { key: as, json: message })).toMatchObject({
        status: 400,
        body: { error_code: 'VALIDATION_ERROR' },
      })
    const { body } = await fetchJson('/persona/0')
    expect((body as { tools: ToolSnapshot[] }).tools.map(({ id }) => id)).toEqual([7, 50])
  })

  test('is shown to administrators and to those who may use an agent that has it, and to nobody else', async () => {
    const { fetchJson } = await withOwnKennel()
    const seenBy = async (as: string) => {
      const lists = await Promise.all(['/tool', '/tool/openapi'].map((path) => fetchJson(path, { key: as })))
      const ids = lists.map(({ body }) => (body as ToolSnapshot[]).some(({ id }) => id === 1001))
      return [...ids, (await fetchJson('/tool/1001', { key: as })).status]
    }
    const hidden = [false, false, 404]
    const shown = [true, true, 200]
    expect(await seenBy('key-alice')).toEqual(hidden)
    expect(await seenBy(key)).toEqual(shown)
    const { body } = await fetchJson('/persona', { key, json: { ...granted, is_public: false } })
    const { id } = body as { id: number }
    expect(await seenBy('key-alice')).toEqual(hidden)
    const share = { user_ids: [toUserId('alice')] }
    expect((await fetchJson(`/persona/${id}/share`, { key, method: 'PATCH', json: share })).status).toBe(200)
    expect(await seenBy('key-alice')).toEqual(shown)
    expect(await seenBy('key-bob')).toEqual(hidden)
    expect((await fetchJson('/tool/1001')).body).toMatchObject({
      name: 'Kennel',
      definition: null,
      agent_creation_selectable: false,
      default_enabled: false,
    })
  })

  test('is given to agents by administrators alone', async () => {
    const { fetchJson } = await withOwnKennel()
    const own = await fetchJson('/persona', { json: { ...granted, is_public: false } })
    expect(own).toMatchObject({ status: 403, body: { error_code: 'INSUFFICIENT_PERMISSIONS' } })
    const keeper = (await fetchJson('/persona', { key, json: granted })).body as { id: number; tools: ToolSnapshot[] }
    expect(keeper.tools.map(({ id }) => id)).toEqual([1001])
    const chat = (await fetchJson('/chat/create-chat-session', { json: { persona_id: keeper.id } })).body as object
    expect((await fetchJson('/chat/send-chat-message', { json: { ...message, ...chat } })).status).toBe(200)
    const plain = await fetchJson('/persona', { json: { ...personaBody, name: 'Mine' } })
    const { id } = plain.body as { id: number }
    const taken = await fetchJson(`/persona/${id}`, { method: 'PATCH', json: { tool_ids: [1001] } })
    expect(taken.status).toBe(403)
  })

  test('is given to everybody, and taken back, at once', async () => {
    const { fetchJson } = await withOwnKennel()
    const put = (json: object) => fetchJson('/admin/tool/custom/1001', { key, method: 'PUT', json })
    const status = async () => (await fetchJson('/chat/send-chat-message', { json: message })).status
    expect((await put({ default_enabled: true })).body).toMatchObject({ default_enabled: true })
    expect(await status()).toBe(200)
    expect((await put({ name: 'Dogs' })).body).toMatchObject({ default_enabled: true })
    await put({ default_enabled: false })
    expect(await status()).toBe(400)
  })
})

describe('what is no custom action', () => {
  test('is shown one by one', async () => {
    const { fetchJson } = await service()
    expect((await fetchJson('/tool/50')).body).toMatchObject({ id: 50, name: 'tell_time', mcp_server_id: null })
    expect((await fetchJson('/tool/7')).body).toMatchObject({ id: 7, name: 'add_memory', chat_selectable: false })
    expect((await fetchJson('/tool/4')).status).toBe(404)
  })

  test('is not removed', async () => {
    const { fetchJson } = await service()
    expect((await fetchJson('/admin/tool/custom/50', { key, method: 'DELETE' })).status).toBe(400)
    expect((await fetchJson('/admin/tool/custom/4', { key, method: 'DELETE' })).status).toBe(404)
    expect((await fetchJson('/admin/tool/custom/50', { key, method: 'PUT', json: { name: 'x' } })).status).toBe(404)
  })
})

describe('administration', () => {
  test.each([
    ['POST', '/admin/tool/custom', kennel],
    ['PUT', '/admin/tool/custom/1001', { name: 'x' }],
    ['DELETE', '/admin/tool/custom/1001', undefined],
    ['PATCH', '/admin/tool/status', { tool_ids: [1001], enabled: false }],
    ['POST', '/admin/tool/custom/validate', { definition: kennel.definition }],
  ])('is for administrators: %s %s', async (method, path, json) => {
    const { fetchJson } = await withKennel()
    expect(await fetchJson(path, { method, json })).toMatchObject({
      status: 403,
      body: { error_code: 'INSUFFICIENT_PERMISSIONS' },
    })
    expect((await fetchJson('/tool/1001')).status).toBe(200)
  })

  test.each([
    ['a document that cannot be used', { definition: {} }, 400],
    [
      'both kinds of authority',
      { passthrough_auth: true, custom_headers: [{ key: 'authorization', value: 'x' }] },
      400,
    ],
    ['a header of two lines', { custom_headers: [{ key: 'X-Key', value: 'sesame\nopen' }] }, 400],
    ['OAuth', { oauth_config_id: 3 }, 403],
    ['no name', { name: '' }, 422],
    ['a definition that is a list', { definition: [] }, 422],
    ['no say on the authority', { passthrough_auth: undefined }, 422],
  ])('refuses %s', async (_, more, status) => {
    const { fetchJson } = await service()
    const answer = await fetchJson('/admin/tool/custom', { key, json: { ...kennel, ...more } })
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.body)).not.toContain('sesame')
    expect((await fetchJson('/tool/openapi', { key })).body).toEqual([])
  })
})
