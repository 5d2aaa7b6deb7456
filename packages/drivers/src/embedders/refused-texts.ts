import { InlayError, isInlayError } from '@inlay/protocol'
import { refusalOf, type Refusal } from '../http/refusals.ts'

interface Excess {
  /** Most texts of a request; undefined when it did not say. */
  readonly maxTexts: number | undefined
  /** How much of a single text to try next. */
  readonly share: number
}

// Error messages of llama.cpp, text-embeddings-inference, vLLM, OpenAI and Ollama.
const tooLong =
  /too large to process|less than \d+ tokens|context.?(?:length|size|window)|maximum (?:input|model|sequence) length|tokens per request|input.{0,20}too long/i
const tooMany = /batch size|too many (?:inputs|texts)|(?:at most|no more than|not exceed) \d+ (?:inputs|texts|items)/i
const maxTexts = /(?:maximum allowed batch size|not be larger than|at most|no more than|not exceed) (\d{1,5})\b/i

/** A refusal; REQUEST_TOO_LARGE, which is not tried again, for texts that are too many or too long. */
export function refusalOfTexts(refusal: Refusal): InlayError {
  const { status, subject, text } = refusal
  const isTooLong = tooLong.test(text)
  if (status < 400 || status === 401 || status === 429 || (status !== 413 && !isTooLong && !tooMany.test(text)))
    return refusalOf(refusal)
  const [stated] = isTooLong ? [] : (maxTexts.exec(text)?.slice(1) ?? [])
  const excess: Excess = { maxTexts: stated === undefined ? undefined : Number(stated), share: shareOf(text) }
  const message = `${subject} refused texts that are too many or too long.`
  return new InlayError('REQUEST_TOO_LARGE', { message, retryable: false, data: { status, excess } })
}

/** The accepted tokens as a share of the sent tokens, if a refusal contains both. */
function shareOf(text: string): number {
  const numbers = [...text.replace(/"(?:code|status)"\s*:\s*"?\d+/g, '').matchAll(/\d+/g)].map(Number)
  const counts = numbers.filter((count) => count >= 32)
  if (counts.length < 2) return 0.6
  return Math.max(0.2, Math.min(0.8, (Math.min(...counts) / Math.max(...counts)) * 0.9))
}

const shortest = 64

/** Sends fewer texts at a time if they are refused together, and the beginning of a text that is too long. */
export async function embedPiecemeal(
  texts: readonly string[],
  request: (texts: readonly string[]) => Promise<Float32Array[]>,
  onMost: (maxTexts: number) => void,
): Promise<Float32Array[]> {
  try {
    return await request(texts)
  } catch (error) {
    const excess = isInlayError(error) ? (error.data['excess'] as Excess | undefined) : undefined
    const [first = '', ...others] = texts
    if (!excess || (others.length === 0 && first.length <= shortest)) throw error
    if (others.length === 0) {
      const shorter = first.slice(0, Math.floor(first.length * excess.share)).toWellFormed()
      return embedPiecemeal([shorter], request, onMost)
    }
    const most = Math.max(1, Math.min(excess.maxTexts ?? texts.length, Math.ceil(texts.length / 2)))
    if (excess.maxTexts !== undefined) onMost(excess.maxTexts)
    const vectors: Float32Array[] = []
    for (let from = 0; from < texts.length; from += most)
      vectors.push(...(await embedPiecemeal(texts.slice(from, from + most), request, onMost)))
    return vectors
  }
}
