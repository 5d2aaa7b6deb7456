/**
 * Asks for `/health` again and again, from "begin" to "end", and says how long the slowest answer took. A process of its
 * own: making and sending large bodies would hold it up.
 *
 *   node health-prober.ts <address of the API>
 */
import { setTimeout as delay } from 'node:timers/promises'

const [base = ''] = process.argv.slice(2)
let isOver = true
let slowestMs = 0

async function probe(): Promise<void> {
  for (; !isOver; await delay(5)) {
    const start = performance.now()
    await fetch(`${base}/health`).then((response) => response.text())
    slowestMs = Math.max(slowestMs, performance.now() - start)
  }
  process.send?.({ slowestMs })
}

process.on('message', (message) => {
  isOver = message === 'end'
  if (isOver) return
  slowestMs = 0
  void probe()
})
process.on('disconnect', () => process.exit())
