import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { serve } from './serve.ts'

/** The server runs here, the client in a separate process, which must not crash. */
const serveMcp = async (listener: RequestListener): Promise<string> => `${await serve(listener)}/mcp`

async function client(mode: string, url: string): Promise<{ readonly code: unknown; readonly output: string }> {
  const script = new URL('unread-body-client.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--conditions=@inlay/source', script, mode, url])
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
  const [code] = await once(child, 'exit')
  return { code, output: output.trim() }
}

const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }

test.each(Object.entries(codings))(
  'a body in %s that nobody reads leaves the process alive',
  async (coding, compress) => {
    const body = compress('x'.repeat(200_000))
    const url = await serveMcp((_, response) => response.writeHead(404, { 'content-encoding': coding }).end(body))
    expect(await client('stream', url)).toEqual({ code: 0, output: 'alive' })
    expect(await client('transport', url)).toEqual({ code: 0, output: 'alive' })
  },
)

test('a compressed body that is cut before it is read fails its reader alone', async () => {
  const url = await serveMcp((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 1_000 })
    response.write(gzipSync('x'.repeat(5_000)).subarray(0, 20), () => setImmediate(() => response.destroy()))
  })
  expect(await client('late', url)).toEqual({ code: 0, output: 'BAD_GATEWAY\nalive' })
})

test('compressed refusals of an MCP server leave the process alive', async () => {
  const url = await serveMcp(async (request, response) => {
    let text = ''
    for await (const piece of request) text += String(piece)
    const { id, method } = text === '' ? { method: request.method } : (JSON.parse(text) as Record<string, unknown>)
    const packed = (status: number, value: unknown): void => {
      const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json', 'mcp-session-id': 's1' }
      response.writeHead(status, headers).end(gzipSync(JSON.stringify(value)))
    }
    const serverInfo = { name: 'x', version: '1' }
    if (method === 'initialize')
      packed(200, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo } })
    else if (method === 'tools/list')
      packed(200, { jsonrpc: '2.0', id, result: { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } })
    // The session ends with a DELETE; a notification wants no answer.
    else packed(method === 'DELETE' ? 405 : id === undefined ? 202 : 404, { detail: 'x'.repeat(100_000) })
  })
  expect(await client('mcp', url)).toEqual({ code: 0, output: 'look\nlook failed\nalive' })
})
