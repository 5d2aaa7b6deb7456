import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpServer } from '@inlay/drivers/mcp-client'
import { introduced, lookUp, saying } from './client-fixture.ts'

/** An MCP server and its authorization server, which refuse what the specification lets them refuse. */
export async function startStrictServer({ authorizePage }: { readonly authorizePage?: string } = {}) {
  const clients = new Map<string, { redirect_uris: string[]; secret?: string }>()
  const codes = new Map<string, { challenge: string; redirectUri: string }>()
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
      kind === 'authorization_code' && code?.challenge === challenge && body.get('redirect_uri') === code.redirectUri
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
    codes.set(code, { challenge: query.get('code_challenge')!, redirectUri: query.get('redirect_uri')! })
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
          authorization_endpoint: authorizePage ?? `${origin}/authorize`,
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
  const close = (): void => {
    http.closeAllConnections()
    http.close()
  }
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const url = `${origin}/mcp`
  const server: McpServer = { name: 'wiki', url, allowPrivate: true }
  return { server, origin, clients, valid, refreshTokens, seen, close }
}
