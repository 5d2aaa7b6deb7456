import type { LanguageModelV4Usage, LanguageModelV4Message } from '@ai-sdk/provider'
import { errorTable, InlayError, isInlayError, type ErrorCode } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'
import { estimateTokens, fitPrompt, promptTokens } from '../prompt/context-window.ts'
import { userMessage } from '../prompt/history.ts'
import { signsOf } from './failure-signs.ts'
import { toFailure } from './failures.ts'
import { StepOutput, type AttemptState, type StepRequest, type StepResult } from './step-output.ts'

/**
 * Plays one step of a model to its end; every delta reaches the listener at once. Tries again where that can help:
 *
 * - a call that failed before its first output: later, or with a shorter prompt when it was too long
 * - a step without output after tool results: asks the model to continue
 * - a forced tool that was not called: asks once more; the first text stays hidden
 *
 * @throws the model's failure; an InlayError for steps without output and for a forced tool that was not called
 */
export async function playStep(request: StepRequest): Promise<StepResult> {
  const { forced, reminder = [] } = request
  const prompt = fitPrompt(request.options.prompt, request.promptTokens)
  const first = await retryStep(request, prompt).catch((error: unknown) => {
    if (!isEmptyAfterResults(error, prompt)) throw error
    return retryStep({ ...request, reminder: [...reminder, pleaseContinue] }, prompt)
  })
  if (forced) {
    if (callsOneOf(first, forced)) return first
    const second = await retryStep(request, [...prompt, asAdded(demandCall(forced))])
    if (callsOneOf(second, forced)) return addUsageOf(first, second)
    throw new InlayError('UNKNOWN_ERROR', {
      message: `The model did not use the forced action ${forced.join(' or ')}, also when asked again.`,
    })
  }
  return first
}

const callsOneOf = ({ calls }: StepResult, names: readonly string[]): boolean =>
  calls.some(({ name }) => names.includes(name))

// Claude now and then takes its turn for complete after tool results; its documentation advises this message.
const pleaseContinue = userMessage('Please continue.')

function isEmptyAfterResults(error: unknown, prompt: readonly LanguageModelV4Message[]): boolean {
  const isEmpty = isInlayError(error) && error.message === errorTable.EMPTY_LLM_RESPONSE.message
  return isEmpty && prompt.at(-1)?.role === 'tool'
}

function demandCall(names: readonly string[]): LanguageModelV4Message {
  const tools = names.map((name) => `"${name}"`).join(' or ')
  return userMessage(`Call the tool ${tools} now, before anything else. Do not answer in text.`)
}

/** Marks a message as none of the user, by whose words drivers choose the tools where there are too many. */
const asAdded = (message: LanguageModelV4Message): LanguageModelV4Message => ({
  ...message,
  providerOptions: { inlay: { isAdded: true } },
})

function addUsageOf(first: StepResult, second: StepResult): StepResult {
  const [input, output] = [first.usage.inputTokens, first.usage.outputTokens]
  const { inputTokens, outputTokens } = second.usage
  const sum = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined ? b : b === undefined ? a : a + b
  const usage: LanguageModelV4Usage = {
    inputTokens: {
      total: sum(input.total, inputTokens.total),
      noCache: sum(input.noCache, inputTokens.noCache),
      cacheRead: sum(input.cacheRead, inputTokens.cacheRead),
      cacheWrite: sum(input.cacheWrite, inputTokens.cacheWrite),
    },
    outputTokens: {
      total: sum(output.total, outputTokens.total),
      text: sum(output.text, outputTokens.text),
      reasoning: sum(output.reasoning, outputTokens.reasoning),
    },
  }
  return { ...second, usage }
}

const retried = new Set<ErrorCode>(['RATE_LIMIT', 'SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'API_ERROR'])
const maxWaitMs = 20_000
/** Waiting for a server that is still loading the model: up to two minutes in all, whatever the number of attempts. */
const [loadingWaitMs, maxLoadingWaits] = [3_000, 40]

/**
 * Plays a step until it succeeds: later, when it failed before its first output and may succeed then, up to
 * `request.maxAttempts` times; with ever shorter prompts when the prompt is too long. @throws the last failure
 */
async function retryStep(request: StepRequest, fitting: LanguageModelV4Message[]): Promise<StepResult> {
  let prompt = fitting
  let loadingWaits = 0
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
      if (request.maxAttempts > 1 && loadingWaits < maxLoadingWaits && isLoadingModel(error)) {
        loadingWaits++
        attempt--
        await request.wait(loadingWaitMs, request.signal)
        continue
      }
      if (attempt >= request.maxAttempts || !retried.has(failure.code) || isSilentTimeout(error) || isRedirect(error))
        throw error
      const statedMs = Number(failure.details?.['retry_after_seconds'] ?? 0) * 1000
      // Asked sooner, the provider would refuse again.
      if (statedMs > maxWaitMs) throw error
      await request.wait(Math.min(maxWaitMs, Math.max(statedMs, 1000 * 2 ** (attempt - 1))), request.signal)
    }
  }
}

/** Inlay or a gateway gave up a silent server, which may still be reading the prompt and would only read it again. */
function isSilentTimeout(error: unknown): boolean {
  const { status = 0, text } = signsOf(error)
  return [408, 504, 524].includes(status) || /Nothing came for \d+ seconds|UND_ERR_(?:HEADERS|BODY)_TIMEOUT/.test(text)
}

/** Whether a server runs, but has not loaded its model yet, as llama.cpp and TGI say with 503. */
function isLoadingModel(error: unknown): boolean {
  const { status, text } = signsOf(error)
  return status === 503 && /\bloading\b.{0,40}\bmodel\b|\bmodel\b.{0,200}\bloading\b/i.test(text)
}

/** Whether a provider redirected the request to another host, which it would do again. */
function isRedirect(error: unknown): boolean {
  const { status = 0 } = signsOf(error)
  return status >= 300 && status < 400
}

/** For the window that the server stated, else 60 % of the prompt; undefined when nothing more can be left out. */
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

async function playOnce(
  request: StepRequest,
  prompt: LanguageModelV4Message[],
  attemptState: AttemptState,
): Promise<StepResult> {
  const { model, options, signal, reminder = [] } = request
  const output = new StepOutput(request, attemptState)
  signal.throwIfAborted()
  const call = { ...options, prompt: [...prompt, ...reminder.map(asAdded)], abortSignal: signal }
  const isTapped = 'doStreamTapped' in model
  const opened = isTapped ? model.doStreamTapped(call, output) : model.doStream(call)
  const { stream } = await untilAborted(opened, signal)
  const reader = stream.getReader()
  // Also stops reading a model that ignores its signal.
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
