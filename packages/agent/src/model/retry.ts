import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { ErrorCode } from '@inlay/protocol'
import { estimateTokens, fitPrompt, promptTokens } from '../prompt/context-window.ts'
import { signsOf } from './failure-signs.ts'
import { toFailure, type Failure } from './failures.ts'
import type { AttemptState, StepRequest, StepResult } from './step-output.ts'

const retried = new Set<ErrorCode>(['RATE_LIMIT', 'SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'API_ERROR'])
const longestWaitMs = 20_000

/**
 * Plays a step until it succeeds: again after a while where a call failed before its first output and may succeed later,
 * at most `request.tries` times; with ever shorter prompts where the prompt is too long for the model.
 * @param play makes one attempt
 * @throws the failure of the last attempt
 */
export async function retryStep(
  request: StepRequest,
  fitting: LanguageModelV4Message[],
  play: (request: StepRequest, prompt: LanguageModelV4Message[], attempt: AttemptState) => Promise<StepResult>,
): Promise<StepResult> {
  let prompt = fitting
  for (let attempt = 1; ; attempt++) {
    const attemptState = { hasOutput: false }
    try {
      return await play(request, prompt, attemptState)
    } catch (error) {
      if (attemptState.hasOutput || request.signal.aborted) throw error
      const failure = toFailure(error, request.context)
      if (failure.code === 'CONTEXT_TOO_LONG') {
        const shorter = shorten(prompt, request)
        if (!shorter) throw error
        prompt = shorter
        continue
      }
      if (attempt >= request.tries || !retried.has(failure.code) || wasSilent(error)) throw error
      await request.wait(delayBefore(failure, attempt), request.signal)
    }
  }
}

/** Whether a server was given up that may still read the prompt: it would only read it again. */
const wasSilent = (error: unknown): boolean =>
  /Nothing came for \d+ seconds|UND_ERR_(?:HEADERS|BODY)_TIMEOUT/.test(signsOf(error).text)

/** A prompt for the window the server named, else for six tenths; undefined when nothing more can be left out. */
function shorten(prompt: LanguageModelV4Message[], request: StepRequest): LanguageModelV4Message[] | undefined {
  const size = promptTokens(prompt)
  const toolTokens = estimateTokens(JSON.stringify(request.options.tools ?? []))
  const room = (request.window?.() ?? Number.POSITIVE_INFINITY) * 0.75 - toolTokens
  const shorter = fitPrompt(
    prompt,
    Math.floor(Math.min(size * 0.6, Math.max(room, size * 0.1), request.promptTokens * 0.6)),
  )
  return promptTokens(shorter) < size ? shorter : undefined
}

function delayBefore(failure: Failure, attempt: number): number {
  const retryAfterMs = Number(failure.details?.['retry_after_seconds'] ?? 0) * 1000
  return Math.min(longestWaitMs, Math.max(retryAfterMs, 1000 * 2 ** (attempt - 1)))
}
