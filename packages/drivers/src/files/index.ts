import { InlayError } from '@inlay/protocol'
import { createLimiter } from '@inlay/protocol/concurrency'
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
  /** URL of the built `@inlay/drivers/extraction-worker`, for apps whose bundler moves this module. */
  readonly workerUrl?: URL
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
  const { fileLimitBytes = 100_000_000, queueLimit = 1000, threads: most = 1 } = options
  const limiter = createLimiter(most)
  const threads = createThreads(options)
  const closing = new AbortController()
  const read = async (file: SourceFile, signal: AbortSignal): Promise<ExtractedFile> => {
    signal.throwIfAborted()
    const thread = threads.take()
    const onAbort = (): void => void thread.end(signal.reason)
    signal.addEventListener('abort', onAbort)
    try {
      return await thread.run(file)
    } finally {
      signal.removeEventListener('abort', onAbort)
      threads.giveBack(thread)
    }
  }
  const extract: FileExtractor = async (file, { signal } = {}) => {
    if (closing.signal.aborted) throw closed()
    signal?.throwIfAborted()
    if (file.bytes.byteLength > fileLimitBytes) throw tooLarge(fileLimitBytes)
    if (limiter.size >= most + queueLimit) throw queueFull()
    const either = AbortSignal.any(signal ? [closing.signal, signal] : [closing.signal])
    return limiter.run(() => read(file, either), either)
  }
  return Object.assign(extract, {
    async close() {
      closing.abort(closed())
      await threads.close()
    },
  })
}

/** Threads that are kept for the next file until they have had nothing to do for a while. */
interface Threads {
  take(): ExtractionThread
  giveBack(thread: ExtractionThread): void
  close(): Promise<void>
}

function createThreads(options: FileExtractionOptions): Threads {
  const { idleLimitMs = 60_000, workerUrl = ownWorker } = options
  const limits = limitsOf(options)
  const busy = new Set<ExtractionThread>()
  const idle = new Map<ExtractionThread, NodeJS.Timeout>()
  const takeIdle = (): ExtractionThread | undefined => {
    for (const [thread, timer] of [...idle].reverse()) {
      clearTimeout(timer)
      idle.delete(thread)
      if (thread.isUsable()) return thread
    }
    return undefined
  }
  return {
    take() {
      const thread = takeIdle() ?? startThread(workerUrl, limits)
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
