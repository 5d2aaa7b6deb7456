import { InlayError, type PacketBody, type PacketOf, type SearchDoc } from '@inlay/protocol'
import type { CitationPiece } from '../citations/citation-filter.ts'

/**
 * Writes the reasoning and the text of one model step, each as one block of packets. Reasoning comes first or not at
 * all. No block begins with whitespace alone: providers begin empty thoughts and send line breaks before calls.
 */
export class StepBlocks {
  /** All reasoning of the step so far; "" when there is none. */
  reasoning = ''
  /** All text of the step so far. */
  text = ''
  /** Whether the text was announced. */
  hasText = false
  readonly #emit: (packet: PacketBody) => void
  readonly #announceText: (() => PacketOf<'message_start'>) | undefined
  #phase: 'none' | 'open' | 'over' = 'none'
  #blankReasoning = ''
  #blankText = ''

  /** @param announceText called before the first text; returns the packet that announces it. Absent: no text follows */
  constructor(emit: (packet: PacketBody) => void, announceText?: () => PacketOf<'message_start'>) {
    this.#emit = emit
    this.#announceText = announceText
  }

  addReasoning(delta: string): void {
    if (this.#phase === 'over' || this.hasText) return
    const more = this.#blankReasoning + delta
    this.#blankReasoning = this.#phase === 'none' && more.trim() === '' ? more : ''
    if (this.#blankReasoning !== '' || more === '') return
    if (this.#phase === 'none') this.#emit({ type: 'reasoning_start' })
    this.#phase = 'open'
    this.reasoning += more
    this.#emit({ type: 'reasoning_delta', reasoning: more })
  }

  /** Ends the reasoning; true when it was open. */
  closeReasoning(): boolean {
    if (this.#phase !== 'open') return false
    this.#emit({ type: 'reasoning_done' })
    this.#phase = 'over'
    return true
  }

  /** No reasoning may begin in this step any more. */
  barReasoning(): void {
    this.#phase = 'over'
  }

  addText(pieces: readonly CitationPiece[]): void {
    for (const piece of pieces) {
      const content = piece.type === 'text' ? this.#blankText + piece.content : this.#blankText
      const isBlank = piece.type === 'text' && !this.hasText && content.trim() === ''
      this.#blankText = isBlank ? content : ''
      if (isBlank) continue
      const start = this.hasText ? undefined : this.#announceText?.()
      this.hasText = true
      if (start) this.#emit(start)
      this.text += content
      if (content !== '') this.#emit({ type: 'message_delta', content })
      if (piece.type === 'text') continue
      this.#emit({ type: 'citation_info', citation_number: piece.number, document_id: piece.documentId })
    }
  }
}

/** Where a call stands in its answer. */
export interface CallPlace {
  /** The model step that asked for the call, from 0. */
  readonly step: number
  readonly turnIndex: number
  readonly tabIndex: number
  /** Reasoning of that step; null when there was none. */
  readonly reasoning: string | null
}

const callPackets = /^(search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool|error$)/

/** Sends the packets of one call. After `end` it sends nothing more. */
export class CallWriter {
  readonly place: CallPlace
  /** All documents the call found; undefined when it searched nothing, or still runs. */
  foundDocuments: readonly SearchDoc[] | undefined
  readonly #send: (packet: PacketBody, sub: number | null) => void
  #hasEnded = false

  constructor(place: CallPlace, send: (packet: PacketBody, sub: number | null) => void) {
    this.place = place
    this.#send = send
  }

  /** Throws UNSUPPORTED for packets that are not a call's to send, such as `stop`. */
  emit(packet: PacketBody): void {
    if (!callPackets.test(packet.type))
      throw new InlayError('UNSUPPORTED', { message: `An action cannot send packets of type ${packet.type}.` })
    this.emitNested(packet, null)
  }

  /** Sends a packet of any type, for a sub-agent; `sub` is the place of its step, null for the call's own place. */
  emitNested(packet: PacketBody, sub: number | null): void {
    if (!this.#hasEnded) this.#send(packet, sub)
  }

  /** Sends `section_end`; only the first time. The documents join `final_documents` of the next text. */
  end(foundDocuments?: readonly SearchDoc[]): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.foundDocuments = foundDocuments
    this.#send({ type: 'section_end' }, null)
  }
}
