import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { actionLaws, type MakeAction } from '@inlay/agent/conformance'
import { mcpClient } from '@inlay/drivers/mcp-client'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, test } from 'vitest'
import { z } from 'zod'
import { ana } from '../agent/setting.ts'

function newServer(): McpServer {
  const server = new McpServer({ name: 'kennel', version: '1' })
  const description = 'Shows a dog.'
  server.registerTool('show_dog', { description, inputSchema: { name: z.string() } }, async ({ name }, { signal }) => {
    if (name === 'broken') throw new Error('the kennel is closed')
    if (name === 'endless') await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    return { content: [{ type: 'text', text: `This is ${name}. `.repeat(name === 'long' ? 5_000 : 1) }] }
  })
  return server
}

/** A tool of an MCP server over HTTP, without sessions. */
const make: MakeAction = async () => {
  const http = createServer((request, response) => {
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => void transport.close())
    // The SDK types its transports for another setting of the compiler than ours.
    void newServer()
      .connect(transport as unknown as Parameters<McpServer['connect']>[0])
      .then(async () => transport.handleRequest(request, response))
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  // A listening TCP server has an address of this form.
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const client = mcpClient({
    servers: [{ name: 'kennel', url, allowPrivate: true }],
    numbers: { numberOf: async (kind) => (kind === 'mcp' ? 1_001 : 1_002), find: async () => undefined },
  })
  const [action] = await client.list({ caller: ana })
  return {
    action: action!,
    works: [{ name: 'rex' }, { name: 'bella' }],
    misfits: [{}],
    fails: { name: 'broken' },
    lasts: { name: 'endless' },
    long: { name: 'long' },
    close: async () => {
      await client.close()
      http.closeAllConnections()
      http.close()
    },
  }
}

describe('a tool of an MCP server holds that', () => {
  for (const [title, run] of actionLaws(make)) test(title, run)
})
