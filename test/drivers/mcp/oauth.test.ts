import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { McpServer, McpTokens } from '@inlay/drivers/mcp-client'
import { ana } from '../../agent/setting.ts'
import { call, find, introduced, lookUp, newClient, saying } from './client-fixture.ts'

const redirectUrl = 'http://127.0.0.1:9/callback'
const loopback = { egress: { allowHosts: ['127.0.0.1'] } }

/** An MCP server and its authorization server, which refuse what the specification lets them refuse. */
async function strictServer() {
  const clients = new Map<string, { redirect_uris: string[]; secret?: string }>()
  const codes = new Map<string, { challenge: string; clientId: string; resource: string }>()
  const refreshTokens = new Set<string>()
  const valid = new Set<string>()
  const seen: string[] = []
  const json = (response: ServerResponse, status: number, body: object, headers = {}): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  const grant = (response: ServerResponse, isRefreshed: boolean): void => {
    const [access, refresh] = [randomUUID(), randomUUID()]
    valid.add(access)
    if (isRefreshed) refreshTokens.add(refresh)
    json(response, 200, {
      access_token: access,
      token_type: 'Bearer',
      expires_in: 60,
      ...(isRefreshed && { refresh_token: refresh }),
    })
  }
  const token = (body: URLSearchParams, request: IncomingMessage, response: ServerResponse): void => {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    const [basicId, basicSecret] = basic ? Buffer.from(basic, 'base64').toString().split(':') : []
    const clientId = basicId ?? body.get('client_id') ?? ''
    const client = clients.get(clientId)
    const secret = basicSecret ?? body.get('client_secret') ?? undefined
    if (!client || client.secret !== secret) return json(response, 401, { error: 'invalid_client' })
    if (body.get('resource') !== url) return json(response, 400, { error: 'invalid_target' })
    const kind = body.get('grant_type')
    if (kind === 'client_credentials' && secret !== undefined) return grant(response, false)
    if (kind === 'refresh_token') {
      const isKnown = refreshTokens.delete(body.get('refresh_token') ?? '')
      return isKnown ? grant(response, true) : json(response, 400, { error: 'invalid_grant' })
    }
    const code = codes.get(body.get('code') ?? '')
    codes.delete(body.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      kind === 'authorization_code' && code?.challenge === challenge && body.get('redirect_uri') === redirectUrl
    return isRight ? grant(response, true) : json(response, 400, { error: 'invalid_grant' })
  }
  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    const clientId = query.get('client_id') ?? ''
    const isRight =
      clients.get(clientId)?.redirect_uris.includes(query.get('redirect_uri') ?? '') === true &&
      query.get('response_type') === 'code' &&
      query.get('code_challenge_method') === 'S256' &&
      query.get('resource') === url
    if (!isRight) return json(response, 400, { error: 'invalid_request' })
    const code = randomUUID()
    codes.set(code, { challenge: query.get('code_challenge')!, clientId, resource: query.get('resource')! })
    const back = new URL(query.get('redirect_uri')!)
    back.search = String(new URLSearchParams({ code, state: query.get('state') ?? '', iss: origin }))
    response.writeHead(302, { location: back.href }).end()
  }
  const mcp = (text: string, request: IncomingMessage, response: ServerResponse): void => {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
    if (!valid.has(given))
      return json(
        response,
        401,
        {},
        { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="wiki.read"` },
      )
    const { id, method } = JSON.parse(text || '{}') as { id?: number; method?: string }
    const results: Record<string, object> = {
      initialize: introduced,
      'tools/list': { tools: [lookUp] },
      'tools/call': saying('found'),
    }
    const result = results[method ?? '']
    return result ? json(response, 200, { jsonrpc: '2.0', id, result }) : void response.writeHead(202).end()
  }
  const http = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url!, origin)
      if (pathname !== '/mcp') seen.push(`${request.method} ${pathname}`)
      if (pathname === '/mcp') return mcp(text, request, response)
      if (pathname === '/.well-known/oauth-protected-resource/mcp')
        return json(response, 200, { resource: url, authorization_servers: [origin], scopes_supported: ['wiki.read'] })
      if (pathname === '/.well-known/oauth-authorization-server')
        return json(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
          authorization_response_iss_parameter_supported: true,
        })
      if (pathname === '/register') {
        const client = JSON.parse(text) as { redirect_uris: string[] }
        const clientId = randomUUID()
        clients.set(clientId, client)
        return json(response, 201, { ...client, client_id: clientId })
      }
      if (pathname === '/token') return token(new URLSearchParams(text), request, response)
      if (pathname === '/authorize') return authorize(searchParams, response)
      return response.writeHead(404).end()
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const url = `${origin}/mcp`
  const server: McpServer = { name: 'wiki', url, allowPrivate: true }
  return { server, origin, clients, valid, refreshTokens, seen }
}

function memoryTokens() {
  const kept = new Map<string, string>()
  const tokens: McpTokens = {
    read: async (key) => kept.get(key),
    write: async (key, value) => void kept.set(key, value),
  }
  return { kept, tokens }
}

/** What the browser of a person does, who allows everything. */
async function allow(url: string): Promise<URLSearchParams> {
  const response = await globalThis.fetch(url, { redirect: 'manual' })
  return new URL(response.headers.get('location')!).searchParams
}

async function signedInClient() {
  const strict = await strictServer()
  const { kept, tokens } = memoryTokens()
  const { client, errors } = newClient([strict.server], { tokens, ...loopback })
  const { url, finish } = await client.signIn('wiki', redirectUrl)
  await finish(await allow(url))
  return { ...strict, client, errors, kept, tokens }
}

describe('a server that asks to sign in', () => {
  test('is left out until a person has done so, and the operator reads what to do', async () => {
    const { server, seen } = await strictServer()
    const { client, errors } = newClient([server], { tokens: memoryTokens().tokens })
    expect(await client.list({ caller: ana })).toEqual([])
    const advice = expect.stringContaining('asks to sign in: run `inlay sign-in wiki`')
    expect(errors).toEqual([expect.objectContaining({ message: advice })])
    expect(await client.check()).toEqual([{ name: 'wiki', tools: [], problem: advice }])
    // Nothing is registered without a person.
    expect(seen).toEqual([])
  })

  test('is called once a person has allowed it: Inlay registers itself, and proves who began', async () => {
    const { client, seen, kept } = await signedInClient()
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ tool_result: 'found' })
    expect(seen).toEqual([
      'GET /.well-known/oauth-protected-resource/mcp',
      'GET /.well-known/oauth-authorization-server',
      'POST /register',
      'GET /authorize',
      'POST /token',
    ])
    expect([...kept.keys()]).toEqual([expect.stringMatching(/^wiki http:/)])
  })

  test('gets a new token when it refuses the old one, once for all calls that wait, and another client has it', async () => {
    const { client, server, tokens, valid, seen } = await signedInClient()
    const action = await find(client, 'look_up')
    valid.clear()
    seen.length = 0
    const answers = await Promise.all([1, 2, 3].map((at) => call(action, {}, { sessionId: `s${at}` })))
    expect(answers.map(({ delta }) => delta?.data)).toEqual(Array(3).fill({ tool_result: 'found' }))
    expect(seen.filter((path) => path === 'POST /token')).toHaveLength(1)
    const { client: other } = newClient([server], { tokens, ...loopback })
    expect((await call(await find(other, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
    expect(seen.filter((path) => path === 'POST /token')).toHaveLength(1)
  })

  test('is asked for anew when it withdrew what was allowed', async () => {
    const { client, valid, refreshTokens } = await signedInClient()
    const action = await find(client, 'look_up')
    valid.clear()
    refreshTokens.clear()
    const { delta } = await call(action, {})
    expect(delta?.data).toEqual({ error: expect.stringContaining('asks to sign in') })
    const { url, finish } = await client.signIn('wiki', redirectUrl)
    await finish(await allow(url))
    expect((await call(action, {})).delta?.data).toEqual({ tool_result: 'found' })
  })

  test('does not get the tokens of another server of its name', async () => {
    const { server, tokens } = await signedInClient()
    const other = await strictServer()
    const { client } = newClient([{ ...other.server, name: server.name }], { tokens, ...loopback })
    expect(await client.list({ caller: ana })).toEqual([])
  })

  test.each([
    ['another state', (query: URLSearchParams) => query.set('state', 'forged')],
    ['another issuer', (query: URLSearchParams) => query.set('iss', 'https://evil.example')],
    ['a refusal', (query: URLSearchParams) => (query.delete('code'), query.set('error', 'access_denied'))],
  ])('is not signed in to by an answer with %s', async (_, change) => {
    const { server } = await strictServer()
    const { kept, tokens } = memoryTokens()
    const { client } = newClient([server], { tokens, ...loopback })
    const { url, finish } = await client.signIn('wiki', redirectUrl)
    const query = await allow(url)
    change(query)
    await expect(finish(query)).rejects.toMatchObject({ message: expect.stringMatching(/sign|Sign/) })
    expect(kept.size).toBe(0)
  })

  test('lets a registered client in without a person', async () => {
    const { server, origin: issuer, clients, valid } = await strictServer()
    clients.set('robot', { redirect_uris: [], secret: 'of the robot' })
    const oauth = { clientId: 'robot', clientSecret: 'of the robot', issuer, grant: 'client_credentials' } as const
    const { kept, tokens } = memoryTokens()
    const { client } = newClient([{ ...server, oauth }], { tokens, ...loopback })
    const action = await find(client, 'look_up')
    expect((await call(action, {})).delta?.data).toEqual({ tool_result: 'found' })
    valid.clear()
    expect((await call(action, {})).delta?.data).toEqual({ tool_result: 'found' })
    expect([...kept.values()].join()).not.toContain('of the robot')
  })

  test('does not get the secret of a client of another authorization server', async () => {
    const { server, seen } = await strictServer()
    const issuer = 'https://login.example'
    const oauth = { clientId: 'robot', clientSecret: 'of the robot', issuer, grant: 'client_credentials' } as const
    const { client } = newClient([{ ...server, oauth }], { tokens: memoryTokens().tokens, ...loopback })
    expect(await client.list({ caller: ana })).toEqual([])
    expect(seen.filter((path) => path.startsWith('POST'))).toEqual([])
  })

  test('keeps the sign-in that another process renewed first', async () => {
    const { client, kept, valid, refreshTokens, server, tokens, seen } = await signedInClient()
    const action = await find(client, 'look_up')
    const [[key, before] = ['', '']] = kept
    valid.clear()
    await call(action, {})
    const after = kept.get(key)!
    // This one read the sign-in just before the other had written it.
    let reads = 0
    const late: McpTokens = { ...tokens, read: async () => (++reads <= 2 ? before : kept.get(key)) }
    const { client: other } = newClient([server], { tokens: late, ...loopback })
    seen.length = 0
    expect((await call(await find(other, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
    expect(seen).toEqual(['POST /token'])
    expect([kept.get(key), refreshTokens.size]).toEqual([after, 1])
  })

  test('cannot make Inlay fetch addresses of the private network', async () => {
    const { server } = await strictServer()
    const { client } = newClient([{ ...server, allowPrivate: false }], { tokens: memoryTokens().tokens })
    await expect(client.signIn('wiki', redirectUrl)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})
