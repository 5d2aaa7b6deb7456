import { InlayError } from '@inlay/protocol'
import { createLimiter } from '@inlay/scheduling'
import type { ExtractedFile, FileExtractor, SourceFile } from '@inlay/knowledge'
import { refused, startThread, type ExtractionThread, type ThreadLimits } from './thread.ts'

/** Limits per file, and the number of files read at once. */
export interface FileExtractionOptions {
  /** Largest file in bytes. Default 100 MB. */
  readonly maxFileBytes?: number
  /** Most bytes the parts of an Office file may unpack to. Default 256 MB. */
  readonly maxUnpackedBytes?: number
  /** Maximum characters of text taken from one file. Default 100 million. */
  readonly textLimitCharacters?: number
  /** Time limit per file in milliseconds, counted from when its thread begins. Default 60,000. */
  readonly timeoutMs?: number
  /** Most memory a thread may hold, heap and buffers together, in bytes, at least 64 MiB. Default 1 GiB. */
  readonly maxMemoryBytes?: number
  /** Number of files read concurrently, each in its own thread. Default 1. */
  readonly threads?: number
  /** Most files queued for a thread, at least 1. Default 1000. */
  readonly maxQueued?: number
  /** Idle time after which a thread ends and frees its memory, in milliseconds. Default 60,000. */
  readonly idleTimeoutMs?: number
  /** URL of the built `@inlay/drivers/extraction-worker`, for apps whose bundler moves this module. */
  readonly workerUrl?: URL
}

/** TypeScript sources run directly in Node; the build contains only JavaScript. */
const ownWorker = new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/**
 * Reads PDF, Word, PowerPoint, Excel, OpenDocument, Rich Text, CSV, HTML, Markdown, mails (.eml), EPUB, notebooks and plain text in a worker thread, which is
 * started by the first file, used again, and replaced when a file hangs, overfills or kills it. The kind of a file is detected
 * by its content first, then by its name, then by its media type.
 *
 * Besides the contract of `FileExtractor`: beyond `maxQueued` queued files it rejects with RATE_LIMITED; after `close` all
 * calls, also those under way, reject with CLOSED. `data.reason` of a refused file is `empty`, `broken`, `encrypted` or
 * `unsupported` (INVALID_INPUT), `too_large`, `bomb`, `too_slow` or `out_of_memory` (PAYLOAD_TOO_LARGE).
 * @example
 * const extract = fileExtractor()
 * const { title, sections } = await extract({ name: 'handbook.pdf', bytes: await readFile('handbook.pdf') })
 * await extract.close()
 */
export function fileExtractor(options: FileExtractionOptions = {}): FileExtractor & { close(): Promise<void> } {
  const { maxFileBytes = 100_000_000, maxQueued = 1000, threads: most = 1 } = options
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
    if (file.bytes.byteLength > maxFileBytes) throw tooLarge(maxFileBytes)
    if (limiter.size >= most + maxQueued) throw queueFull()
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
  const { idleTimeoutMs = 60_000, workerUrl = ownWorker } = options
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
      idle.set(thread, setTimeout(retire, idleTimeoutMs).unref())
    },
    async close() {
      for (const timer of idle.values()) clearTimeout(timer)
      await Promise.all([...busy, ...idle.keys()].map((thread) => thread.end(closed())))
    },
  }
}

function limitsOf(options: FileExtractionOptions): ThreadLimits {
  return {
    unpackedBytes: options.maxUnpackedBytes ?? 256_000_000,
    textCharacters: options.textLimitCharacters ?? 100_000_000,
    timeMs: options.timeoutMs ?? 60_000,
    memoryBytes: options.maxMemoryBytes ?? 1_073_741_824,
  }
}

function closed(): InlayError {
  return new InlayError('CLOSED', { message: 'The reader of files is closed: make a new one.' })
}

function tooLarge(maxBytes: number): InlayError {
  const megabytes = Math.round(maxBytes / 100_000) / 10
  return refused('too_large', `The file is larger than ${megabytes} MB: split it into smaller files.`)
}

function queueFull(): InlayError {
  return new InlayError('RATE_LIMITED', {
    message: 'Too many files wait to be read: send this one again in a while.',
    data: { retryAfterSeconds: 5 },
  })
}
