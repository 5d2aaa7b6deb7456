import { Worker } from 'node:worker_threads'
import { InlayError } from '@inlay/protocol'
import { joinInSlices } from '@inlay/scheduling'
import type { ExtractedFile, SourceFile } from '@inlay/knowledge'
import type { ExtractionLimits } from './budget.ts'
import type { ExtractionMessage, HostMessage } from './job.ts'
import type { Picture, PictureLimits, PictureStep, PictureText } from './pictures.ts'
import type { RefusalReason } from './refusals.ts'

export interface ThreadLimits extends ExtractionLimits, PictureLimits {
  readonly timeMs: number
  /** Heap and buffers together. */
  readonly memoryBytes: number
}

export interface PictureReading {
  readonly step: PictureStep
  /** Called for one picture at a time; the time it takes is not counted. */
  recognize(picture: Picture): Promise<PictureText>
}

export interface ThreadAnswer {
  readonly file: ExtractedFile
  readonly hasUnreadPictures: boolean
}

/** A worker thread that reads one file at a time. */
export interface ExtractionThread {
  /** False once it has ended, for whatever reason; it then takes no more files. */
  isUsable(): boolean
  /** Copies the bytes. Ends itself when the file oversteps a limit or kills it, or when the recogniser rejects. */
  run(file: SourceFile, pictures: PictureReading): Promise<ThreadAnswer>
  /** Ends it at once; the file it reads rejects with the reason. */
  end(reason: unknown): Promise<void>
}

const watchMs = 100
/** Time for a file with all its pictures, in time limits for the span between two. */
const maxSpans = 10
const mebibyte = 1_048_576

/** Starts a thread. It keeps the process alive only while it reads. */
export function startThread(entry: URL, limits: ThreadLimits): ExtractionThread {
  const worker = new Worker(entry, {
    name: 'inlay file extraction',
    // Empty, so that files learn nothing about the host and its preloaded modules are not loaded.
    env: {},
    // From sources, workspace packages are sources as well.
    execArgv: entry.pathname.endsWith('.ts') ? ['--conditions=@inlay/source'] : [],
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(limits.memoryBytes / mebibyte) },
  })
  worker.unref()
  let isReady = false
  let isEnded = false
  let running: ReturnType<typeof Promise.withResolvers<ThreadAnswer>> | undefined
  let onPicture: ((picture: Picture) => void) | undefined
  const end = async (reason: unknown): Promise<void> => {
    isEnded = true
    running?.reject(reason)
    await worker.terminate()
  }
  const post = (message: HostMessage, transfer: ArrayBuffer[] = []): void => worker.postMessage(message, transfer)
  worker.on('message', (message: ExtractionMessage) => {
    if ('isReady' in message) isReady = true
    else if ('picture' in message) onPicture?.(message.picture)
    else if ('file' in message) running?.resolve(message)
    else running?.reject(refused(message.refusal.reason, message.refusal.message, message.cause))
  })
  worker.on('error', (error) => void end(failureOf(error, isReady)))
  worker.on('exit', () => void end(failureOf(undefined, isReady)))
  return {
    isUsable: () => !isEnded,
    end,
    async run(file, pictures) {
      running = Promise.withResolvers()
      const { promise } = running
      worker.ref()
      const watch = watchOver(worker, limits, (reason) => void end(reason))
      onPicture = (picture) => {
        watch.pause()
        pictures.recognize(picture).then(
          (answer) => {
            if (isEnded) return
            watch.restart()
            post({ answer })
          },
          (error: unknown) => void end(error),
        )
      }
      const { name, mediaType } = file
      void joinInSlices([file.bytes], file.bytes.byteLength).then((bytes) => {
        if (!isEnded) post({ file: { name, mediaType, bytes }, limits, pictures: pictures.step }, [bytes.buffer])
      }, running.reject)
      return await promise.finally(() => {
        watch.stop()
        running = onPicture = undefined
        // The process must not end before a thread that is being terminated.
        if (!isEnded) worker.unref()
      })
    },
  }
}

/** A thread that does not compute may wait this many time limits for its turn or for the disk, then it is stuck. */
const maxWaits = 10

/**
 * Watches what a thread uses. Time is that of its processor, so that a busy machine does not make a sound file too slow.
 * Resource limits of Node bind the heap only; buffers, into which compressed streams unpack, are watched here. Both
 * figures are had while the thread computes. Other runtimes may lack them: there the heap and the time that passes are bound.
 */
function watchOver(
  worker: Worker,
  limits: ThreadLimits,
  stop: (reason: InlayError) => void,
): { pause(): void; restart(): void; stop(): void } {
  let spanUsedMs: number | undefined
  let firstUsedMs: number | undefined
  const startTimeout = (): NodeJS.Timeout => {
    const ms = 'cpuUsage' in worker ? maxWaits * limits.timeMs : limits.timeMs
    return setTimeout(() => stop(tooSlow(ms)), ms)
  }
  let timeout = startTimeout()
  const checkTime = ({ user, system }: NodeJS.CpuUsage): void => {
    const usedMs = (user + system) / 1000
    firstUsedMs ??= usedMs
    spanUsedMs ??= usedMs
    if (usedMs - spanUsedMs > limits.timeMs) stop(tooSlow(limits.timeMs))
    else if (usedMs - firstUsedMs > maxSpans * limits.timeMs) stop(tooSlow(maxSpans * limits.timeMs))
  }
  const check = (): void => {
    // They reject when the thread has ended, which its own events report.
    worker.cpuUsage?.().then(checkTime, () => undefined)
    worker.getHeapStatistics?.().then(
      ({ used_heap_size: heap, external_memory: buffers }) => {
        if (heap + buffers > limits.memoryBytes) stop(outOfMemory(limits.memoryBytes))
      },
      () => undefined,
    )
  }
  check()
  const watch = setInterval(check, watchMs)
  return {
    /** Holds the clock; the memory is watched on. */
    pause() {
      clearTimeout(timeout)
      spanUsedMs = undefined
    },
    restart() {
      timeout = startTimeout()
      spanUsedMs = undefined
    },
    stop() {
      clearTimeout(timeout)
      clearInterval(watch)
    },
  }
}

function failureOf(error: unknown, isReady: boolean): InlayError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return outOfMemory()
  // A missing module is no fault of the file.
  if (!isReady || code === 'ERR_MODULE_NOT_FOUND') return new InlayError('INTERNAL_ERROR', { cause: error })
  return refused('broken', 'The file made its reader fail: it is damaged. Save it anew and send it again.', error)
}

function tooSlow(timeoutMs: number): InlayError {
  const seconds = Math.ceil(timeoutMs / 1000)
  return refused('too_slow', `The file took more than ${seconds} s to read: split it into smaller files.`)
}

function outOfMemory(maxBytes?: number): InlayError {
  const amount =
    maxBytes === undefined ? 'more memory than allowed' : `more than ${Math.round(maxBytes / mebibyte)} MiB`
  return refused('out_of_memory', `The file needs ${amount} to read: split it into smaller files.`)
}

const tooMuch: ReadonlySet<RefusalReason> = new Set(['too_large', 'bomb', 'too_slow', 'out_of_memory'])

export function refused(reason: RefusalReason, message: string, cause?: unknown): InlayError {
  const code = tooMuch.has(reason) ? 'PAYLOAD_TOO_LARGE' : 'INVALID_INPUT'
  return new InlayError(code, { message, cause, data: { reason } })
}
