import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { StreamListener, TappedModel } from '../contracts/model.ts'
import { createArgumentStream, type ArgumentStream } from './argument-stream.ts'
import { createLongDeltas, longDelta, type LongDeltas } from './long-deltas.ts'
import type { RequestedCall, WrittenPart } from './tool-loop.ts'
import { stepFailure, type Failure, type FailureContext } from './failures.ts'
import { createQuoteCheck, plainToolName, readTextCalls } from './text-call-formats.ts'
import { hasWord, TextGate } from './text-tool-calls.ts'
import { ThinkSplitter, type ThinkPiece } from './think-tags.ts'

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
  readonly forced?: readonly string[] | undefined
  /** Holds text back until a tool is called, and ends the step where a text goes on without one. Default: false. */
  readonly probesTools?: boolean
  /** Follows the prompt once more where the text has no word; text is held back up to one. Default: nothing does. */
  readonly ifWordless?: LanguageModelV4Message
  /** Rewrites the prompt right before it is sent, after it was shortened. Default: it stays. */
  readonly rewrite?: (prompt: LanguageModelV4Message[]) => LanguageModelV4Message[]
  /** Text arguments that the listener gets while they are written, by name of the tool. Default: none. */
  readonly streamed?: ReadonlyMap<string, readonly string[]>
  /** Whether the text holds neither thoughts nor calls, so that it passes as it is. Default: it may hold both. */
  readonly isPlainText?: boolean | undefined
  /** Whether text that is nothing but a call may become one. */
  readonly mayRecover: boolean
  /** Tries of a model call that fails before its first output, at least 1. */
  readonly tries: number
  /** Waits between tries; rejects when aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly context: FailureContext
  /** Tokens of prompt and answer together as the server has said. Default: it has not. */
  readonly window?: () => number | undefined
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

/** State of one attempt when it fails. */
export interface AttemptState {
  hasOutput: boolean
}

const failedEnds = new Set<string>(['error', 'interrupted'])
// A model that has written so much will not call a tool any more.
const enoughProse = 160
const unknownUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

// Models whose text was seen to begin inside of a thought, with how many texts in a row may not before that is
// forgotten: an end tag that somebody had a model write proves nothing for long.
const beginInThought = new Map<string, number>()
const trustedTexts = 3

/** Passes the output of one attempt on to the listener and keeps what later steps need. */
export class StepOutput implements StreamListener {
  readonly #request: StepRequest
  readonly #attemptState: AttemptState
  readonly #names: ReadonlySet<string>
  /** Removes reasoning and tool calls from the text; undefined for plain text. */
  readonly #filter: TextFilter | undefined
  /** Calls whose text arguments are passed on while they are written, by id. */
  readonly #streams = new Map<string, { readonly name: string; readonly stream: ArgumentStream }>()
  /** Text and reasoning as the stream cut them, by kind and id, in order of appearance. */
  readonly #blocks = new Map<string, WrittenPart>()
  readonly #calls: RequestedCall[] = []
  #finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined
  #reasoning = ''
  /** All text as the model wrote it, and what of it belongs to the answer. */
  #written = ''
  #text = ''
  #heldText = ''
  #mayPass: boolean
  /** Text that waits to be read; undefined until a long one came. */
  long: LongDeltas | undefined

  constructor(request: StepRequest, attemptState: AttemptState) {
    this.#request = request
    this.#attemptState = attemptState
    this.#names = new Set(request.options.tools?.map(({ name }) => name))
    this.#filter = request.isPlainText ? undefined : createFilter(request, this.#names)
    this.#mayPass = request.forced === undefined && !request.probesTools && !request.ifWordless
  }

  onText = (delta: string, isPart = false): void => {
    if (delta === '') return
    this.#attemptState.hasOutput = true
    if (!isPart && (delta.length > longDelta || this.long?.done)) return this.#readLater({ kind: 'text', text: delta })
    this.#written += delta
    if (this.#filter) this.#takePieces(this.#filter.thinking.push(delta), this.#filter)
    else this.#pass(delta)
  }

  onReasoning = (delta: string, isPart = false): void => {
    if (delta !== '') this.#attemptState.hasOutput = true
    if (!isPart && this.long?.done) return this.#readLater({ kind: 'reasoning', text: delta })
    this.#reasoning += delta
    this.#request.listener.onReasoning(delta)
  }

  #readLater(delta: ThinkPiece): void {
    const read = ({ kind, text }: ThinkPiece): void => (kind === 'text' ? this.onText : this.onReasoning)(text, true)
    this.long ??= createLongDeltas(read, () => this.isProse || this.#request.signal.aborted)
    this.long.add(delta)
  }

  /** @param state whether the tap has passed the deltas on already */
  onPart(part: LanguageModelV4StreamPart, state: 'new' | 'tapped'): void {
    this.#keep(part)
    if (part.type === 'text-delta' && state === 'new') this.onText(part.delta)
    else if (part.type === 'reasoning-delta' && state === 'new') this.onReasoning(part.delta)
    else if (part.type === 'tool-input-start') {
      this.#onCall(part.toolName)
      const names = this.#request.streamed?.get(part.toolName)
      if (names) this.#streams.set(part.id, { name: part.toolName, stream: createArgumentStream(names) })
    } else if (part.type === 'tool-input-delta') {
      const call = this.#streams.get(part.id)
      const deltas = call?.stream.push(part.delta)
      if (call && deltas) this.#request.listener.onArguments(call.name, deltas)
    } else if (part.type === 'tool-call') {
      this.#onCall(part.toolName)
      const { toolCallId: id, toolName: given, input, providerMetadata: providerOptions } = part
      const name = this.#names.has(given) ? given : plainToolName(given)
      this.#calls.push({ id, name, input, ...(providerOptions && { providerOptions }) })
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') this.#finish = part
  }

  /** Called when a probed model writes an answer instead of a call. */
  onProse: () => void = () => {}
  isProse = false

  /** Throws when the step gave nothing or broke off. */
  end(): StepResult {
    if (this.isProse) return this.#withoutCalls()
    const { mayRecover, options, forced, context } = this.#request
    const inText = this.#filter ? this.#endText(this.#filter) : []
    if (this.#filter) this.#noteBeginning(this.#filter)
    const isOnlyReasoning =
      mayRecover && inText.length === 0 && this.#text.trim() === '' && this.#reasoning.trim() !== ''
    const candidates = isOnlyReasoning ? readTextCalls(this.#reasoning, this.#names) : []
    const inReasoning = candidates.filter(({ input }) => input === '{}' || !this.#filter?.isQuoted(input))
    const textCalls = this.#calls.length > 0 ? [] : [...inText, ...inReasoning]
    // A forced step without output is asked again, like one that gave only text.
    const mayBeEmpty = forced !== undefined || this.#request.probesTools === true
    const saidAnything = this.#text.trim() !== '' || this.#calls.length + textCalls.length > 0 || mayBeEmpty
    const finish = this.#finish
    if (!finish || !saidAnything || failedEnds.has(finish.finishReason.unified)) {
      const toolChoice = options.toolChoice?.type ?? 'auto'
      throw asError(stepFailure({ finishReason: finish?.finishReason, saidAnything, toolChoice }, context))
    }
    return {
      content: this.#contentParts(),
      calls: textCalls.length > 0 ? textCalls : this.#calls,
      wasRecovered: textCalls.length > 0,
      finishReason: finish.finishReason,
      usage: finish.usage,
    }
  }

  #withoutCalls(): StepResult {
    return {
      content: this.#contentParts(),
      calls: [],
      wasRecovered: false,
      finishReason: { unified: 'stop', raw: undefined },
      usage: this.#finish?.usage ?? unknownUsage,
    }
  }

  #takePieces(pieces: readonly ThinkPiece[], { gate }: TextFilter): void {
    for (const { kind, text } of pieces) {
      if (kind === 'reasoning') this.onReasoning(text, true)
      else this.#pass(gate.push(text))
    }
  }

  #endText(filter: TextFilter): readonly RequestedCall[] {
    this.#takePieces(filter.thinking.end(), filter)
    const { text, calls } = filter.gate.end()
    this.#pass(text)
    return calls
  }

  #noteBeginning({ thinking }: TextFilter): void {
    const key = modelKey(this.#request)
    const left = beginInThought.get(key)
    if (thinking.beganInThought) {
      if (left !== undefined || beginInThought.size < 1_000) beginInThought.set(key, trustedTexts)
    } else if (left !== undefined && this.#written.trim() !== '') {
      if (left > 1) beginInThought.set(key, left - 1)
      else beginInThought.delete(key)
    }
  }

  #pass(delta: string): void {
    this.#text += delta
    if (!this.#mayPass) {
      this.#heldText += delta
      this.#mayPass = this.#request.ifWordless !== undefined && hasWord(this.#heldText)
      if (this.#mayPass) this.#request.listener.onText(this.#heldText)
      this.isProse = this.#request.probesTools === true && this.#heldText.length > enoughProse
      if (this.isProse) this.onProse()
    } else if (delta !== '') this.#request.listener.onText(delta)
  }

  #onCall(name: string): void {
    const { listener, forced } = this.#request
    this.#attemptState.hasOutput = true
    if (!this.#mayPass && (this.#request.probesTools || forced?.includes(name))) {
      this.#mayPass = true
      if (this.#heldText !== '') listener.onText(this.#heldText)
    }
    if (this.#filter) this.#endText(this.#filter)
    listener.onCall()
  }

  #keep(part: LanguageModelV4StreamPart): void {
    if (!('id' in part) || part.id === undefined) return
    const type = part.type.startsWith('text-') ? 'text' : part.type.startsWith('reasoning-') ? 'reasoning' : undefined
    if (!type) return
    const key = `${type} ${part.id}`
    const block: WrittenPart = this.#blocks.get(key) ?? { type, text: '' }
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') block.text += part.delta
    const metadata = 'providerMetadata' in part ? part.providerMetadata : undefined
    if (metadata) block.providerOptions = { ...block.providerOptions, ...metadata }
    this.#blocks.set(key, block)
  }

  /**
   * The parts as the model reads them later: without thoughts between tags and without calls in its text. Reasoning keeps
   * the signature that some providers ask back for.
   */
  #contentParts(): WrittenPart[] {
    const blocks = [...this.#blocks.values()]
    const parts = blocks.filter(({ text, providerOptions }) => text.trim() !== '' || providerOptions !== undefined)
    if (this.#text === this.#written) return parts
    const others = parts.filter(({ type }) => type !== 'text')
    return this.#text.trim() === '' ? others : [...others, { type: 'text', text: this.#text }]
  }
}

interface TextFilter {
  readonly thinking: ThinkSplitter
  readonly gate: TextGate
  readonly isQuoted: (text: string) => boolean
}

function createFilter(request: StepRequest, names: ReadonlySet<string>): TextFilter {
  const isQuoted = createQuoteCheck(request.options.prompt)
  return {
    thinking: new ThinkSplitter(beginInThought.has(modelKey(request))),
    gate: new TextGate({ names, mayRecover: request.mayRecover, isQuoted }),
    isQuoted,
  }
}

const modelKey = ({ context }: StepRequest): string => `${context.provider ?? ''} ${context.model ?? ''}`

function asError(failure: Failure | undefined): InlayError {
  if (!failure) return new InlayError('EMPTY_LLM_RESPONSE')
  const { code, message, retryable, details } = failure
  return new InlayError(code, { message, retryable, data: { details } })
}
