import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { InlayError, type ErrorCode } from '@inlay/protocol'
import { estimateTokens, fitPrompt, promptTokens } from '../prompt/context-window.ts'
import { toFailure, type Failure } from './failures.ts'
import { collectOutput, type AttemptState, type StepRequest, type StepResult } from './step-output.ts'
import { unlessAborted } from './waiting.ts'

const retried = new Set<ErrorCode>(['RATE_LIMIT', 'SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'API_ERROR'])
const longestWaitMs = 20_000

/**
 * Plays one step of a model to its end. Every delta reaches the listener at once. A call that fails before its first
 * output is tried again; one that is too long for the model with ever shorter prompts. A forced action
 * that is not called is asked for once more; meanwhile text is held back, so that clients never get it twice.
 * @throws the model's failure; an InlayError for steps without output and for a forced action that was not called
 */
export async function playStep(request: StepRequest): Promise<StepResult> {
  const prompt = fitPrompt(request.options.prompt, request.promptTokens)
  const first = await playWithTries(request, prompt)
  const { forced } = request
  if (forced === undefined || first.calls.some(({ name }) => forced.includes(name))) return first
  const second = await playWithTries(request, [...prompt, demand(forced)])
  if (second.calls.some(({ name }) => forced.includes(name))) return second
  throw new InlayError('UNKNOWN_ERROR', {
    message: `The model did not use the forced action ${forced.join(' or ')}, also when asked again.`,
  })
}

function demand(names: readonly string[]): LanguageModelV4Message {
  const tools = names.map((name) => `"${name}"`).join(' or ')
  const text = `Call the tool ${tools} now, before anything else. Do not answer in text.`
  return { role: 'user', content: [{ type: 'text', text }] }
}

async function playWithTries(request: StepRequest, fitting: LanguageModelV4Message[]): Promise<StepResult> {
  let prompt = fitting
  for (let attempt = 1; ; attempt++) {
    const attemptState = { hasOutput: false }
    try {
      return await playOnce(request, prompt, attemptState)
    } catch (error) {
      if (attemptState.hasOutput || request.signal.aborted) throw error
      const failure = toFailure(error, request.context)
      if (failure.code === 'CONTEXT_TOO_LONG') {
        const shorter = shorten(prompt, request)
        if (!shorter) throw error
        prompt = shorter
        continue
      }
      if (attempt >= request.tries || !retried.has(failure.code)) throw error
      await request.wait(delayBefore(failure, attempt), request.signal)
    }
  }
}

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

async function playOnce(
  request: StepRequest,
  prompt: LanguageModelV4Message[],
  attemptState: AttemptState,
): Promise<StepResult> {
  const { model, options, signal, reminder = [] } = request
  const output = collectOutput(request, attemptState)
  signal.throwIfAborted()
  const call = { ...options, prompt: [...prompt, ...reminder], abortSignal: signal }
  const isTapped = 'doStreamTapped' in model
  const opened = isTapped ? model.doStreamTapped(call, output) : model.doStream(call)
  const { stream } = await unlessAborted(opened, signal)
  const reader = stream.getReader()
  // Also ends the reading of a model that does not heed its signal.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      output.onPart(value, isTapped ? 'tapped' : 'new')
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
  signal.throwIfAborted()
  return output.end()
}
