import type { PacketBody } from '@inlay/protocol'
import type { StepListener } from '../model/step-output.ts'
import { StepBlocks } from '../packet-writer.ts'

/** Placement of research packets in the answer; `sub` is null except for steps of an agent. */
export interface AnswerPlace {
  readonly turn: number
  readonly tab: number
  readonly sub: number | null
}

export type EmitAt = (place: AnswerPlace, packet: PacketBody) => void

export interface StepPackets {
  readonly listener: StepListener
  end(): void
}

/** Writes a step as one block of reasoning: its reasoning, its text and the arguments of the thinking tool. */
export interface ThoughtPackets extends StepPackets {
  /** "" when there was none. */
  text(): string
  /** Whether arguments of the thinking tool arrived. */
  usedTool(): boolean
}

/** Packets of one part of a research run, such as an agent. A closed branch emits nothing. */
export class Branch {
  readonly #emit: EmitAt
  readonly #closers = new Set<() => void>()
  #isClosed = false

  constructor(emit: EmitAt) {
    this.#emit = emit
  }

  emit(place: AnswerPlace, packet: PacketBody): void {
    if (!this.#isClosed) this.#emit(place, packet)
  }

  /** Registers a function to call when the branch is closed early; the returned function unregisters it. */
  onClose(close: () => void): () => void {
    const closer = (): void => close()
    this.#closers.add(closer)
    return () => void this.#closers.delete(closer)
  }

  /** Closes everything that is open, newest first. */
  close(): void {
    for (const close of [...this.#closers].toReversed()) close()
    this.#closers.clear()
    this.#isClosed = true
  }

  openThoughts(place: AnswerPlace): ThoughtPackets {
    const blocks = new StepBlocks((packet) => this.emit(place, packet))
    let last: 'reasoning' | 'text' | 'tool' | undefined
    let usedTool = false
    const add = (kind: 'reasoning' | 'text' | 'tool', delta: string): void => {
      if (delta.trim() !== '') {
        if (last !== undefined && last !== kind) blocks.addReasoning('\n\n')
        last = kind
      }
      blocks.addReasoning(delta)
    }
    const onArguments: StepListener['onArguments'] = (_name, deltas) => {
      usedTool = true
      add('tool', Object.values(deltas).join(''))
    }
    const listener = {
      onReasoning: (delta: string) => add('reasoning', delta),
      onText: (delta: string) => add('text', delta),
      onArguments,
    }
    const step = this.openStep(listener, () => blocks.closeReasoning())
    return { ...step, text: () => blocks.reasoning, usedTool: () => usedTool }
  }

  /**
   * @param onText called with each piece of text, after reasoning was closed
   * @param onReasoned called once when reasoning came first
   */
  openText(place: AnswerPlace, onText: (text: string) => void, onReasoned?: () => void): StepPackets {
    const blocks = new StepBlocks((packet) => this.emit(place, packet), { onReasoned })
    const close = (): void => blocks.closeReasoning()
    const listener = {
      onReasoning: (delta: string) => blocks.addReasoning(delta),
      onText: (delta: string) => {
        if (delta.trim() !== '') close()
        onText(delta)
      },
    }
    return this.openStep(listener, close)
  }

  /** @param close is called when the step ends, or with `true` when the branch is closed before */
  protected openStep(
    listener: Pick<StepListener, 'onReasoning' | 'onText'> & Partial<StepListener>,
    close: (isCut: boolean) => void,
  ): StepPackets {
    const forget = this.onClose(() => close(true))
    const end = (): void => {
      forget()
      close(false)
    }
    return { listener: { onCall: () => {}, onArguments: () => {}, ...listener }, end }
  }
}
