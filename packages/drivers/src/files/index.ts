import { InlayError } from '@inlay/protocol'
import type { ExtractedFile, FileExtractor, SourceFile } from '@inlay/knowledge'
import { refused, startThread, type ExtractionThread, type ThreadLimits } from './thread.ts'

/** How much a file may cost, and how many are read at once. */
export interface FileExtractionOptions {
  /** Largest file in bytes. Default 100 MB. */
  readonly fileLimitBytes?: number
  /** Most bytes the parts of an Office file may unpack to. Default 256 MB. */
  readonly unpackedLimitBytes?: number
  /** Most characters of text taken from one file. Default 100 million. */
  readonly textLimitCharacters?: number
  /** Longest time for one file in milliseconds, from when its thread begins with it. Default 60,000. */
  readonly timeLimitMs?: number
  /** Most memory a thread may hold, heap and buffers together, in bytes, at least 64 MiB. Default 1 GiB. */
  readonly memoryLimitBytes?: number
  /** Files read at the same time, each in a thread of its own. Default 1. */
  readonly threads?: number
  /** Most files queued for a thread, at least 1. Default 1000. */
  readonly queueLimit?: number
  /** A thread with nothing to do for so long ends and gives its memory back, in milliseconds. Default 60,000. */
  readonly idleLimitMs?: number
  /** Where the build of `@inlay/drivers/extraction-worker` lies, for apps whose bundler moves this module elsewhere. */
  readonly workerUrl?: URL
}

interface QueuedFile {
  readonly file: SourceFile
  readonly outcome: ReturnType<typeof Promise.withResolvers<ExtractedFile>>
  thread?: ExtractionThread
}

/** Sources run as they are in Node, the build has JavaScript only. */
const ownWorker = new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/**
 * Reads PDF, Word, PowerPoint, Excel, CSV, HTML, Markdown, mails (.eml) and plain text in a worker thread, which is
 * started by the first file, used again, and replaced when a file hangs, overfills or kills it. The kind of a file is detected
 * by its content first, then by its name, then by its media type.
 *
 * Besides the contract of `FileExtractor`: beyond `queueLimit` queued files it rejects with RATE_LIMITED; after `close` all
 * calls, also those under way, reject with CLOSED. `data.reason` of a refused file is `empty`, `broken`, `encrypted` or
 * `unsupported` (INVALID_INPUT), `too_large`, `bomb`, `too_slow` or `out_of_memory` (PAYLOAD_TOO_LARGE).
 * @example
 * const extract = fileExtractor()
 * const { title, sections } = await extract({ name: 'handbook.pdf', bytes: await readFile('handbook.pdf') })
 * await extract.close()
 */
export function fileExtractor(options: FileExtractionOptions = {}): FileExtractor & { close(): Promise<void> } {
  const { fileLimitBytes = 100_000_000, queueLimit = 1000 } = options
  const queue: QueuedFile[] = []
  const pool = threadPool(options)

  const serve = (): void => {
    for (let next = queue[0]; next; next = queue[0]) {
      const thread = pool.take()
      if (!thread) return
      queue.shift()
      next.thread = thread
      void read(next, thread)
    }
  }
  const read = async (next: QueuedFile, thread: ExtractionThread): Promise<void> => {
    await thread.run(next.file).then(next.outcome.resolve, next.outcome.reject)
    pool.giveBack(thread)
    serve()
  }
  const leave = (entry: QueuedFile, reason: unknown): void => {
    const place = queue.indexOf(entry)
    if (place >= 0) queue.splice(place, 1)
    entry.outcome.reject(reason)
    void entry.thread?.end(reason)
  }
  const extract: FileExtractor = async (file, { signal } = {}) => {
    if (pool.isClosed()) throw closed()
    signal?.throwIfAborted()
    if (file.bytes.byteLength > fileLimitBytes) throw tooLarge(fileLimitBytes)
    if (queue.length >= queueLimit) throw queueFull()
    const entry: QueuedFile = { file, outcome: Promise.withResolvers() }
    const onAbort = (): void => leave(entry, signal?.reason)
    signal?.addEventListener('abort', onAbort)
    queue.push(entry)
    serve()
    return await entry.outcome.promise.finally(() => signal?.removeEventListener('abort', onAbort))
  }
  return Object.assign(extract, {
    async close() {
      const ended = pool.close()
      for (const entry of queue.splice(0)) entry.outcome.reject(closed())
      await ended
    },
  })
}

interface ThreadPool {
  /** A thread that is free, or a new one while fewer than allowed are busy; undefined when none is to be had. */
  take(): ExtractionThread | undefined
  giveBack(thread: ExtractionThread): void
  isClosed(): boolean
  close(): Promise<void>
}

function threadPool(options: FileExtractionOptions): ThreadPool {
  const { threads = 1, idleLimitMs = 60_000, workerUrl = ownWorker } = options
  const limits = limitsOf(options)
  const busy = new Set<ExtractionThread>()
  const idle = new Map<ExtractionThread, NodeJS.Timeout>()
  let isClosed = false

  const idleThread = (): ExtractionThread | undefined => {
    for (const [thread, timer] of [...idle].reverse()) {
      clearTimeout(timer)
      idle.delete(thread)
      if (thread.isUsable()) return thread
    }
    return undefined
  }
  return {
    isClosed: () => isClosed,
    take() {
      if (isClosed || busy.size >= threads) return undefined
      const thread = idleThread() ?? startThread(workerUrl, limits)
      busy.add(thread)
      return thread
    },
    giveBack(thread) {
      busy.delete(thread)
      if (!thread.isUsable()) return
      const retire = (): void => {
        idle.delete(thread)
        void thread.end(closed())
      }
      idle.set(thread, setTimeout(retire, idleLimitMs).unref())
    },
    async close() {
      isClosed = true
      for (const timer of idle.values()) clearTimeout(timer)
      await Promise.all([...busy, ...idle.keys()].map((thread) => thread.end(closed())))
    },
  }
}

function limitsOf(options: FileExtractionOptions): ThreadLimits {
  return {
    unpackedBytes: options.unpackedLimitBytes ?? 256_000_000,
    textCharacters: options.textLimitCharacters ?? 100_000_000,
    timeMs: options.timeLimitMs ?? 60_000,
    memoryBytes: options.memoryLimitBytes ?? 1_073_741_824,
  }
}

function closed(): InlayError {
  return new InlayError('CLOSED', { message: 'The reader of files is closed: make a new one.' })
}

function tooLarge(limitBytes: number): InlayError {
  const megabytes = Math.round(limitBytes / 100_000) / 10
  return refused('too_large', `The file is larger than ${megabytes} MB: split it into smaller files.`)
}

function queueFull(): InlayError {
  return new InlayError('RATE_LIMITED', {
    message: 'Too many files wait to be read: send this one again in a while.',
    data: { retryAfterSeconds: 5 },
  })
}
