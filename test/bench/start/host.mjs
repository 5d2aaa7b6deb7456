/**
 * A host in a process of its own, in plain JavaScript, so that no loader counts: `bare`, `express` or `inlay`. Tells what it
 * took to import the library, to mount it and to answer the first request, then the memory of the idle process.
 */
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const hosts = {
  bare: async () => () => (_, response) => response.end('{"success":true}'),
  express: async () => {
    const { default: express } = await import('express')
    return () => express().get('/api/health', (_, response) => response.json({ success: true }))
  },
  inlay: async () => {
    const { createInlay, nodeListener } = await import('inlay')
    return () => nodeListener(createInlay({ apiKey: 'key-of-the-bench' }))
  },
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function statusOf(port) {
  const [response] = await once(get({ port, path: '/api/health' }), 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

const begunMs = cpuMs()
const mount = await hosts[process.argv[2]]()
const importedMs = cpuMs()
const server = createServer(mount()).listen(0, '127.0.0.1')
await once(server, 'listening')
const mountedMs = cpuMs()
const status = await statusOf(server.address().port)
const answeredMs = cpuMs()
// The heap settles.
await delay(1000)
process.send({
  status,
  importMs: importedMs - begunMs,
  mountMs: mountedMs - importedMs,
  answerMs: answeredMs - mountedMs,
  wallMs: performance.now() - 1000,
  idleBytes: process.memoryUsage.rss(),
})
process.disconnect()
server.close()
server.closeAllConnections()
