import { isCiting } from '../citations/citing-actions.ts'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError, type PacketBody } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { Responder, ResponderPart, ResponderTool, ResponderTurn } from '../contracts/responder.ts'
import { addUsage } from '../model/tool-loop.ts'
import { createCallIds } from '../prompt/model-steps.ts'
import { yieldToEventLoop } from '@inlay/scheduling'
import type { CallWriter, PacketWriter } from '../packet-writer.ts'
import { citing, distrusting } from './turn-prompt.ts'
import { runCall, type AnswerProgress, type CallSetting } from '../tool-calls/run-tool-calls.ts'
import { toFunctionTools } from '../tool-calls/call-plan.ts'
import { createResponderCall, type ResponderCall } from './responder-calls.ts'

export interface RespondOptions {
  readonly responder: Responder
  /** System message, earlier messages and the newest user message, oldest first. */
  readonly prompt: LanguageModelV4Prompt
  readonly actions: readonly Action[]
  readonly includeCitations: boolean
  readonly writer: PacketWriter
  readonly setting: CallSetting
  readonly resultTokens: number
}

/** Lets a responder answer one message, and turns its events into packets. Throws its failure. */
export async function respond(options: RespondOptions, progress: AnswerProgress): Promise<void> {
  const { responder, prompt, actions, writer, setting, includeCitations } = options
  const canCite = includeCitations && actions.some(isCiting)
  const steps = new ResponderSteps(options, progress)
  const turn: ResponderTurn = {
    caller: setting.turn.caller,
    sessionId: setting.turn.sessionId,
    messageId: setting.turn.messageId,
    prompt: prompt.filter(({ role }) => role !== 'system'),
    tools: toFunctionTools(actions).map(({ name, description = '', inputSchema }, index): ResponderTool => ({
      name,
      description,
      inputSchema: { ...inputSchema },
      run: async (callId, input) => {
        const action = actions[index]
        return action ? steps.runAction(action, callId, input) : ''
      },
    })),
    citing: canCite ? `${citing}\n\n${distrusting}` : undefined,
    signal: setting.signal,
  }
  writer.beginStep()
  for await (const part of responder.respond(turn)) {
    setting.signal.throwIfAborted()
    steps.onPart(part)
  }
  steps.end()
  if (writer.snapshot().text.trim() === '') throw new InlayError('EMPTY_LLM_RESPONSE')
}

/** A call that waits for its place in the answer. */
interface PendingCall {
  readonly start: PacketBody | undefined
  readonly open: (writer: CallWriter) => void
}

type CallPart = Extract<ResponderPart, { type: 'call' }>

/** A step has reasoning, text, then calls: text that follows calls begins a new one. */
class ResponderSteps {
  readonly #options: RespondOptions
  readonly #progress: AnswerProgress
  readonly #withIds = createCallIds()
  readonly #calls = new Map<string, ResponderCall>()
  #pending: PendingCall[] = []
  /** Number of calls of this step with a place. */
  #placed = 0
  #runningActions = 0
  #hasOutput = false
  /** Output that waits until the calls of this step have ended. */
  #held: (() => void)[] = []

  constructor(options: RespondOptions, progress: AnswerProgress) {
    this.#options = options
    this.#progress = progress
  }

  onPart(part: ResponderPart): void {
    const { writer } = this.#options
    if (part.type === 'usage') this.#progress.usage = addUsage(this.#progress.usage, toModelUsage(part))
    else if (part.type === 'step') this.#write(() => this.#beginStep())
    else if (part.parentId !== undefined) this.#calls.get(part.parentId)?.onPart(part)
    else if ('delta' in part) {
      this.#write(() =>
        this.#output(() => (part.type === 'text' ? writer.onText(part.delta) : writer.onReasoning(part.delta))),
      )
    } else if (part.type === 'call') this.#onCall(part)
    else {
      this.#openPending()
      this.#calls.get(part.callId)?.onPart(part)
      this.#release()
    }
  }

  async runAction(action: Action, callId: string, input: unknown): Promise<string> {
    const { setting, writer, resultTokens } = this.#options
    this.#runningActions++
    try {
      const opened = await new Promise<CallWriter>((open) => this.#add({ start: action.start?.(), open }))
      const range = writer.citable.openStep()(0)
      const id = this.#uniqueId(callId)
      const record = await runCall({ id, action, position: 0, input, writer: opened, range, resultTokens }, setting)
      this.#progress.calls.push(record)
      return record.result
    } finally {
      this.#runningActions--
      this.#release()
    }
  }

  end(): void {
    this.#openPending()
    for (const output of this.#held.splice(0)) output()
    if (this.#placed === 0) this.#options.writer.endStep()
  }

  #uniqueId(id: string): string {
    return this.#withIds([{ id, name: '', input: '' }])[0]?.id ?? id
  }

  #onCall(part: CallPart): void {
    const { actions, setting } = this.#options
    // Inlay's own actions are announced when they run.
    if (actions.some(({ name }) => name === part.name) || this.#calls.has(part.callId)) return
    const call = createResponderCall({
      id: this.#uniqueId(part.callId),
      call: part,
      setting,
      progress: this.#progress,
      uniqueId: (id) => this.#uniqueId(id),
    })
    this.#calls.set(part.callId, call)
    this.#add(call)
  }

  #add(call: PendingCall): void {
    this.#pending.push(call)
    // Calls of one step arrive together, so all of them are known by then.
    if (this.#pending.length === 1) void yieldToEventLoop().then(() => this.#openPending())
  }

  #openPending(): void {
    const opening = this.#pending.splice(0)
    if (opening.length === 0) return
    const { writer } = this.#options
    const isFirst = this.#placed === 0
    if (isFirst) {
      writer.onCall()
      writer.endStep()
    }
    const starts = opening.map(({ start }, index) => ({ position: this.#placed + index, start }))
    // Later calls of the step are placed behind the others, without another announcement.
    const writers = writer.openCalls(isFirst ? opening.length : 1, starts)
    this.#placed += opening.length
    for (const [index, call] of opening.entries()) {
      const callWriter = writers[index]
      if (callWriter) call.open(callWriter)
    }
  }

  #isBusy(): boolean {
    const isOpen = ({ hasEnded }: ResponderCall): boolean => !hasEnded
    return this.#pending.length > 0 || this.#runningActions > 0 || [...this.#calls.values()].some(isOpen)
  }

  #beginStep(): void {
    if (!this.#hasOutput && this.#placed === 0) return
    const { writer } = this.#options
    if (this.#placed === 0) writer.endStep()
    writer.beginStep()
    this.#calls.clear()
    this.#placed = 0
    this.#hasOutput = false
  }

  #output(write: () => void): void {
    if (this.#placed > 0) this.#beginStep()
    this.#hasOutput = true
    write()
  }

  #write(output: () => void): void {
    if (this.#held.length > 0 || this.#isBusy()) this.#held.push(output)
    else output()
  }

  #release(): void {
    if (this.#isBusy()) return
    for (const output of this.#held.splice(0)) output()
  }
}

function toModelUsage(part: Extract<ResponderPart, { type: 'usage' }>): Parameters<typeof addUsage>[1] {
  const known = (tokens: number | null): number | undefined => tokens ?? undefined
  return {
    inputTokens: {
      total: known(part.inputTokens),
      noCache: undefined,
      cacheRead: known(part.cachedInputTokens),
      cacheWrite: undefined,
    },
    outputTokens: { total: known(part.outputTokens), text: undefined, reasoning: known(part.reasoningTokens) },
  }
}
