import { parentPort } from 'node:worker_threads'
import { extractFile } from './extract.ts'
import type { ExtractionJob, ExtractionMessage, HostMessage } from './job.ts'
import { createPictures, type Picture, type PictureText } from './pictures.ts'
import { isMissingModule, refusalOf, type Refusal } from './refusals.ts'

// The thread that `file-extraction.ts` starts: one file in, one answer out, one at a time.

async function answer(job: ExtractionJob): Promise<ExtractionMessage> {
  try {
    const pictures = createPictures({ step: job.pictures, limits: job.limits }, recognize)
    const file = await extractFile(job.file, { limits: job.limits, pictures })
    return { file, hasUnreadPictures: pictures.isNoted }
  } catch (error) {
    // The unhandled error ends this thread and reaches the host.
    if (isMissingModule(error)) throw error
    return { refusal: refusalOf(error) ?? stumbleOf(error), cause: causeOf(error) }
  }
}

/** Readers meet what no format allows in their own ways; the details go to the log only. */
function stumbleOf(error: unknown): Refusal {
  if (error instanceof RangeError && /allocation|string length|array length/i.test(error.message))
    return {
      reason: 'out_of_memory',
      message: 'The file needs more memory than there is: split it into smaller files.',
    }
  return { reason: 'broken', message: 'The file is damaged or not made as its format demands: save it anew.' }
}

/** Errors of libraries carry things that cannot cross threads. */
function causeOf(error: unknown): string | undefined {
  const cause = refusalOf(error) && error instanceof Error ? error.cause : error
  return cause instanceof Error
    ? `${cause.name}: ${cause.message}\n${cause.stack}`
    : cause === undefined
      ? undefined
      : String(cause)
}

let answered: ((text: PictureText) => void) | undefined

/** Asks the host, which alone holds keys and libraries for it. */
function recognize(picture: Picture): Promise<PictureText> {
  const { promise, resolve } = Promise.withResolvers<PictureText>()
  answered = resolve
  say({ picture })
  return promise
}

function say(message: ExtractionMessage): void {
  parentPort?.postMessage(message)
}

// Discards the output of libraries, so that it does not reach the host's output.
for (const stream of [process.stdout, process.stderr]) stream.write = () => true

parentPort?.on('message', (message: HostMessage) => {
  if ('answer' in message) answered?.(message.answer)
  else void answer(message).then(say)
})
say({ isReady: true })
