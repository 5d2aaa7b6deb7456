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

/** Receives one model step and writes its packets. */
export interface StepPackets {
  readonly listener: StepListener
  /** Closes open blocks. */
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
export interface Branch {
  readonly emit: EmitAt
  openThoughts(place: AnswerPlace): ThoughtPackets
  /**
   * Opens a step that writes text, possibly after reasoning.
   * @param onText called with each piece of text, after reasoning was closed
   * @param onReasoned called once when reasoning came first
   */
  openText(place: AnswerPlace, onText: (text: string) => void, onReasoned?: () => void): StepPackets
  /** Registers a function to call when the branch is closed early; the returned function unregisters it. */
  onClose(close: () => void): () => void
  /** Closes everything that is open, newest first. */
  close(): void
}

export function createBranch(emit: EmitAt): Branch {
  const closers = new Set<() => void>()
  let isClosed = false
  const emitOpen: EmitAt = (place, packet) => (isClosed ? undefined : emit(place, packet))
  const onClose: Branch['onClose'] = (close) => {
    const closer = (): void => close()
    closers.add(closer)
    return () => void closers.delete(closer)
  }
  return {
    emit: emitOpen,
    onClose,
    openThoughts: (place) => createThoughtPackets((packet) => emitOpen(place, packet), onClose),
    openText: (place, onText, onReasoned) => {
      const blocks = new StepBlocks((packet) => emitOpen(place, packet), onReasoned && { onReasoned })
      const close = (): void => blocks.closeReasoning()
      const forget = onClose(close)
      return {
        listener: {
          onReasoning: (delta) => blocks.addReasoning(delta),
          onText: (delta) => {
            if (delta.trim() !== '') close()
            onText(delta)
          },
          onCall: () => {},
          onArguments: () => {},
        },
        end: () => {
          forget()
          close()
        },
      }
    },
    close: () => {
      for (const close of [...closers].toReversed()) close()
      closers.clear()
      isClosed = true
    },
  }
}

function createThoughtPackets(emit: (packet: PacketBody) => void, onClose: Branch['onClose']): ThoughtPackets {
  const blocks = new StepBlocks(emit)
  const forget = onClose(() => blocks.closeReasoning())
  let last: 'reasoning' | 'text' | 'tool' | undefined
  let usedTool = false
  const add = (kind: 'reasoning' | 'text' | 'tool', delta: string): void => {
    if (delta.trim() !== '') {
      if (last !== undefined && last !== kind) blocks.addReasoning('\n\n')
      last = kind
    }
    blocks.addReasoning(delta)
  }
  return {
    listener: {
      onReasoning: (delta) => add('reasoning', delta),
      onText: (delta) => add('text', delta),
      onCall: () => {},
      onArguments: (_name, deltas) => {
        usedTool = true
        add('tool', Object.values(deltas).join(''))
      },
    },
    text: () => blocks.reasoning,
    usedTool: () => usedTool,
    end: () => {
      forget()
      blocks.closeReasoning()
    },
  }
}
