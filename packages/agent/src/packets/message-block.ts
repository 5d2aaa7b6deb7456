import type { PacketBody, PacketOf } from '@inlay/protocol'
import type { CitationPiece } from '../citations/citation-filter.ts'

/** The text of one step. */
export interface MessageBlock {
  say(pieces: readonly CitationPiece[]): void
  hasBegun(): boolean
  /** Text of this step. */
  text(): string
  /** Text of the last step that said something. */
  answer(): string
  /** Begins the next step. */
  reset(): void
}

/**
 * Makes the text block of a narrator; `reset` it for each step.
 * @param begin called before the first text of a step; gives the packet that announces it
 */
export function createMessageBlock(
  send: (packet: PacketBody) => void,
  begin: () => PacketOf<'message_start'>,
): MessageBlock {
  let isBegun = false
  let text = ''
  let answer = ''
  // A message does not begin with nothing to read: providers send line breaks before calls.
  let blank = ''

  const tell = (content: string): void => {
    if (!isBegun) {
      isBegun = true
      answer = ''
      send(begin())
    }
    if (content === '') return
    text += content
    answer += content
    send({ type: 'message_delta', content })
  }
  return {
    say: (pieces) => {
      for (const piece of pieces) {
        const content = piece.type === 'text' ? blank + piece.content : blank
        blank = ''
        if (piece.type === 'citation') {
          tell(content)
          send({ type: 'citation_info', citation_number: piece.number, document_id: piece.documentId })
        } else if (isBegun || content.trim() !== '') tell(content)
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
