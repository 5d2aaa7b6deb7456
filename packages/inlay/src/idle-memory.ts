import { constants, performance, PerformanceObserver, type NodeGCPerformanceDetail } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'

/** Event loop utilization above which a process is busy, and below which it is idle. */
const [busyShare, idleShare] = [0.5, 0.1]
const idleSeconds = 2

/** @returns a function that receives the utilization of the last second, and returns whether to release memory now */
export function createIdleWatch(): (share: number) => boolean {
  let wasBusy = false
  let idleFor = 0
  return (share) => {
    wasBusy ||= share > busyShare
    idleFor = share < idleShare ? idleFor + 1 : 0
    if (!wasBusy || idleFor < idleSeconds) return false
    wasBusy = false
    return true
  }
}

/** First version of V8 with the flag. */
const oldestV8 = 13
/** Allocating this much triggers a garbage collection. It is never touched, so it takes no physical memory. */
const collectedBytes = 128 * 2 ** 20
const [tries, betweenMs] = [10, 100]

/**
 * Makes V8 release the pages of its garbage. Otherwise it keeps them for new objects: hundreds of megabytes after a
 * peak, until the process allocates nothing for a while.
 */
export async function giveMemoryBack(): Promise<void> {
  if (Number.parseInt(process.versions.v8) < oldestV8) return
  let isCollected = false
  const observer = new PerformanceObserver((list) => {
    // Node's types lack the detail of these entries.
    const entries = list.getEntries() as unknown as readonly { readonly detail: NodeGCPerformanceDetail }[]
    isCollected ||= entries.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)
  })
  observer.observe({ entryTypes: ['gc'] })
  setFlagsFromString('--memory-saver-mode')
  try {
    for (let count = 0; count < tries && !isCollected; count++) {
      void new ArrayBuffer(collectedBytes)
      await delay(betweenMs)
    }
  } catch {
    // Allocation failed: memory is released another time.
  } finally {
    setFlagsFromString('--no-memory-saver-mode')
    observer.disconnect()
  }
}

/** Watches the event loop of this process, and releases memory whenever it has become idle. */
export function giveBackIdleMemory(): void {
  const isTime = createIdleWatch()
  let last = performance.eventLoopUtilization()
  const look = (): void => {
    const now = performance.eventLoopUtilization()
    if (isTime(performance.eventLoopUtilization(now, last).utilization)) void giveMemoryBack()
    last = now
  }
  setInterval(look, 1000).unref()
}
