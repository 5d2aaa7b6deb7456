import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { StreamListener } from '@inlay/agent'
import { readJson } from '@inlay/protocol'
import { GrowingText } from '@inlay/text'
import { TextGate } from './text-call-gate.ts'
import { createQuoteCheck, plainToolName, readTextCalls, withoutFence, type TextCall } from './text-call-formats.ts'
import { readLiteral } from './lenient-json.ts'
import { beganInThought, ThinkSplitter, type ThinkPiece } from './think-tags.ts'

/** Every think tag and call begins with one of these, at the start of a line, or at the start of the text. */
const signs = /[<[`~\n]/

/** What is learned of one model. */
export interface RepairState {
  /**
   * Answers without a tag that closes an unopened thought until it is forgotten that the model writes one: a user can make
   * any model write it. Absent: it does not.
   */
  answersUntilForgotten?: number
  /** Its server reads its calls: a call in its text is described, not made. */
  callsNatively?: boolean
}

const answersUntilForgotten = 3

/** Moves text between think tags to the reasoning, and removes calls. Where neither can begin, text passes at once. */
export class OutputRepair implements StreamListener {
  readonly #listener: StreamListener
  readonly #state: RepairState
  readonly #names: ReadonlySet<string>
  readonly #canCall: boolean
  readonly #isQuoted: (text: string) => boolean
  readonly #thoughts: ThinkSplitter
  readonly #gate: TextGate
  #reasoning = ''
  /** The text as the model wrote it. */
  readonly #written = new GrowingText()
  readonly #text = new GrowingText()

  /** @param state is updated by what the model writes */
  constructor(
    state: RepairState,
    { tools = [], toolChoice, prompt }: LanguageModelV4CallOptions,
    listener: StreamListener,
  ) {
    this.#listener = listener
    this.#state = state
    this.#names = new Set(tools.map(({ name }) => name))
    this.#canCall = tools.length > 0 && toolChoice?.type !== 'none' && state.callsNatively !== true
    this.#isQuoted = createQuoteCheck(prompt)
    this.#thoughts = new ThinkSplitter(state.answersUntilForgotten !== undefined)
    this.#gate = new TextGate({ names: this.#names, mayRecover: this.#canCall, isQuoted: this.#isQuoted })
  }

  /** The text without thoughts and calls; undefined if it is unchanged. */
  get changedText(): string | undefined {
    const text = this.#text.read()
    return text === this.#written.read() ? undefined : text
  }

  onText(delta: string): void {
    if (delta === '') return
    this.#written.add(delta)
    if (this.#thoughts.isPlain && this.#gate.isPlain && !signs.test(delta)) this.#show(delta)
    else this.#take(this.#thoughts.push(delta))
  }

  onReasoning(delta: string): void {
    this.noteReasoning(delta)
    this.#listener.onReasoning(delta)
  }

  /** Reads reasoning without passing it to the listener. */
  noteReasoning(delta: string): void {
    this.#reasoning += delta
  }

  /** Emits text that was held back because it could have become a tag or a call. @returns calls in the text */
  endText(): readonly TextCall[] {
    this.#take(this.#thoughts.end())
    const { text, calls } = this.#gate.end()
    this.#show(text)
    return calls
  }

  /** Ends the output. @returns calls written as text, or as the only content of the reasoning */
  end(): readonly TextCall[] {
    const calls = this.endText()
    this.#rememberBeginning()
    if (!this.#canCall || calls.length > 0 || this.#text.read().trim() !== '' || this.#reasoning.trim() === '')
      return calls
    const candidates = readTextCalls(this.#reasoning, this.#names)
    return candidates.filter(({ input }) => input === '{}' || !this.#isQuoted(input))
  }

  /** Notes that the model made a call by the API. */
  noteCall(): void {
    this.#state.callsNatively = true
  }

  /** The tool that a call means: its name without a namespace, unless a tool is named so. */
  toolName(name: string): string {
    return this.#names.has(name) ? name : plainToolName(name)
  }

  #take(pieces: readonly ThinkPiece[]): void {
    for (const { kind, text } of pieces) {
      if (kind === 'reasoning') this.onReasoning(text)
      else this.#show(this.#gate.push(text))
    }
  }

  #show(text: string): void {
    if (text === '') return
    this.#text.add(text)
    this.#listener.onText(text)
  }

  #rememberBeginning(): void {
    const state = this.#state
    const left = state.answersUntilForgotten
    const written = this.#written.read()
    if (beganInThought(written)) state.answersUntilForgotten = answersUntilForgotten
    else if (left !== undefined && written.trim() !== '') {
      if (left > 1) state.answersUntilForgotten = left - 1
      else delete state.answersUntilForgotten
    }
  }
}

/** Converts arguments to JSON from nearly valid forms: Python quotes, a code fence, an extra comma or bracket. */
export function repairArguments(input: string): string {
  if (readJson(input) !== undefined) return input
  const bare = withoutFence(input.trim())
  const literal = readLiteral(bare)
  const isWhole = typeof literal === 'object' && /^[\s{}[\]]*$/.test(bare.slice(literal.end))
  return isWhole ? JSON.stringify(literal.value) : input
}
