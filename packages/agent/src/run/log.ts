import type { LogEntry } from '../contracts/run.ts'

/** The lines of one run: written once, read by any number of readers, each at its own pace. */
export interface RunLog {
  /** Sequence number of the newest line; 0 while there is none. */
  readonly last: number
  /** Sequence number of the oldest line still held; above `last` when there is none. */
  readonly first: number
  /** Bytes of the lines held, roughly: two a character. */
  readonly bytes: number
  readonly finished: boolean
  /** Readers that tail the log. */
  readonly tailing: number
  append(json: string): void
  /** Ends the log: readers finish once they have read the last line. */
  end(): void
  /** See `Run.read`. A reader behind the oldest line still held ends at once: what it missed is gone. */
  read(cursor: number, signal?: AbortSignal): AsyncIterable<readonly LogEntry[]>
  /** The lines held, oldest first. */
  entries(): readonly LogEntry[]
}

/**
 * Makes a log that holds at most `limitBytes`; above it the oldest lines go, so that a slow reader costs bounded
 * memory and is cut off instead.
 */
export function createRunLog({ limitBytes }: { readonly limitBytes: number }): RunLog {
  let entries: LogEntry[] = []
  // Lines before this index are dropped; the array is cut only now and then, so that dropping stays cheap.
  let start = 0
  let last = 0
  let bytes = 0
  let finished = false
  const readers = new Set<() => void>()
  let isWaking = false

  // After the code that writes: lines written together are read together.
  const wake = (): void => {
    if (isWaking || readers.size === 0) return
    isWaking = true
    queueMicrotask(() => {
      isWaking = false
      for (const settle of readers) settle()
    })
  }
  const trim = (): void => {
    while (bytes > limitBytes && start < entries.length - 1) bytes -= size(entries[start++])
    if (start > 1024 && start * 2 > entries.length) {
      entries = entries.slice(start)
      start = 0
    }
  }

  const reader = (startCursor: number, signal?: AbortSignal): AsyncIterator<readonly LogEntry[]> => {
    type Step = IteratorResult<readonly LogEntry[]>
    const done = { done: true as const, value: undefined }
    const waiting: ((step: Step) => void)[] = []
    let cursor = startCursor
    let isDone = false

    /** The next step; undefined while there is none. */
    const take = (): Step | undefined => {
      // Below the start some of the lines above the cursor are gone.
      const from = entries.length - Math.max(0, last - cursor)
      const canRead = !isDone && !signal?.aborted && from >= start
      if (canRead && from < entries.length) {
        cursor = last
        return { done: false, value: entries.slice(from) }
      }
      if (canRead && !finished) return undefined
      isDone = true
      readers.delete(settle)
      signal?.removeEventListener('abort', settle)
      return done
    }
    // Registered once, not for each line: that would cost more than all else a line takes.
    const settle = (): void => {
      while (waiting.length > 0) {
        const step = take()
        if (step === undefined) return
        waiting.shift()?.(step)
      }
    }
    return {
      // No async function: its promise for a promise costs as much as the line.
      next: () => {
        const step = waiting.length === 0 ? take() : undefined
        if (step !== undefined) return Promise.resolve(step)
        if (!readers.has(settle)) {
          readers.add(settle)
          signal?.addEventListener('abort', settle, { once: true })
        }
        return new Promise((resolve) => void waiting.push(resolve))
      },
      return: async () => {
        isDone = true
        take()
        settle()
        return done
      },
    }
  }

  return {
    get last() {
      return last
    },
    get first() {
      return last - (entries.length - start) + 1
    },
    get bytes() {
      return bytes
    },
    get finished() {
      return finished
    },
    get tailing() {
      return readers.size
    },
    append: (json) => {
      if (finished) return
      const entry = { sequence: ++last, json }
      entries.push(entry)
      bytes += size(entry)
      trim()
      wake()
    },
    end: () => {
      finished = true
      wake()
    },
    read: (cursor, signal) => ({ [Symbol.asyncIterator]: () => reader(cursor, signal) }),
    entries: () => entries.slice(start),
  }
}

// The fixed part stands for the entry itself.
function size(entry: LogEntry | undefined): number {
  return entry ? entry.json.length * 2 + 48 : 0
}
