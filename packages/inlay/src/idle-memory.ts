import { constants, performance, PerformanceObserver, type NodeGCPerformanceDetail } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'

/** Shares of the time that the event loop works: from here on a process is busy, and below there it is idle. */
const [busyShare, idleShare] = [0.5, 0.1]
const idleSeconds = 2

/**
 * Decides when memory is given back: once a process that was busy has been idle for a while.
 * @returns takes the share of the last second in which the event loop worked; answers whether it is time
 */
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

/** V8 knows the flag from there on. */
const oldestV8 = 13
/** So much at once begins a collection. Nothing of it is touched, so it takes no memory. */
const collectedBytes = 128 * 2 ** 20
const [tries, betweenMs] = [10, 100]

/** Garbage collection entry of Node, which its types lack. */
interface CollectionEntry {
  readonly detail: NodeGCPerformanceDetail
}

/**
 * Has V8 give back the pages that its garbage leaves behind. By itself it keeps them for the next garbage, hundreds of
 * megabytes after a flood, until nothing at all is allocated for a while.
 */
export async function giveMemoryBack(): Promise<void> {
  if (Number.parseInt(process.versions.v8) < oldestV8) return
  let isCollected = false
  const observer = new PerformanceObserver((list) => {
    const entries = list.getEntries() as unknown as readonly CollectionEntry[]
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
    // The machine grants no more memory, not even untouched: it is collected another time.
  } finally {
    setFlagsFromString('--no-memory-saver-mode')
    observer.disconnect()
  }
}

/** Watches the event loop of this process, and gives memory back whenever it has become idle. */
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
