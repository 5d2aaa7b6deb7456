import type { PacketBody } from '@inlay/protocol'

/** The reasoning of one step: told as one block, at the beginning of the step or not at all. */
export interface ReasoningBlock {
  add(delta: string): void
  /** Ends the block; true when there was one to end. */
  close(): boolean
  /** Lets no block begin in this step any more. */
  bar(): void
  /** All of the step so far; "" when there is none. */
  text(): string
  /** Begins the next step. */
  reset(): void
}

/** Makes the block of a narrator; `reset` it for each step. */
export function createReasoningBlock(send: (packet: PacketBody) => void): ReasoningBlock {
  let phase: 'none' | 'open' | 'over' = 'none'
  let text = ''
  // Providers begin blocks that stay empty with a line break; such a block is none.
  let blank = ''
  return {
    add: (delta) => {
      if (phase === 'over') return
      const more = blank + delta
      blank = phase === 'none' && more.trim() === '' ? more : ''
      if (blank !== '' || more === '') return
      if (phase === 'none') send({ type: 'reasoning_start' })
      phase = 'open'
      text += more
      send({ type: 'reasoning_delta', reasoning: more })
    },
    close: () => {
      if (phase !== 'open') return false
      send({ type: 'reasoning_done' })
      phase = 'over'
      return true
    },
    bar: () => {
      phase = 'over'
    },
    text: () => text,
    reset: () => {
      phase = 'none'
      text = ''
      blank = ''
    },
  }
}
