/** The service with a measure of its event loop: how long, in CPU time, the longest turn of it took. */
import { createInlay } from 'inlay'
import { serve } from './serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]

/** CPU time of this thread, in milliseconds: what other programs take of the machine counts nothing. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let longestMs = 0
let last = cpuMs()
setInterval(() => {
  const now = cpuMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
}, 1).unref()
process.on('message', () => {
  process.send?.({ longestMs })
  longestMs = 0
})
process.once('SIGTERM', () => process.disconnect())
await serve(createInlay({ dataFolder, apiKey }))
