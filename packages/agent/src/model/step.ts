import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { InlayError, type ErrorCode } from '@inlay/protocol'
import { createArgumentStream, type ArgumentStream } from './argument-stream.ts'
import { fitPrompt, promptTokens } from '../prompt/context-window.ts'
import { stepFailure, toFailure, type Failure, type FailureContext } from './failures.ts'
import type { StreamListener, TappedModel } from '../contracts/model.ts'
import { createContentCollector, type RequestedCall, type WrittenPart } from './exchange.ts'
import { createTextGate, readTextCalls } from './text-tool-calls.ts'
import { unlessAborted } from './waiting.ts'

/** Receives what a model writes while it arrives. */
export interface StepListener extends StreamListener {
  /** The first fragment of a call. */
  onCall(): void
  /** More of the text arguments of a call, by name. */
  onArguments(name: string, deltas: Readonly<Record<string, string>>): void
}

export interface StepRequest {
  readonly model: LanguageModelV4 | TappedModel
  readonly options: LanguageModelV4CallOptions
  readonly listener: StepListener
  readonly signal: AbortSignal
  /** Tokens of the prompt at most. */
  readonly promptTokens: number
  /** Follows the prompt and is never left out. */
  readonly reminder?: readonly LanguageModelV4Message[]
  /** Actions of which this step has to call one. Default: none. */
  readonly forced?: readonly string[]
  /** Text arguments that the listener gets while they are written, by name of the tool. Default: none. */
  readonly streamed?: ReadonlyMap<string, readonly string[]>
  /** Whether text that is nothing but a call may become one. */
  readonly mayRecover: boolean
  /** Tries of a model call that fails before its first output, at least 1. */
  readonly tries: number
  /** Waits between tries; rejects when aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly context: FailureContext
}

/** A finished step. */
export interface StepResult {
  /** Text and reasoning as the model reads them later; text that became calls is left out. */
  readonly content: readonly WrittenPart[]
  readonly calls: readonly RequestedCall[]
  /** Whether the calls were read out of text. */
  readonly wasRecovered: boolean
  readonly finishReason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
}

const retried = new Set<ErrorCode>(['RATE_LIMIT', 'SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'API_ERROR'])
const longestWaitMs = 20_000

/**
 * Plays one step of a model to its end. Every delta reaches the listener at once. A call that fails before its first
 * output is tried again; one that is too long for the model is tried once more with a shorter prompt. A forced action
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
  let hasShortened = false
  for (let attempt = 1; ; attempt++) {
    const attemptState = { hasOutput: false }
    try {
      return await playOnce(request, prompt, attemptState)
    } catch (error) {
      if (attemptState.hasOutput || request.signal.aborted) throw error
      const failure = toFailure(error, request.context)
      if (failure.code === 'CONTEXT_TOO_LONG' && !hasShortened) {
        hasShortened = true
        const limit = Math.min(request.promptTokens, promptTokens(prompt))
        prompt = fitPrompt(prompt, Math.floor(limit * 0.6))
        continue
      }
      if (attempt >= request.tries || !retried.has(failure.code)) throw error
      await request.wait(delayBefore(failure, attempt), request.signal)
    }
  }
}

function delayBefore(failure: Failure, attempt: number): number {
  const retryAfterMs = Number(failure.details?.['retry_after_seconds'] ?? 0) * 1000
  return Math.min(longestWaitMs, Math.max(retryAfterMs, 1000 * 2 ** (attempt - 1)))
}

/** What is known of one attempt when it fails. */
interface AttemptState {
  hasOutput: boolean
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

/** Passes the output of one attempt on to the listener and keeps what later steps need. */
interface StepOutput extends StreamListener {
  /** @param state whether the tap has passed the deltas on already */
  onPart(part: LanguageModelV4StreamPart, state: 'new' | 'tapped'): void
  /** Throws when the step gave nothing or broke off. */
  end(): StepResult
}

function collectOutput(request: StepRequest, attemptState: AttemptState): StepOutput {
  const { options, listener, forced, mayRecover } = request
  const names = new Set(options.tools?.map(({ name }) => name))
  const gate = createTextGate({ names, mayRecover })
  const argumentDeltas = passArguments(request)
  const content = createContentCollector()
  const calls: RequestedCall[] = []
  let finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined
  let reasoning = ''
  let text = ''
  let heldText = ''
  let mayPass = forced === undefined

  const pass = (delta: string): void => {
    if (!mayPass) heldText += delta
    else if (delta !== '') listener.onText(delta)
  }
  const onCall = (name: string): void => {
    attemptState.hasOutput = true
    if (!mayPass && forced?.includes(name)) {
      mayPass = true
      pass(heldText)
    }
    pass(gate.end().text)
    listener.onCall()
  }
  const onText = (delta: string): void => {
    if (delta === '') return
    attemptState.hasOutput = true
    text += delta
    pass(gate.push(delta))
  }
  const onReasoning = (delta: string): void => {
    if (delta !== '') attemptState.hasOutput = true
    reasoning += delta
    listener.onReasoning(delta)
  }
  const onPart: StepOutput['onPart'] = (part, state) => {
    content.add(part)
    if (part.type === 'text-delta' && state === 'new') onText(part.delta)
    else if (part.type === 'reasoning-delta' && state === 'new') onReasoning(part.delta)
    else if (part.type === 'tool-input-start') {
      onCall(part.toolName)
      argumentDeltas.start(part.id, part.toolName)
    } else if (part.type === 'tool-input-delta') argumentDeltas.push(part.id, part.delta)
    else if (part.type === 'tool-call') {
      onCall(part.toolName)
      calls.push(toRequestedCall(part))
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') finish = part
  }
  const end = (): StepResult => {
    const rest = gate.end()
    const isOnlyReasoning = mayRecover && rest.calls.length === 0 && text.trim() === ''
    const textCalls = calls.length > 0 ? [] : isOnlyReasoning ? readTextCalls(reasoning, names) : rest.calls
    pass(rest.text)
    // A forced step without output is asked again, like one that gave only text.
    const saidAnything = text.trim() !== '' || calls.length + textCalls.length > 0 || forced !== undefined
    const toolChoice = options.toolChoice?.type ?? 'auto'
    const failure = stepFailure({ finishReason: finish?.finishReason, saidAnything, toolChoice }, request.context)
    if (failure || !finish) throw asError(failure)
    const wasRecovered = textCalls.length > 0
    return {
      content: content.parts().filter(({ type }) => !wasRecovered || type === 'reasoning'),
      calls: wasRecovered ? textCalls : calls,
      wasRecovered,
      finishReason: finish.finishReason,
      usage: finish.usage,
    }
  }
  return { onPart, onText, onReasoning, end }
}

function toRequestedCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): RequestedCall {
  const { toolCallId: id, toolName: name, input, providerMetadata: providerOptions } = part
  return { id, name, input, ...(providerOptions && { providerOptions }) }
}

/** Passes text arguments of calls on while they are written. */
function passArguments({ streamed, listener }: StepRequest) {
  const calls = new Map<string, { readonly name: string; readonly stream: ArgumentStream }>()
  return {
    start: (id: string, name: string): void => {
      const names = streamed?.get(name)
      if (names) calls.set(id, { name, stream: createArgumentStream(names) })
    },
    push: (id: string, json: string): void => {
      const call = calls.get(id)
      const deltas = call?.stream.push(json)
      if (call && deltas) listener.onArguments(call.name, deltas)
    },
  }
}

function asError(failure: Failure | undefined): InlayError {
  if (!failure) return new InlayError('EMPTY_LLM_RESPONSE')
  const { code, message, retryable, details } = failure
  return new InlayError(code, { message, retryable, data: { details } })
}
