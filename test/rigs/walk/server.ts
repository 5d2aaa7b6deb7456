import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInlay, createTenants, nodeListener } from 'inlay'
import { giveBackIdleMemory } from 'inlay/internal/idle-memory'

/** Messages between the measuring process and this one. */
export type ServerReport =
  | { readonly port: number }
  | { readonly residentBytes: number; readonly held: Held }
  | { readonly longestBlockMs: number }

/** What leaks when it grows. */
export interface Held {
  /** After a collection; NaN without `--expose-gc`. */
  readonly heapBytes: number
  readonly externalBytes: number
  /** Open files, pipes and sockets; NaN where there is no `/proc`. */
  readonly files: number
  readonly threads: number
  readonly timers: number
  /** Listeners of the process. */
  readonly listeners: number
}

const [dataFolder = '', apiKey = '', maxOpen] = process.argv.slice(2)
/** With a maximum of open tenants, the part of the key after its last dot names the tenant. */
const inlay =
  maxOpen === undefined
    ? createInlay({ dataFolder, apiKey, model: 'extractive' })
    : createTenants({
        folder: dataFolder,
        tenantOf: (request) => /[\w-]+$/.exec(request.headers.get('authorization') ?? '')?.[0],
        options: (tenant) => ({ apiKey: `${apiKey}.${tenant}`, model: 'extractive' }),
        maxOpen: Number(maxOpen),
        idleMs: 0,
      })
const server = createServer(nodeListener(inlay.fetch))
const report = (message: ServerReport): void => void process.send?.(message)
const blocks = monitorEventLoopDelay({ resolution: 5 })
blocks.enable()
// Like `inlay serve`.
giveBackIdleMemory()
process.on('message', (question) => {
  if (question === 'memory') return report({ residentBytes: process.memoryUsage.rss(), held: heldNow() })
  report({ longestBlockMs: blocks.max / 1e6 })
  blocks.reset()
})
process.on('disconnect', () => void inlay.close().finally(() => process.exit()))
server.listen(0, '127.0.0.1', () => {
  // A listening TCP server has an address with a port.
  report({ port: (server.address() as AddressInfo).port })
})

function heldNow(): Held {
  gc?.()
  const { heapUsed, external } = process.memoryUsage()
  const count = (folder: string): number => {
    try {
      return readdirSync(folder).length
    } catch {
      return Number.NaN
    }
  }
  return {
    heapBytes: gc ? heapUsed : Number.NaN,
    externalBytes: external,
    files: count('/proc/self/fd'),
    threads: count('/proc/self/task'),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate').length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  }
}
