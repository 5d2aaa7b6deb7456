import type { ImageReader } from '@inlay/knowledge'
import { checkRequired, InlayError, isText } from '@inlay/protocol'
import { createLimiter } from '@inlay/scheduling'
import { installed, toMissing } from '../installed.ts'
import { inReadingOrder, type TextBlock } from './reading-order.ts'
import { turns, withOrientation } from './orientation.ts'
import { languagesOf, provideLanguages, type LanguageDataOptions, type LanguageProgress } from './language-data.ts'

export type { LanguageDataOptions, LanguageProgress }

/** What is used of the package `tesseract.js`. */
export interface TesseractLib {
  createWorker(languages: string[], mode: number, options: Record<string, unknown>): Promise<TesseractWorker>
}

/** A thread of Tesseract. */
export interface TesseractWorker {
  /** Of `node:worker_threads`. */
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

/** Languages, and where their data is. */
export interface TesseractReaderOptions extends LanguageDataOptions {
  /** Codes such as `eng`, `deu` or `eng+deu`; those of two letters are known for en, de, fr, es, it, pt, nl. Default `eng`. */
  readonly languages?: string | readonly string[]
  /** Idle time after which its thread ends and frees its memory, in milliseconds. Default 60,000. */
  readonly idleTimeoutMs?: number
  /** The package `tesseract.js`, where it cannot be imported by name. */
  readonly lib?: TesseractLib
}

/** Below this, of 100, a page may lie on its side or head. */
const upright = 60
/** Below this, of 100, the letters are found in a picture that has none. */
const legible = 30

/**
 * Reads the text of scanned pages with Tesseract, in a thread of its own. The data of the languages is downloaded into
 * `folder` with the first page. Needs the package `tesseract.js`.
 * @throws INVALID_INPUT for languages that are no codes; from `prepare` UNSUPPORTED without the package,
 * SERVICE_UNAVAILABLE without the data of a language
 * @example fileExtractor({ ocr: tesseractReader({ languages: 'eng+deu', folder: 'data/tesseract' }) })
 */
export function tesseractReader(options: TesseractReaderOptions): ImageReader & { close(): Promise<void> } {
  checkRequired('tesseractReader', options, { folder: ['the path of a folder', isText] })
  const languages = languagesOf(options.languages ?? 'eng')
  const limiter = createLimiter(1)
  let thread: Promise<TesseractWorker> | undefined
  let idle: NodeJS.Timeout | undefined
  const end = async (): Promise<void> => {
    clearTimeout(idle)
    const ending = thread
    thread = undefined
    await ending?.then(
      (worker) => worker.terminate(),
      () => undefined,
    )
  }
  const start = (): Promise<TesseractWorker> => {
    clearTimeout(idle)
    return (thread ??= startThread(languages, options).catch((error: unknown) => {
      thread = undefined
      throw error
    }))
  }
  const read = async (image: Uint8Array, signal: AbortSignal): Promise<string> => {
    const worker = await start()
    const stopped = Promise.withResolvers<never>()
    const onAbort = (): void => {
      // A page cannot be stopped, its thread can.
      void end()
      stopped.reject(signal.reason)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', onAbort)
    worker.worker?.ref?.()
    try {
      return await Promise.race([textOf(worker, image), stopped.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
      worker.worker?.unref?.()
      if (thread) idle = setTimeout(() => void end(), options.idleTimeoutMs ?? 60_000).unref()
    }
  }
  return {
    prepare: async (signal) => {
      signal.throwIfAborted()
      await start()
    },
    read: (bytes, _mediaType, signal) => limiter.run(() => read(bytes, signal), signal),
    close: end,
  }
}

async function startThread(languages: string[], options: TesseractReaderOptions): Promise<TesseractWorker> {
  const { createWorker } =
    options.lib ?? (await installed('tesseract.js', () => import('tesseract.js').catch(toMissing)))
  const { isPacked } = await provideLanguages(languages, options)
  const lstmOnly = 1
  try {
    const worker = await createWorker(languages, lstmOnly, {
      langPath: options.folder,
      gzip: isPacked,
      cacheMethod: 'none',
      // Without it, the package throws errors where nobody can catch them.
      errorHandler: () => {},
    })
    worker.worker?.unref?.()
    // Finds the columns of a page. The remarks of Tesseract would reach the output of the host.
    await worker.setParameters({ tessedit_pageseg_mode: '3', debug_file: '/dev/null' })
    return worker
  } catch (cause) {
    throw new InlayError('SERVICE_UNAVAILABLE', {
      message: `Tesseract did not start with the languages ${languages.join('+')}: delete their data, and it is downloaded again.`,
      cause,
    })
  }
}

/** The text, also of a page that was scanned sideways or upside down. */
async function textOf(worker: TesseractWorker, image: Uint8Array): Promise<string> {
  let best: RecognizedPage = { text: '', confidence: legible }
  for (const turn of [undefined, ...turns]) {
    const turned = turn === undefined ? image : withOrientation(image, turn)
    const { data } = await worker.recognize(turned, {}, { text: true, blocks: true }).catch((cause: unknown) => {
      throw new InlayError('INVALID_INPUT', {
        message: 'The image is damaged: scan it again, or save it anew.',
        cause,
      })
    })
    if (data.text.trim() !== '' && data.confidence > best.confidence) best = data
    if (best.confidence >= upright) break
  }
  return tidy(best.blocks ? inReadingOrder(best.blocks) : best.text)
}

/** Words parted at the ends of lines become whole, and no line becomes a heading by its first sign. */
function tidy(text: string): string {
  return text
    .replace(/(\p{L})[-\u00ad\u2010]\n(\p{Ll})/gu, '$1$2')
    .replace(/^(?=#{1,6}\s)/gm, '\\')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
