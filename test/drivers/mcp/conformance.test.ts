import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ToolNumbers } from '@inlay/agent'
import { actionConformance, actionSourceConformance, type MakeAction } from '@inlay/conformance'
import { mcpClient } from '@inlay/drivers/mcp-client'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, test } from 'vitest'
import { z } from 'zod'
import { ana } from '../../agent/setting.ts'

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

/** Numbers in memory, counted from 1001 in the order of asking. */
function newNumbers(): ToolNumbers {
  const known: { kind: string; name: string }[] = []
  return {
    numberOf: async (kind, name) => {
      const at = known.findIndex((entry) => entry.kind === kind && entry.name === name)
      return 1_001 + (at >= 0 ? at : known.push({ kind, name }) - 1)
    },
    find: async (id) => known[id - 1_001],
  }
}

/** A client of an MCP server over HTTP, without sessions. */
async function connect() {
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
    numbers: newNumbers(),
  })
  return {
    source: client,
    close: async () => {
      await client.close()
      http.closeAllConnections()
      http.close()
    },
  }
}

const make: MakeAction = async () => {
  const { source, close } = await connect()
  const [action] = await source.list({ caller: ana })
  return {
    action: action!,
    works: [{ name: 'rex' }, { name: 'bella' }],
    misfits: [{}],
    fails: { name: 'broken' },
    lasts: { name: 'endless' },
    long: { name: 'long' },
    close,
  }
}

describe('a client of MCP servers holds that', () => {
  for (const [title, run] of actionSourceConformance(connect)) test(title, run)
})

describe('a tool of an MCP server holds that', () => {
  for (const [title, run] of actionConformance(make)) test(title, run)
})
