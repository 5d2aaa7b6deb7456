import type { LanguageModelV4CallOptions, LanguageModelV4Usage, LanguageModelV4Message } from '@ai-sdk/provider'
import { errorTable, InlayError, isInlayError, type ErrorCode } from '@inlay/protocol'
import { estimateTokens, promptLimit, fitPrompt, promptTokens } from '../prompt/context-window.ts'
import { signsOf } from './failure-signs.ts'
import { toFailure, type Failure } from './failures.ts'
import type { ModelQuestion } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { StepOutput, type StepListener, type AttemptState, type StepRequest, type StepResult } from './step-output.ts'
import { hasWord } from './text-tool-calls.ts'
import { untilAborted } from '@inlay/protocol/concurrency'

/**
 * Plays one step of a model to its end. Every delta reaches the listener at once. A call that fails before its first
 * output is tried again; one that is too long for the model with ever shorter prompts. A forced action
 * that is not called is asked for once more, as is a text without a word where the request says how; meanwhile text is
 * held back, so that clients never get it twice.
 * @throws the model's failure; an InlayError for steps without output and for a forced action that was not called
 */
export async function playStep(request: StepRequest): Promise<StepResult> {
  const prompt = fitPrompt(request.options.prompt, request.promptTokens)
  const { forced, ifWordless, reminder = [] } = request
  const first = await retryStep(request, prompt).catch((error: unknown) => {
    if (!isEmptyAfterResults(error, prompt)) throw error
    return retryStep({ ...request, reminder: [...reminder, goOn] }, prompt)
  })
  const isWordless =
    ifWordless && !hasWord(first.content.map(({ type, text }) => (type === 'text' ? text : '')).join(''))
  if (isWordless && first.calls.length === 0)
    return afterFirst(
      first,
      await retryStep({ ...request, ifWordless: undefined, reminder: [...reminder, ifWordless] }, prompt),
    )
  if (forced === undefined || first.calls.some(({ name }) => forced.includes(name))) return first
  const second = await retryStep(request, [...prompt, demand(forced)])
  if (second.calls.some(({ name }) => forced.includes(name))) return afterFirst(first, second)
  throw new InlayError('UNKNOWN_ERROR', {
    message: `The model did not use the forced action ${forced.join(' or ')}, also when asked again.`,
  })
}

// As Anthropic documents it: Claude takes its turn for complete now and then when it has read results.
const goOn: LanguageModelV4Message = { role: 'user', content: [{ type: 'text', text: 'Please continue.' }] }

function isEmptyAfterResults(error: unknown, prompt: readonly LanguageModelV4Message[]): boolean {
  const isEmpty = isInlayError(error) && error.message === errorTable.EMPTY_LLM_RESPONSE.message
  return isEmpty && prompt.at(-1)?.role === 'tool'
}

/** A step that was asked for once more, with what both tries consumed. */
function afterFirst(first: StepResult, second: StepResult): StepResult {
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

function demand(names: readonly string[]): LanguageModelV4Message {
  const tools = names.map((name) => `"${name}"`).join(' or ')
  const text = `Call the tool ${tools} now, before anything else. Do not answer in text.`
  return { role: 'user', content: [{ type: 'text', text }] }
}

const retried = new Set<ErrorCode>(['RATE_LIMIT', 'SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'API_ERROR'])
const longestWaitMs = 20_000

/**
 * Plays a step until it succeeds: again after a while where a call failed before its first output and may succeed later,
 * at most `request.tries` times; with ever shorter prompts where the prompt is too long for the model.
 * @throws the failure of the last attempt
 */
async function retryStep(request: StepRequest, fitting: LanguageModelV4Message[]): Promise<StepResult> {
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
      if (attempt >= request.tries || !retried.has(failure.code) || wasSilent(error) || pointsElsewhere(error))
        throw error
      await request.wait(delayBefore(failure, attempt), request.signal)
    }
  }
}

/** Whether a server was given up, by us or by a gateway, that may still read the prompt: it would only read it again. */
function wasSilent(error: unknown): boolean {
  const { status = 0, text } = signsOf(error)
  return [408, 504, 524].includes(status) || /Nothing came for \d+ seconds|UND_ERR_(?:HEADERS|BODY)_TIMEOUT/.test(text)
}

/** Whether a provider redirected the request to another host: it would again. */
function pointsElsewhere(error: unknown): boolean {
  const { status = 0 } = signsOf(error)
  return status >= 300 && status < 400
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
  const output = new StepOutput(request, attemptState)
  signal.throwIfAborted()
  const sent = request.rewrite?.(prompt) ?? prompt
  const call = { ...options, prompt: [...sent, ...reminder], abortSignal: signal }
  const isTapped = 'doStreamTapped' in model
  const opened = isTapped ? model.doStreamTapped(call, output) : model.doStream(call)
  const { stream } = await untilAborted(opened, signal)
  const reader = stream.getReader()
  // Also ends the reading of a model that does not heed its signal.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  output.onProse = cancel
  try {
    while (!output.isProse) {
      const { done, value } = await reader.read()
      if (output.long) await output.long.done
      if (done) break
      output.onPart(value, isTapped ? 'tapped' : 'new')
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
    if (output.long) await output.long.done
  }
  signal.throwIfAborted()
  return output.end()
}

/** Options for asking a question. */
export interface QuestionOptions {
  /** The model of the run. */
  readonly model: ResolvedModel
  /** Finds another model that is asked instead. Default: that of the run is asked. */
  readonly helper?: () => Promise<ResolvedModel>
  readonly modelIndex: number
  /** How much the model of the run is told to think; undefined leaves it to the model. */
  readonly reasoning?: LanguageModelV4CallOptions['reasoning']
  /** Aborts with the run. */
  readonly signal: AbortSignal
  /** Tries of a call that fails before it said anything, at least 1. */
  readonly tries: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Longest time of one question with all its tries, in milliseconds. */
  readonly limitMs: number
  /** Models that were slow to answer. Default: none is remembered. */
  readonly slowModels?: SlowModels
  /** Hears what each answer cost. */
  readonly onUsage: (usage: LanguageModelV4Usage) => void
}

// How many questions a model that was slow is not asked.
const spared = 50

/** Which models do not answer optional questions in time. */
export class SlowModels {
  readonly #left = new Map<string, number>()

  /** Whether to spare it a question; counts down. */
  spares({ provider, name }: ResolvedModel): boolean {
    const left = this.#left.get(`${provider} ${name}`) ?? 0
    if (left > 0) this.#left.set(`${provider} ${name}`, left - 1)
    return left > 0
  }

  note({ provider, name }: ResolvedModel): void {
    if (this.#left.size >= 1_000) this.#left.clear()
    this.#left.set(`${provider} ${name}`, spared)
  }
}

/** Longest time of one question, in milliseconds. */
export const questionLimitMs = 60_000

/**
 * Makes the way in which actions ask a model; undefined for one that only quotes documents. A question
 * has no tools and no conversation. It rejects with what the model failed of, EMPTY_LLM_RESPONSE without an answer, and
 * GATEWAY_TIMEOUT when time is up.
 */
export function createQuestions(options: QuestionOptions): ((question: ModelQuestion) => Promise<string>) | undefined {
  const { model, helper } = options
  if (model.quotesOnly && !helper) return undefined
  return async (question) => {
    const chosen = helper ? { ...options, model: await helper(), reasoning: undefined } : options
    if (question.signal && options.slowModels?.spares(chosen.model)) throw tooSlow()
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(tooSlow()), options.limitMs)
    const own = question.signal ? [question.signal] : []
    try {
      return await ask(question, chosen, AbortSignal.any([options.signal, limit.signal, ...own]))
    } catch (error) {
      if (question.signal?.aborted && !options.signal.aborted) options.slowModels?.note(chosen.model)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

async function ask(question: ModelQuestion, options: QuestionOptions, signal: AbortSignal): Promise<string> {
  const { model, modelIndex } = options
  const { instructions, answerTokens = 500 } = question
  const promptTokens = promptLimit(model.contextTokens, [])
  const limitChars = Math.max(1_000, (promptTokens - estimateTokens(instructions)) * 2)
  const call: LanguageModelV4CallOptions = {
    prompt: [
      { role: 'system', content: instructions },
      { role: 'user', content: [{ type: 'text', text: question.text.slice(0, limitChars).toWellFormed() }] },
    ],
    maxOutputTokens: Math.min(answerTokens + thoughtTokens, Math.floor(model.contextTokens / 4)),
    // As in the answer itself: what a model was not set to, its provider may refuse.
    ...(options.reasoning && { reasoning: lowEffort(options.reasoning) }),
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
  }
  const { content, usage } = await playStep({
    model: model.model,
    options: call,
    listener: silent,
    signal,
    promptTokens,
    mayRecover: false,
    tries: options.tries,
    wait: options.wait,
    context: { model: model.name, provider: model.provider, modelIndex },
  })
  options.onUsage(usage)
  return content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim()
}

/** A question of an action is a small one. */
function lowEffort(reasoning: NonNullable<QuestionOptions['reasoning']>): typeof reasoning {
  return reasoning === 'none' || reasoning === 'minimal' || reasoning === 'provider-default' ? reasoning : 'low'
}

/** A model that thinks before it answers needs room for both. */
const thoughtTokens = 2_000

const silent: StepListener = { onText: () => {}, onReasoning: () => {}, onCall: () => {}, onArguments: () => {} }

function tooSlow(): InlayError {
  return new InlayError('GATEWAY_TIMEOUT', { message: 'The model took too long to answer a question of an action.' })
}
