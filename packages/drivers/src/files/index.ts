import { InlayError, isInlayError } from '@inlay/protocol'
import { createLimiter, untilAborted } from '@inlay/scheduling'
import type { FileExtractor, ImageReader, SourceFile } from '@inlay/knowledge'
import type { Picture, PictureText } from './pictures.ts'
import {
  refused,
  startThread,
  type ExtractionThread,
  type PictureReading,
  type ThreadAnswer,
  type ThreadLimits,
} from './thread.ts'

export interface FileExtractionOptions {
  /** Largest file in bytes. Default 100 MB. */
  readonly maxFileBytes?: number
  /** Most bytes the parts of an Office file may unpack to. Default 256 MB. */
  readonly maxUnpackedBytes?: number
  /** Maximum characters of text taken from one file. Default 100 million. */
  readonly textLimitCharacters?: number
  /** Time limit per file in milliseconds of computing, so that a busy machine refuses no sound file. Default 60,000. */
  readonly timeoutMs?: number
  /** Most memory a thread may hold, heap and buffers together, in bytes, at least 64 MiB. Default 1 GiB. */
  readonly maxMemoryBytes?: number
  /** Number of files read concurrently, each in its own thread. Default 1. */
  readonly threads?: number
  /** Most files queued for a thread, at least 1. Default 1000. */
  readonly maxQueued?: number
  /** Idle time after which a thread ends and frees its memory, in milliseconds. Default 60,000. */
  readonly idleTimeoutMs?: number
  /**
   * Reads the text of scanned pages and pictures, e.g. `tesseractReader`. Default: none; scans have no text, pictures are
   * refused.
   */
  readonly ocr?: ImageReader | undefined
  /** Maximum number of scanned pages and pictures read in one file. Default 200. */
  readonly maxOcrPages?: number
  /** Most pixels of a picture; scanned pages are drawn with fewer. Default 40 million, an A3 page at 400 dpi. */
  readonly maxOcrPixels?: number
  /** Time limit for the text of one page, in milliseconds. Default 60,000. */
  readonly ocrTimeoutMs?: number
  /** URL of the built `@inlay/drivers/extraction-worker`, for apps whose bundler moves this module. */
  readonly workerUrl?: URL
}

/** TypeScript sources run directly in Node; the build contains only JavaScript. */
const ownWorker = (): URL => new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/**
 * Reads PDF, Word, PowerPoint, Excel, OpenDocument, Rich Text, CSV, HTML, Markdown, mails (.eml), EPUB, notebooks and plain text in a worker thread, which is
 * started by the first file, used again, and replaced when a file hangs, overfills or kills it. The kind of a file is detected
 * by its content first, then by its name, then by its media type.
 *
 * With `ocr`, a file with scanned pages, or a picture (PNG, JPEG), is read a second time, and the text of those pages is
 * recognised; such files wait for each other, not other files for them. Pages that cannot be read are named in the metadata
 * `unreadable_pages` (`['3', '7-12']`) and counted in `unreadable_page_count` (`7 of 40`).
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
  // Scans take minutes: they wait for each other only.
  const scanLimiter = createLimiter(1)
  const threads = createThreads(options)
  const closing = new AbortController()
  const read = async (file: SourceFile, pictures: PictureReading, signal: AbortSignal): Promise<ThreadAnswer> => {
    signal.throwIfAborted()
    const thread = threads.take()
    const onAbort = (): void => void thread.end(signal.reason)
    signal.addEventListener('abort', onAbort)
    try {
      return await thread.run(file, pictures)
    } finally {
      signal.removeEventListener('abort', onAbort)
      threads.giveBack(thread)
    }
  }
  const extract: FileExtractor = async (file, { signal } = {}) => {
    if (closing.signal.aborted) throw closed()
    signal?.throwIfAborted()
    if (file.bytes.byteLength > maxFileBytes) throw tooLarge(maxFileBytes)
    if (limiter.size + scanLimiter.size >= most + maxQueued) throw queueFull()
    const either = AbortSignal.any(signal ? [closing.signal, signal] : [closing.signal])
    const first = await limiter.run(() => read(file, firstReading(options), either), either)
    if (!first.hasUnreadPictures || !options.ocr) return first.file
    const second = scanReading(options.ocr, options.ocrTimeoutMs ?? 60_000, either)
    return (await scanLimiter.run(() => read(file, second, either), either)).file
  }
  return Object.assign(extract, {
    async close() {
      closing.abort(closed())
      await threads.close()
    },
  })
}

/** Reads all text that stands there as text, which takes no time to speak of. */
function firstReading({ ocr }: FileExtractionOptions): PictureReading {
  return { step: ocr ? 'note' : 'skip', recognize: () => Promise.reject(closed()) }
}

function scanReading(ocr: ImageReader, timeoutMs: number, signal: AbortSignal): PictureReading {
  const recognize = async ({ bytes, mediaType }: Picture): Promise<PictureText> => {
    // Loading a model may take longer than a page.
    await untilAborted(Promise.resolve(ocr.prepare?.(signal)), signal)
    const timeout = AbortSignal.timeout(timeoutMs)
    const either = AbortSignal.any([timeout, signal])
    try {
      return { text: await untilAborted(ocr.read(bytes, mediaType, either), either) }
    } catch (error) {
      const seconds = Math.ceil(timeoutMs / 1000)
      const message = `The text of a scanned page was not recognised within ${seconds} s: scan it with fewer pixels.`
      if (timeout.aborted && !signal.aborted) return { unread: { reason: 'too_slow', message } }
      // The image is at fault, not the reader.
      if (isInlayError(error) && error.code === 'INVALID_INPUT')
        return { unread: { reason: 'broken', message: error.message } }
      throw error
    }
  }
  return { step: 'read', recognize }
}

/** Threads are kept for the next file until they have had nothing to do for a while. */
function createThreads(options: FileExtractionOptions) {
  const { idleTimeoutMs = 60_000, workerUrl = ownWorker() } = options
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
    take(): ExtractionThread {
      const thread = takeIdle() ?? startThread(workerUrl, limits)
      busy.add(thread)
      return thread
    },
    giveBack(thread: ExtractionThread): void {
      busy.delete(thread)
      if (!thread.isUsable()) return
      const retire = (): void => {
        idle.delete(thread)
        void thread.end(closed())
      }
      idle.set(thread, setTimeout(retire, idleTimeoutMs).unref())
    },
    async close(): Promise<void> {
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
    maxPictures: options.maxOcrPages ?? 200,
    maxPixels: options.maxOcrPixels ?? 40_000_000,
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
