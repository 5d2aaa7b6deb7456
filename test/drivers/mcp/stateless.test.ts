import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { newTurn } from '../../agent/action-turn.ts'
import { ana, eventually } from '../../agent/setting.ts'
import { call, find, newClient, saying, standIn, type Handle } from './client-fixture.ts'

const tool = {
  name: 'köln',
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
}

/** A server of revision 2026-07-28: no handshake, no sessions, and each request says who asks. */
async function statelessServer(onCall: Handle = () => ({ resultType: 'complete', ...saying('found') })) {
  const streams: ServerResponse[] = []
  const tools = [tool]
  const refuse = (response: ServerResponse, code: number, message: string): void => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }))
  }
  const http = await standIn((message, response) => {
    const { headers } = http.seen.at(-1)!
    const { name, _meta = {} } = (message.params ?? {}) as { name?: string; _meta?: Record<string, unknown> }
    const version = _meta['io.modelcontextprotocol/protocolVersion']
    if (version !== '2026-07-28') return refuse(response, -32_022, 'Unsupported protocol version')
    if (headers['mcp-protocol-version'] !== version || headers['mcp-method'] !== message.method)
      return refuse(response, -32_020, 'Header mismatch')
    if (headers['mcp-session-id'] !== undefined) return refuse(response, -32_600, 'There are no sessions')
    if (!('io.modelcontextprotocol/clientCapabilities' in _meta)) return refuse(response, -32_602, 'Who are you?')
    const info = {
      resultType: 'complete',
      supportedVersions: [version],
      capabilities: { tools: { listChanged: true } },
    }
    if (message.method === 'server/discover') return info
    if (message.method === 'tools/list') return { resultType: 'complete', tools }
    if (message.method === 'subscriptions/listen') {
      streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
      return void response.write(': open\n\n')
    }
    const named = `=?base64?${Buffer.from('köln').toString('base64')}?=`
    if (name !== 'köln' || headers['mcp-name'] !== named) return refuse(response, -32_020, 'Header mismatch')
    return onCall(message, response)
  })
  return { ...http, streams, tools }
}

test('a server without a handshake is spoken to in its revision', async () => {
  const { server, seen } = await statelessServer()
  const { client, errors } = newClient([server])
  const { delta } = await call(await find(client, 'k_ln'), { region: 'eu west' })
  expect(delta?.data).toEqual({ tool_result: 'found' })
  expect(errors).toEqual([])
  expect(seen.findLast(({ method }) => method === 'tools/call')!.headers['mcp-param-region']).toBe('eu west')
  await client.close()
  expect(seen.some(({ method }) => method === 'DELETE')).toBe(false)
})

test('its changed list is fetched', async () => {
  const { server, streams, tools } = await statelessServer()
  const { client } = newClient([server])
  await client.list({ caller: ana })
  await eventually(() => streams.length > 0)
  tools.push({ ...tool, name: 'b' })
  streams[0]!.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}\n\n')
  await expect.poll(async () => (await client.list({ caller: ana })).length).toBe(2)
})

test('its question to a person is told to the model', async () => {
  const { server } = await statelessServer(() => ({ resultType: 'input_required', inputRequests: {} }))
  const { client } = newClient([server])
  const { delta } = await call(await find(client, 'k_ln'), {})
  expect(delta?.data).toEqual({ error: expect.stringContaining('nobody can be asked here') })
})

test('a call given up ends with its connection', async () => {
  const stopping = new AbortController()
  const closed = Promise.withResolvers<void>()
  const { server, seen } = await statelessServer((_, response) => {
    response.on('close', closed.resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n')
    stopping.abort(new Error('stopped'))
  })
  const { client } = newClient([server])
  const { turn } = newTurn({ signal: stopping.signal })
  await expect((await find(client, 'k_ln')).run({}, turn)).rejects.toThrow('stopped')
  await closed.promise
  expect(seen.some(({ method }) => method === 'notifications/cancelled')).toBe(false)
})
