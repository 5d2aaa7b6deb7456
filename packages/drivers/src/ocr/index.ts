import type { Worker } from 'node:worker_threads'
import type { ImageReader } from '@inlay/knowledge'
import { checkRequired, InlayError, isText } from '@inlay/protocol'
import { createLimiter, untilAborted } from '@inlay/scheduling'
import { installed, toMissing } from '../installed.ts'
import { inReadingOrder, type TextBlock } from './reading-order.ts'
import { turns, withOrientation } from './orientation.ts'
import { languagesOf, provideLanguages, type LanguageDataOptions, type LanguageProgress } from './language-data.ts'

export type { LanguageDataOptions, LanguageProgress }

/** The part of the package `tesseract.js` that is used. */
export interface TesseractLib {
  createWorker(languages: string[], mode: number, options: Record<string, unknown>): Promise<TesseractWorker>
}

export interface TesseractWorker {
  /** A `Worker` of `node:worker_threads`. */
  readonly worker?: { unref?(): void; ref?(): void }
  setParameters(parameters: Record<string, string>): Promise<unknown>
  /** Turns the image by its orientation of Exif. */
  recognize(
    image: Uint8Array,
    options: Record<string, never>,
    output: { readonly text: true; readonly blocks: true },
  ): Promise<{ readonly data: RecognizedPage }>
  terminate(): Promise<unknown>
}

/** The text of a page, and its columns and pictures as blocks. */
export interface RecognizedPage {
  readonly text: string
  /** From 0 to 100. */
  readonly confidence: number
  readonly blocks?: readonly TextBlock[] | null
}

export interface TesseractReaderOptions extends LanguageDataOptions {
  /** Codes such as `eng`, `deu` or `eng+deu`; those of two letters are known for en, de, fr, es, it, pt, nl. Default `eng`. */
  readonly languages?: string | readonly string[]
  /** Idle time after which its thread ends and frees its memory, in milliseconds. Default 60,000. */
  readonly idleTimeoutMs?: number
  /** Time limit for the start of its thread, in milliseconds, without downloads. Default 60,000. */
  readonly startTimeoutMs?: number
  /** The package `tesseract.js`, where it cannot be imported by name. */
  readonly lib?: TesseractLib
}

/** Below this confidence, of 100, a page may be rotated. */
const upright = 60
/** Below this confidence, of 100, the image contains no text. */
const legible = 30

/**
 * Reads the text of scanned pages with Tesseract, in a thread of its own. The data of the languages is downloaded into
 * `folder` with the first page. Needs the package `tesseract.js`.
 * @throws INVALID_INPUT for languages that are no codes; from `prepare` UNSUPPORTED without the package,
 * SERVICE_UNAVAILABLE without the data of a language
 * @example fileExtractor({ ocr: tesseractReader({ languages: 'eng+deu', folder: 'data/tesseract' }) })
 */
export function tesseractReader(options: TesseractReaderOptions): ImageReader & { close(): Promise<void> } {
  checkRequired(
    'tesseractReader',
    options,
    'languages idleTimeoutMs startTimeoutMs lib endpoint isOffline onProgress fetch',
    { folder: ['the path of a folder', isText] },
  )
  const languages = languagesOf(options.languages ?? 'eng')
  const limiter = createLimiter(1)
  let started: { readonly thread: Promise<TesseractThread>; readonly ending: AbortController } | undefined
  let idle: NodeJS.Timeout | undefined
  const end = async (): Promise<void> => {
    clearTimeout(idle)
    started?.ending.abort(new InlayError('CLOSED', { message: 'The thread of Tesseract was ended.' }))
    started = undefined
  }
  const endWhenIdle = (): void => {
    clearTimeout(idle)
    idle = setTimeout(() => void end(), options.idleTimeoutMs ?? 60_000).unref()
  }
  const start = (signal: AbortSignal): Promise<TesseractThread> => {
    if (!started) {
      const ending = new AbortController()
      const mine = { thread: startThread(languages, options, ending.signal), ending }
      started = mine
      mine.thread.then(
        () => {
          // Nobody may have waited for it.
          if (started === mine) endWhenIdle()
        },
        () => {
          if (started === mine) started = undefined
        },
      )
    }
    return untilAborted(started.thread, signal)
  }
  const read = async (image: Uint8Array, signal: AbortSignal): Promise<string> => {
    signal.throwIfAborted()
    const { worker, died } = await start(signal)
    clearTimeout(idle)
    worker.worker?.ref?.()
    try {
      return await untilAborted(Promise.race([textOf(worker, image), died]), signal)
    } catch (error) {
      // Recognition cannot be cancelled, so its thread is ended.
      void end()
      throw error
    } finally {
      worker.worker?.unref?.()
      if (started) endWhenIdle()
    }
  }
  return {
    prepare: async (signal) => {
      signal.throwIfAborted()
      await start(signal)
    },
    read: (bytes, _mediaType, signal) => limiter.run(() => read(bytes, signal), signal),
    close: end,
  }
}

/** A started thread; `died` rejects when it ends by itself. */
interface TesseractThread {
  readonly worker: TesseractWorker
  readonly died: Promise<never>
}

/** Starts a thread, which ends when the signal aborts. */
async function startThread(
  languages: string[],
  options: TesseractReaderOptions,
  signal: AbortSignal,
): Promise<TesseractThread> {
  const { createWorker } =
    options.lib ?? (await installed('tesseract.js', () => import('tesseract.js').catch(toMissing)))
  const { isPacked } = await provideLanguages(languages, options, signal)
  signal.throwIfAborted()
  const lstmOnly = 1
  const failure = Promise.withResolvers<never>()
  const died = Promise.withResolvers<never>()
  for (const { promise } of [failure, died]) promise.catch(() => undefined)
  let thread: Worker | undefined
  const stopThread = (): void => {
    // After an error, the package cannot handle messages that still arrive.
    thread?.removeAllListeners('message')
    void thread?.terminate()
  }
  signal.addEventListener('abort', stopThread)
  const timeout = AbortSignal.timeout(options.startTimeoutMs ?? 60_000)
  try {
    const creating = whileNoting(
      () =>
        createWorker(languages, lstmOnly, {
          langPath: options.folder,
          gzip: isPacked,
          cacheMethod: 'none',
          // The package never settles the promise of a worker whose languages cannot be loaded. Other failures end the
          // thread as well: it may fail with the next page.
          errorHandler: (error: unknown) => {
            failure.reject(error)
            stopThread()
          },
        }),
      (created) => {
        thread = created
        // Nobody else listens, and Node ends the process for an error that is not listened to.
        created.on('error', (error) => {
          failure.reject(error)
          died.reject(broken(error))
        })
        created.on('exit', () => died.reject(broken()))
      },
    )
    const isStarted = Promise.race([creating, failure.promise])
    const worker = await untilAborted(isStarted, AbortSignal.any([signal, timeout]))
    signal.addEventListener('abort', () => void worker.terminate())
    worker.worker?.unref?.()
    // Finds the columns of a page. The remarks of Tesseract would reach the output of the host.
    const isSet = worker.setParameters({ tessedit_pageseg_mode: '3', debug_file: '/dev/null' })
    await untilAborted(Promise.race([isSet, died.promise]), AbortSignal.any([signal, timeout]))
    return { worker, died: died.promise }
  } catch (cause) {
    stopThread()
    signal.throwIfAborted()
    throw new InlayError('SERVICE_UNAVAILABLE', {
      message: `Tesseract did not start with the languages ${languages.join('+')}: delete their data, and it is downloaded again.`,
      cause,
    })
  }
}

/**
 * The package hands out its thread only when it has started, too late to end one that does not. Node reports a thread
 * in the next tick: listening from the tick before to the tick after leaves the threads of others out.
 */
function whileNoting<Result>(start: () => Result, onThread: (thread: Worker) => void): Result {
  process.nextTick(() => process.on('worker', onThread))
  const result = start()
  process.nextTick(() => process.off('worker', onThread))
  return result
}

const broken = (cause?: unknown): InlayError =>
  new InlayError('INVALID_INPUT', { message: 'The image is damaged: scan it again, or save it anew.', cause })

/** The text of a page, which may be rotated. */
async function textOf(worker: TesseractWorker, image: Uint8Array): Promise<string> {
  let best: RecognizedPage = { text: '', confidence: legible }
  for (const turn of [undefined, ...turns]) {
    const turned = turn === undefined ? image : withOrientation(image, turn)
    const { data } = await worker.recognize(turned, {}, { text: true, blocks: true }).catch((cause: unknown) => {
      throw broken(cause)
    })
    if (data.text.trim() !== '' && data.confidence > best.confidence) best = data
    if (best.confidence >= upright) break
  }
  return tidy(best.blocks ? inReadingOrder(best.blocks) : best.text)
}

/** Joins words hyphenated at line ends, and escapes lines that would become headings. */
function tidy(text: string): string {
  return text
    .replace(/(\p{L})[-\u00ad\u2010]\n(\p{Ll})/gu, '$1$2')
    .replace(/^(?=#{1,6}\s)/gm, '\\')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
