import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInlay, nodeListener } from 'inlay'
import { giveBackIdleMemory } from 'inlay/internal/idle-memory'

/** Messages between the measuring process and this one. */
export type ServerReport =
  | { readonly port: number }
  | { readonly residentBytes: number }
  | { readonly longestBlockMs: number }

const [dataFolder, apiKey] = process.argv.slice(2)
const inlay = createInlay({ dataFolder, apiKey, model: 'extractive' })
const server = createServer(nodeListener(inlay.fetch))
const report = (message: ServerReport): void => void process.send?.(message)
const blocks = monitorEventLoopDelay({ resolution: 5 })
blocks.enable()
// Like `inlay serve`.
giveBackIdleMemory()
process.on('message', (question) => {
  if (question === 'memory') return report({ residentBytes: process.memoryUsage.rss() })
  report({ longestBlockMs: blocks.max / 1e6 })
  blocks.reset()
})
process.on('disconnect', () => void inlay.close().finally(() => process.exit()))
server.listen(0, '127.0.0.1', () => {
  // A listening TCP server has an address with a port.
  report({ port: (server.address() as AddressInfo).port })
})
