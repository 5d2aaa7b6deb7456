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
  read(cursor?: number, signal?: AbortSignal): AsyncIterable<readonly LogEntry[]>
  /** The lines after the cursor; undefined when some of them are gone. */
  after(cursor: number): readonly LogEntry[] | undefined
  /** The lines held, oldest first. */
  entries(): readonly LogEntry[]
}

/** How much a log holds. */
export interface RunLogOptions {
  /** Above it the oldest lines go: a slow reader costs bounded memory and is cut off instead. */
  readonly limitBytes: number
  /** Receives each line that goes. */
  readonly onDrop?: (entry: LogEntry) => void
  /**
   * Whether a reader that begins after the last line gets the end of the run again. Of a process that ended before it could
   * share its lines it may have read others under these numbers, and would not know of the end.
   */
  readonly repeatsEnd?: boolean
}

type Step = IteratorResult<readonly LogEntry[]>

export function createRunLog({ limitBytes, onDrop, repeatsEnd = false }: RunLogOptions): RunLog {
  let entries: LogEntry[] = []
  // Lines before this index are dropped; the array is cut only now and then, so that dropping stays cheap.
  let start = 0
  const readers = new Set<() => void>()
  let isWaking = false

  // After the code that writes: lines written together are read together.
  const notify = (): void => {
    if (isWaking || readers.size === 0) return
    isWaking = true
    queueMicrotask(() => {
      isWaking = false
      for (const settle of readers) settle()
    })
  }
  const dropOldest = (): void => {
    const entry = entries[start++]!
    log.bytes -= entry.json.length * 2 + entryBytes
    onDrop?.(entry)
    if (start <= 1024 || start * 2 <= entries.length) return
    entries = entries.slice(start)
    start = 0
  }

  const log = {
    last: 0,
    bytes: 0,
    finished: false,
    get first() {
      return log.last - (entries.length - start) + 1
    },
    get tailing() {
      return readers.size
    },
    append: (json: string) => {
      if (log.finished) return
      entries.push({ sequence: ++log.last, json })
      log.bytes += json.length * 2 + entryBytes
      while (log.bytes > limitBytes && start < entries.length - 1) dropOldest()
      notify()
    },
    end: () => {
      log.finished = true
      notify()
    },
    read: (cursor = 0, signal?: AbortSignal) => ({
      [Symbol.asyncIterator]: () => createReader(log, readers, { startCursor: cursor, repeatsEnd }, signal),
    }),
    after: (cursor: number) => {
      const from = entries.length - Math.max(0, log.last - cursor)
      return from >= start ? entries.slice(from) : undefined
    },
    entries: () => entries.slice(start),
  }
  return log
}

/** Memory of an entry besides its text. */
const entryBytes = 48

/** @param readers holds what each reader that waits is told of new lines by */
function createReader(
  log: RunLog,
  readers: Set<() => void>,
  { startCursor, repeatsEnd }: { readonly startCursor: number; readonly repeatsEnd: boolean },
  signal: AbortSignal | undefined,
): AsyncIterator<readonly LogEntry[]> {
  const waiting: ((step: Step) => void)[] = []
  let cursor = startCursor
  let isDone = false

  /** The end of the run for one who began after it; undefined where that is not so. */
  const endAgain = (): readonly LogEntry[] | undefined => {
    if (cursor !== startCursor || cursor < log.last || !log.finished) return undefined
    const last = log.entries().at(-1)
    return last && isEnd(last.json) ? [{ sequence: cursor + 1, json: last.json }] : []
  }
  /** The next step; undefined while there is none. */
  const take = (): Step | undefined => {
    const entries = isDone || signal?.aborted ? undefined : ((repeatsEnd ? endAgain() : undefined) ?? log.after(cursor))
    if (entries && entries.length > 0) {
      cursor = entries.at(-1)!.sequence
      return { done: false, value: entries }
    }
    if (entries && !log.finished) return undefined
    isDone = true
    readers.delete(settle)
    signal?.removeEventListener('abort', settle)
    return { done: true, value: undefined }
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
      return { done: true, value: undefined }
    },
  }
}

/** Whether a line is the end of a run: those that know it need not ask for more. */
function isEnd(json: string): boolean {
  return json.startsWith('{"error":') || json.includes('"obj":{"type":"stop"')
}
