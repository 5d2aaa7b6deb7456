import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ana } from '../../agent/setting.ts'
import { call, find, introduced, lookUp, newClient, standIn } from './client-fixture.ts'

describe('a server of the older transport that', () => {
  /** Tells `endpoint` on its stream, answers what is posted there, and breaks off where a call should be answered. */
  async function olderStandIn(endpoint: string) {
    let stream: ServerResponse | undefined
    const { server, seen } = await standIn((message, response) => {
      if (message.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
        stream.write(`event: endpoint\ndata: ${endpoint}\n\n`)
        return undefined
      }
      if (message.method === 'tools/call') stream?.end()
      else if (message.id !== undefined) {
        const result = message.method === 'initialize' ? introduced : { tools: [lookUp] }
        stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n\n`)
      }
      return response.writeHead(202).end()
    })
    return { server: { ...server, transport: 'sse' as const }, seen }
  }

  test('sends messages to another origin is left out, and gets none', async () => {
    const { server, seen } = await olderStandIn('http://169.254.169.254/messages')
    const { client, errors } = newClient([server])
    expect(await client.list({ caller: ana })).toEqual([])
    expect(errors).toHaveLength(1)
    expect(seen.map(({ method }) => method)).toEqual(['GET'])
  })

  test('breaks off is told to the model, and connected to anew', async () => {
    const { server, seen } = await olderStandIn('/messages?session=1')
    const { client } = newClient([server])
    const action = await find(client, 'look_up')
    for (const time of [1, 2]) {
      const { delta } = await call(action, {})
      expect(delta?.data).toEqual({ error: 'look_up failed: The connection to the MCP server was lost.' })
      expect(seen.filter(({ method }) => method === 'GET')).toHaveLength(1 + time)
    }
  })
})
