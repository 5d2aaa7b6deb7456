import { toFailure, type ModelProvider } from '@inlay/agent'
import { isInlayError, type ErrorCode, type LlmOverride } from '@inlay/protocol'

/** How a model answered a short question. */
export interface ModelTrial {
  readonly provider: string
  readonly name: string
  /** Answer of the model; null if it failed. */
  readonly text: string | null
  /** Error message of the model's server. */
  readonly error: string | null
  /** Kind of the failure, as a message to the model would have it. */
  readonly errorCode: ErrorCode | null
  readonly durationMs: number
}

const timeoutMs = 60_000
const maxErrorLength = 500

/** With no document and no tool in it. @throws VALIDATION_ERROR for a model that is not offered */
export async function tryModel(models: ModelProvider, override: LlmOverride | null): Promise<ModelTrial> {
  const { model, provider, name, contextTokens } = await models.resolve(override)
  const startedAt = performance.now()
  const ended = (): number => Math.round(performance.now() - startedAt)
  try {
    const { content } = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Answer with the one word: ready' }] }],
      // A model that reasons first needs room for it.
      maxOutputTokens: Math.min(2_000, Math.floor(contextTokens / 4)),
      abortSignal: AbortSignal.timeout(timeoutMs),
    })
    const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    return {
      provider,
      name,
      text: text.trim().slice(0, maxErrorLength),
      error: null,
      errorCode: null,
      durationMs: ended(),
    }
  } catch (error) {
    const { code } = toFailure(error, { provider, model: name })
    return { provider, name, text: null, error: reasonOf(error), errorCode: code, durationMs: ended() }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `It did not answer within ${timeoutMs / 1000} seconds.`
  const message = isInlayError(error) || error instanceof Error ? error.message : ''
  return message === '' ? 'It did not answer, and gave no reason.' : message.slice(0, maxErrorLength)
}
