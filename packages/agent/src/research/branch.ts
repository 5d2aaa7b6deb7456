import type { PacketBody } from '@inlay/protocol'
import type { StepListener } from '../model/step.ts'
import { createReasoningBlock } from '../packets/reasoning-block.ts'

/** Where something stands in an answer; `sub` is null but for the steps of an agent. */
export interface Place {
  readonly turn: number
  readonly tab: number
  readonly sub: number | null
}

/** Sends a packet at a place of the answer. */
export type SendAt = (place: Place, packet: PacketBody) => void

/** Hears one step of a model. */
export interface Hearing {
  readonly listener: StepListener
  /** Ends what is open. */
  end(): void
}

/** Hears a step whose words all are thoughts: reasoning, text, and what is given to the tool to think with. */
export interface Thinking extends Hearing {
  /** All that was thought; "" when nothing was. */
  text(): string
  /** Whether the tool to think with has been heard. */
  heardTool(): boolean
}

/** A part of a research that is told by itself, such as an agent. Once it is closed it is silent. */
export interface Branch {
  readonly send: SendAt
  think(place: Place): Thinking
  /**
   * Hears a step that writes something, after thinking if it thinks.
   * @param told gets every piece of text, after reasoning has been closed
   * @param reasoned called once when reasoning came first
   */
  write(place: Place, told: (text: string) => void, reasoned?: () => void): Hearing
  /** Has something done when the branch is closed early; the function given back takes that back. */
  whenClosed(close: () => void): () => void
  /** Ends all that is open, the newest first. */
  close(): void
}

/** Makes a branch that tells through `send`. */
export function createBranch(send: SendAt): Branch {
  const closers = new Set<() => void>()
  let isClosed = false
  const sendOpen: SendAt = (place, packet) => (isClosed ? undefined : send(place, packet))
  const whenClosed: Branch['whenClosed'] = (close) => {
    const closer = (): void => close()
    closers.add(closer)
    return () => void closers.delete(closer)
  }
  return {
    send: sendOpen,
    whenClosed,
    think: (place) => createThinking((packet) => sendOpen(place, packet), whenClosed),
    write: (place, told, reasoned = () => {}) => {
      const block = createReasoningBlock((packet) => sendOpen(place, packet))
      const close = (): void => void (block.close() && reasoned())
      const forget = whenClosed(close)
      return {
        listener: {
          reason: block.add,
          say: (delta) => {
            if (delta.trim() !== '') close()
            told(delta)
          },
          hearCall: () => {},
          hearArguments: () => {},
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

function createThinking(send: (packet: PacketBody) => void, whenClosed: Branch['whenClosed']): Thinking {
  const block = createReasoningBlock(send)
  const forget = whenClosed(() => block.close())
  let last: 'reason' | 'say' | 'tool' | undefined
  const add = (kind: 'reason' | 'say' | 'tool', delta: string): void => {
    if (delta.trim() !== '') {
      if (last !== undefined && last !== kind) block.add('\n\n')
      last = kind
    }
    block.add(delta)
  }
  let isTool = false
  return {
    listener: {
      reason: (delta) => add('reason', delta),
      say: (delta) => add('say', delta),
      hearCall: () => {},
      hearArguments: (_name, deltas) => {
        isTool = true
        add('tool', Object.values(deltas).join(''))
      },
    },
    text: block.text,
    heardTool: () => isTool,
    end: () => {
      forget()
      block.close()
    },
  }
}
