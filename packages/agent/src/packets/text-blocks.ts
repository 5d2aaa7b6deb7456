import type { PacketBody, PacketOf } from '@inlay/protocol'
import type { CitationPiece } from '../citations/output.ts'

/** Writes the text of each step as message packets. */
export interface MessageBlock {
  add(pieces: readonly CitationPiece[]): void
  hasBegun(): boolean
  /** Text of this step. */
  text(): string
  /** Text of the last step that had any. */
  answer(): string
  /** Begins the next step. */
  reset(): void
}

/** @param begin called before the first text of a step; returns the packet that announces it */
export function createMessageBlock(
  emit: (packet: PacketBody) => void,
  begin: () => PacketOf<'message_start'>,
): MessageBlock {
  let isBegun = false
  let text = ''
  let answer = ''
  // A message does not begin with whitespace alone: providers send line breaks before calls.
  let blank = ''

  const write = (content: string): void => {
    if (!isBegun) {
      isBegun = true
      answer = ''
      emit(begin())
    }
    if (content === '') return
    text += content
    answer += content
    emit({ type: 'message_delta', content })
  }
  return {
    add: (pieces) => {
      for (const piece of pieces) {
        const content = piece.type === 'text' ? blank + piece.content : blank
        blank = ''
        if (piece.type === 'citation') {
          write(content)
          emit({ type: 'citation_info', citation_number: piece.number, document_id: piece.documentId })
        } else if (isBegun || content.trim() !== '') write(content)
        else blank = content
      }
    },
    hasBegun: () => isBegun,
    text: () => text,
    answer: () => answer,
    reset: () => {
      isBegun = false
      text = ''
      blank = ''
    },
  }
}

/** Writes the reasoning of each step as one block of packets, at the beginning of the step or not at all. */
export interface ReasoningBlock {
  add(delta: string): void
  /** Ends the block; true when one was open. */
  close(): boolean
  /** No block may begin in this step any more. */
  bar(): void
  /** All reasoning of the step so far; "" when there is none. */
  text(): string
  /** Begins the next step. */
  reset(): void
}

/** Creates the reasoning block of an answer; call `reset` before each step. */
export function createReasoningBlock(emit: (packet: PacketBody) => void): ReasoningBlock {
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
      if (phase === 'none') emit({ type: 'reasoning_start' })
      phase = 'open'
      text += more
      emit({ type: 'reasoning_delta', reasoning: more })
    },
    close: () => {
      if (phase !== 'open') return false
      emit({ type: 'reasoning_done' })
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
