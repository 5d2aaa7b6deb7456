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
import type { DeltaListener, TellingModel } from '../contracts/model.ts'
import { createTextGate, readStrayCalls, type RequestedCall } from './text-tool-calls.ts'
import { unlessAborted } from './waiting.ts'

/** Hears a model while it speaks: the one seam between models and the packets made of them. */
export interface StepListener extends DeltaListener {
  /** The first fragment of a call. */
  hearCall(): void
  /** More of the text arguments of a call, by name. */
  hearArguments(name: string, deltas: Readonly<Record<string, string>>): void
}

/** How a step is asked for. */
export interface StepRequest {
  readonly model: LanguageModelV4 | TellingModel
  readonly options: LanguageModelV4CallOptions
  readonly listener: StepListener
  readonly signal: AbortSignal
  /** Tokens of the prompt at most. */
  readonly promptTokens: number
  /** Said after the prompt, and never left out. */
  readonly reminder?: readonly LanguageModelV4Message[]
  /** Actions of which this step has to call one. Default: none. */
  readonly forced?: readonly string[]
  /** Text arguments to tell while they are written, by name of the tool. Default: none. */
  readonly streamed?: ReadonlyMap<string, readonly string[]>
  /** Whether text that is nothing but a call may become one. */
  readonly mayRecover: boolean
  /** Tries of a call that fails before it said anything, at least 1. */
  readonly tries: number
  /** Waits between tries; rejects when aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly context: FailureContext
}

/** A finished step: all the model gave, in order, but the calls, which stand by themselves. */
export interface StepResult {
  /** Content parts with deltas joined. */
  readonly parts: readonly LanguageModelV4StreamPart[]
  readonly calls: readonly RequestedCall[]
  /** Whether the calls were read out of text. */
  readonly wasRecovered: boolean
  readonly finishReason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
}

const retried = new Set<ErrorCode>(['RATE_LIMIT', 'SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'API_ERROR'])
const longestWaitMs = 20_000

/**
 * Plays one step of a model to its end. Every delta reaches the listener at once. A call that fails before it said
 * anything is tried again, one that is too long for the model once more with a shorter prompt. A forced action that
 * is not called is asked for once more; meanwhile text is held back, so that it is never said twice.
 * @throws what the model failed of; an InlayError for steps that gave nothing or missed the forced action
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
    const hearing = { hasBegun: false }
    try {
      return await playOnce(request, prompt, hearing)
    } catch (error) {
      if (hearing.hasBegun || request.signal.aborted) throw error
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
  const asked = Number(failure.details?.['retry_after_seconds'] ?? 0) * 1000
  return Math.min(longestWaitMs, Math.max(asked, 1000 * 2 ** (attempt - 1)))
}

async function playOnce(
  request: StepRequest,
  prompt: LanguageModelV4Message[],
  hearing: { hasBegun: boolean },
): Promise<StepResult> {
  const { model, options, signal, reminder = [] } = request
  const ear = createEar(request, hearing)
  signal.throwIfAborted()
  const call = { ...options, prompt: [...prompt, ...reminder], abortSignal: signal }
  const isTelling = 'doStreamTold' in model
  const opened = isTelling ? model.doStreamTold(call, ear) : model.doStream(call)
  const { stream } = await unlessAborted(opened, signal)
  const reader = stream.getReader()
  // Also ends the reading of a model that does not heed its signal.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      ear.hear(value, isTelling ? 'told' : 'new')
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
  signal.throwIfAborted()
  return ear.end()
}

/** Hears one try of a step: tells the listener at once, keeps what the agent needs. */
interface Ear extends DeltaListener {
  /** @param state whether deltas have been told already */
  hear(part: LanguageModelV4StreamPart, state: 'new' | 'told'): void
  /** Ends the hearing. Throws when the step gave nothing or broke off. */
  end(): StepResult
}

function createEar(request: StepRequest, hearing: { hasBegun: boolean }): Ear {
  const { options, listener, forced, mayRecover } = request
  const names = new Set(options.tools?.map(({ name }) => name))
  const gate = createTextGate({ names, mayRecover })
  const writing = createWriting(request)
  const parts: LanguageModelV4StreamPart[] = []
  const calls: RequestedCall[] = []
  let finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined
  let thought = ''
  let text = ''
  let heldText = ''
  let mayTell = forced === undefined

  const tell = (delta: string): void => {
    if (!mayTell) heldText += delta
    else if (delta !== '') listener.say(delta)
  }
  const hearCall = (name: string): void => {
    hearing.hasBegun = true
    if (!mayTell && forced?.includes(name)) {
      mayTell = true
      tell(heldText)
    }
    tell(gate.end().text)
    listener.hearCall()
  }
  const say = (delta: string): void => {
    if (delta === '') return
    hearing.hasBegun = true
    text += delta
    tell(gate.push(delta))
  }
  const reason = (delta: string): void => {
    if (delta !== '') hearing.hasBegun = true
    thought += delta
    listener.reason(delta)
  }
  const hear: Ear['hear'] = (part, state) => {
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      joinDelta(parts, part)
      if (state === 'told') return
      if (part.type === 'text-delta') say(part.delta)
      else reason(part.delta)
    } else if (part.type === 'tool-input-start') {
      hearCall(part.toolName)
      writing.begin(part.id, part.toolName)
    } else if (part.type === 'tool-input-delta') writing.push(part.id, part.delta)
    else if (part.type === 'tool-call') {
      hearCall(part.toolName)
      calls.push({ id: part.toolCallId, name: part.toolName, input: part.input })
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') finish = part
    else if (forwarded.has(part.type)) parts.push(part)
  }
  const end = (): StepResult => {
    const rest = gate.end()
    const thinksAloud = mayRecover && rest.calls.length === 0 && text.trim() === ''
    const stray = calls.length > 0 ? [] : thinksAloud ? readStrayCalls(thought, names) : rest.calls
    tell(rest.text)
    // A forced step that gave nothing is asked again, like one that gave only text.
    const saidAnything = text.trim() !== '' || calls.length + stray.length > 0 || forced !== undefined
    const toolChoice = options.toolChoice?.type ?? 'auto'
    const failure = stepFailure({ finishReason: finish?.finishReason, saidAnything, toolChoice }, request.context)
    if (failure || !finish) throw asError(failure)
    return {
      parts: stray.length > 0 ? parts.filter(({ type }) => !type.startsWith('text-')) : parts,
      calls: calls.length > 0 ? calls : stray,
      wasRecovered: stray.length > 0,
      finishReason: finish.finishReason,
      usage: finish.usage,
    }
  }
  return { hear, say, reason, end }
}

/** Tells text arguments of calls while they are written. */
function createWriting({ streamed, listener }: StepRequest) {
  const calls = new Map<string, { readonly name: string; readonly stream: ArgumentStream }>()
  return {
    begin: (id: string, name: string): void => {
      const names = streamed?.get(name)
      if (names) calls.set(id, { name, stream: createArgumentStream(names) })
    },
    push: (id: string, json: string): void => {
      const call = calls.get(id)
      const deltas = call?.stream.push(json)
      if (call && deltas) listener.hearArguments(call.name, deltas)
    },
  }
}

/** Parts the agent needs besides deltas, calls and the end. Fragments of calls are left out: whole calls follow. */
const forwarded = new Set<LanguageModelV4StreamPart['type']>([
  'stream-start',
  'response-metadata',
  'text-start',
  'text-end',
  'reasoning-start',
  'reasoning-end',
])

function asError(failure: Failure | undefined): InlayError {
  if (!failure) return new InlayError('EMPTY_LLM_RESPONSE')
  const { code, message, retryable, details } = failure
  return new InlayError(code, { message, retryable, data: { details } })
}

type Delta = Extract<LanguageModelV4StreamPart, { type: 'text-delta' | 'reasoning-delta' }>

/** Appends a delta to the one before it. A delta with metadata (a signature) has to reach the agent as it is. */
function joinDelta(parts: LanguageModelV4StreamPart[], delta: Delta): void {
  const last = parts.at(-1)
  const fits = last?.type === delta.type && last.id === delta.id && !last.providerMetadata && !delta.providerMetadata
  if (fits) last.delta += delta.delta
  else parts.push({ ...delta })
}
