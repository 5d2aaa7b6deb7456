import type { ChatFullResponse, ToolSnapshot } from '@inlay/protocol'
import type { McpServerSnapshots } from '@inlay/protocol/administration'
import { expect, onTestFinished, test } from 'vitest'
import { standIn, usual } from '../../../drivers/mcp/client-fixture.ts'
import { startOpenAi } from '../../../stand-in/openai.ts'
import { newInstallation } from './installation.ts'

const create = '/admin/mcp/servers/create'
const token = 'unguessable-hunter2'
const ask = { message: 'What is found?', stream: false }

async function setting(options: object = {}) {
  const { server, seen } = await standIn(usual())
  const url = server.url
  const model = await startOpenAi((request) =>
    JSON.stringify(request.body['messages']).includes('"tool"')
      ? [{ text: 'It was found.' }]
      : [{ calls: [{ id: 'call00001', name: 'look_up', input: {} }] }],
  )
  onTestFinished(() => model.close())
  const installation = await newInstallation({
    secretKey: 'a-random-text-of-the-host',
    egress: { allowHosts: [new URL(url).host] },
    model: { name: 'gpt-4o', baseUrl: `${model.origin}/v1` },
    sessionNames: 'off',
    memories: false,
    ...options,
  })
  const change = { name: 'Wiki', server_url: url, auth_type: 'API_TOKEN', api_token: token }
  return { ...installation, url, seen, change }
}

test('tools of a server that is added are called with its token from the next message on, until it is removed', async () => {
  const { call, change, seen, url } = await setting()
  const created = await call<{ server_id: number }>('POST', create, change)
  expect(created).toMatchObject({ status: 200, body: { server_name: 'Wiki', auth_type: 'API_TOKEN' } })
  const { server_id: id } = created.body
  const path = `/admin/mcp/server/${id}`
  const tried = await call<ToolSnapshot[]>('GET', `${path}/tools/snapshots`)
  expect(tried.body).toMatchObject([{ name: 'look up', mcp_server_id: id }])
  const tools = (await call<ToolSnapshot[]>('GET', '/tool')).body.filter(({ mcp_server_id: server }) => server === id)
  expect(tools.map((tool) => tool.id)).toEqual(tried.body.map((tool) => tool.id))
  const answer = (await call<ChatFullResponse>('POST', '/chat/send-chat-message', ask)).body
  expect(answer).toMatchObject({ answer: 'It was found.', tool_calls: [{ tool_name: 'look_up' }] })
  expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${token}`]))
  const listed = await call<McpServerSnapshots>('GET', '/admin/mcp/servers')
  expect(listed.body.mcp_servers).toMatchObject([{ id, name: 'Wiki', server_url: url, is_added: true }])
  expect(JSON.stringify([created, listed, await call('GET', '/admin/audit')])).not.toContain('hunter2')
  expect((await call('DELETE', path)).status).toBe(200)
  const left = (await call<ToolSnapshot[]>('GET', '/tool')).body
  expect(left.filter(({ mcp_server_id: server }) => server !== null)).toEqual([])
  expect((await call('DELETE', path)).status).toBe(404)
})

test('a server beside those of the configuration is changed, and keeps its token at its address', async () => {
  const { server: configured } = await standIn(usual())
  const { call, change, url } = await setting({ mcpServers: [{ ...configured, name: 'Own' }] })
  const { body } = await call<{ server_id: number }>('POST', create, change)
  const kept = { ...change, api_token: null, description: 'Pages', existing_server_id: body.server_id }
  expect((await call('POST', create, kept)).status).toBe(200)
  const { mcp_servers: listed } = (await call<McpServerSnapshots>('GET', '/admin/mcp/servers')).body
  expect(listed).toMatchObject([
    { name: 'Own', server_url: null, is_added: false },
    { name: 'Wiki', server_url: url, description: 'Pages', auth_type: 'API_TOKEN', is_added: true },
  ])
  const moved = await call('POST', create, { ...kept, server_url: 'https://elsewhere.example/mcp' })
  expect(moved).toMatchObject({ status: 400, body: { detail: expect.stringContaining('another address') } })
})

test.each<[string, object, number, string]>([
  ['an address with a password', { name: 'Other', server_url: 'https://:hunter2@wiki.example' }, 400, 'password'],
  ['an address that is none', { name: 'Other', server_url: 'wiki' }, 400, 'http or https'],
  ['a name that is taken', { name: 'Wiki' }, 409, 'choose another name'],
  ['another name for a server', { name: 'Other', existing_server_id: 0 }, 400, 'permanent'],
  ['a token that is missing', { name: 'Other', api_token: null }, 400, 'api_token'],
])('%s is refused', async (_, more, status, words) => {
  const { call, change } = await setting()
  const { body: first } = await call<{ server_id: number }>('POST', create, change)
  const ofFirst = 'existing_server_id' in more ? { existing_server_id: first.server_id } : {}
  const { status: answered, body } = await call('POST', create, { ...change, ...more, ...ofFirst })
  expect([answered, String(body['detail'])]).toEqual([status, expect.stringContaining(words)])
})

test('a server that cannot be reached says why when it is tried, and one inside the network who may open it', async () => {
  const { call, change } = await setting({ egress: {} })
  const { body } = await call<{ server_id: number }>('POST', create, change)
  const tried = await call('GET', `/admin/mcp/server/${body.server_id}/tools/snapshots`)
  expect(tried.status).toBe(502)
  expect(String(tried.body['detail'])).toContain('an operator may allow its host')
})

test('without a key of the host, a token is refused in a sentence that says how to set one', async () => {
  const { call, change } = await setting({ secretKey: undefined })
  expect(await call('POST', create, change)).toMatchObject({
    status: 501,
    body: { detail: expect.stringContaining('INLAY_SECRET_KEY') },
  })
  expect((await call('POST', create, { name: 'Open', server_url: change.server_url })).status).toBe(200)
})
