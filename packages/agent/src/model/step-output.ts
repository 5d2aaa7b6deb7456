import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { InlayError, storable } from '@inlay/protocol'
import type { StreamListener, TappedModel } from '../contracts/model.ts'
import { createArgumentStream, type ArgumentStream } from './argument-stream.ts'
import type { RequestedCall, WrittenPart } from '../prompt/model-steps.ts'
import { stepFailure, type Failure, type FailureContext } from './failures.ts'

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
  /** Maximum tokens of the prompt. */
  readonly promptTokens: number
  /** Follows the prompt and is never left out. */
  readonly reminder?: readonly LanguageModelV4Message[]
  /** Tools of which this step has to call one; text is held back until it does. Default: none. */
  readonly forced?: readonly string[] | undefined
  /** Whether a step that was cut may be empty: its reader sees why it ended. Default: it fails. */
  readonly mayBeCut?: boolean
  /** Text arguments that the listener gets while they are written, by name of the tool. Default: none. */
  readonly streamed?: ReadonlyMap<string, readonly string[]>
  /** Attempts of a model call that fails before its first output, at least 1. */
  readonly maxAttempts: number
  /** Waits between attempts; rejects when aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly context: FailureContext
  /** Context window in tokens, as the server stated it. Default: unknown. */
  readonly window?: () => number | undefined
}

export interface StepResult {
  /** Text and reasoning as the model reads them later. */
  readonly content: readonly WrittenPart[]
  readonly calls: readonly RequestedCall[]
  readonly finishReason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
}

export interface AttemptState {
  hasOutput: boolean
}

const cutEnds = new Set<string>(['length', 'content-filter'])

/** Passes the output of one attempt on to the listener and keeps what later steps need. */
export class StepOutput implements StreamListener {
  readonly #request: StepRequest
  readonly #attemptState: AttemptState
  /** Calls whose text arguments are passed on while they are written, by id. */
  readonly #streams = new Map<string, { readonly name: string; readonly stream: ArgumentStream }>()
  /** Text and reasoning as the stream cut them, by kind and id, in order of appearance. */
  readonly #blocks = new Map<string, WrittenPart>()
  readonly #calls: RequestedCall[] = []
  #finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined
  /** Text that is held back. */
  #text = ''
  #hasText = false
  /** Tools that show the held text once one of them is called; undefined once text may pass. */
  #awaited: readonly string[] | undefined
  readonly #textPairs = new SurrogatePairs()
  readonly #reasoningPairs = new SurrogatePairs()

  constructor(request: StepRequest, attemptState: AttemptState) {
    this.#request = request
    this.#attemptState = attemptState
    // A step that calls none of them is asked again.
    this.#awaited = request.forced
  }

  onText = (part: string): void => {
    const delta = this.#textPairs.push(part)
    if (delta === '') return
    this.#attemptState.hasOutput = true
    this.#hasText ||= delta.trim() !== ''
    if (this.#awaited) this.#text += delta
    else this.#request.listener.onText(delta)
  }

  onReasoning = (part: string): void => {
    const delta = this.#reasoningPairs.push(part)
    if (delta !== '') this.#attemptState.hasOutput = true
    this.#request.listener.onReasoning(delta)
  }

  /** @param state whether the tap has passed the deltas on already */
  onPart(part: LanguageModelV4StreamPart, state: 'new' | 'tapped'): void {
    this.#keep(part)
    if (part.type === 'text-delta' && state === 'new') this.onText(part.delta)
    else if (part.type === 'reasoning-delta' && state === 'new') this.onReasoning(part.delta)
    else if (part.type === 'tool-input-start') {
      if (this.#awaited?.includes(part.toolName)) this.#showHeld()
      this.#onCall()
      const names = this.#request.streamed?.get(part.toolName)
      if (names) this.#streams.set(part.id, { name: part.toolName, stream: createArgumentStream(names) })
    } else if (part.type === 'tool-input-delta') {
      const call = this.#streams.get(part.id)
      const deltas = call?.stream.push(part.delta)
      if (call && deltas) this.#request.listener.onArguments(call.name, deltas)
    } else if (part.type === 'tool-call') {
      this.#onCall()
      const { toolCallId: id, toolName: name, input, providerMetadata: providerOptions } = part
      this.#calls.push({ id, name, input, ...(providerOptions && { providerOptions }) })
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') this.#finish = part
  }

  /** Throws when the step is empty or broke off. */
  end(): StepResult {
    const finish = this.#finish
    const content = this.#content()
    const { options, forced, context, mayBeCut } = this.#request
    const isCut = mayBeCut && cutEnds.has(finish?.finishReason.unified ?? '')
    // A forced step without output is asked again, like one that gave only text.
    const saidAnything = this.#hasText || this.#calls.length > 0 || forced !== undefined || isCut === true
    const toolChoice = options.toolChoice?.type ?? 'auto'
    const failure = stepFailure({ finishReason: finish?.finishReason, saidAnything, toolChoice }, context)
    if (failure) throw asError(failure)
    // A step without a finish failed above.
    return { content, calls: this.#calls, finishReason: finish!.finishReason, usage: finish!.usage }
  }

  #onCall(): void {
    this.#attemptState.hasOutput = true
    this.#request.listener.onCall()
  }

  #showHeld(): void {
    this.#awaited = undefined
    if (this.#text !== '') this.#request.listener.onText(this.#text)
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

  /** The parts as the model reads them later. Reasoning keeps the signature that some providers ask back for. */
  #content(): WrittenPart[] {
    const blocks = [...this.#blocks.values()].map((block) => ({ ...block, text: storable(block.text) }))
    return blocks.filter(({ text, providerOptions }) => text.trim() !== '' || providerOptions !== undefined)
  }
}

/** Joins surrogate pairs that a model's tokens split, and drops halves without the other: JSON readers refuse them. */
class SurrogatePairs {
  #half = ''

  push(delta: string): string {
    if (this.#half === '' && delta.isWellFormed()) return delta
    const text = this.#half + delta
    const isOpen = /[\ud800-\udbff]$/.test(text)
    this.#half = isOpen ? text.slice(-1) : ''
    return storable(isOpen ? text.slice(0, -1) : text)
  }
}

function asError({ code, message, retryable, details }: Failure): InlayError {
  return new InlayError(code, { message, retryable, data: { details } })
}
