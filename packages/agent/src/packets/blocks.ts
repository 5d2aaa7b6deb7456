import { InlayError, type PacketBody, type PacketType, type SearchDoc, type PacketOf } from '@inlay/protocol'
import type { CitationPiece } from '../citations/citation-filter.ts'

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

/** Where a call stands in its answer. */
export interface CallPlace {
  /** The model step that asked for the call, from 0. */
  readonly step: number
  readonly turnIndex: number
  readonly tabIndex: number
  /** Reasoning of that step; null when there was none. */
  readonly reasoning: string | null
}

/** Sends the packets of one call. After `end` it sends nothing more. */
export interface CallWriter extends CallPlace {
  /** Throws UNSUPPORTED for packets that are not a call's to send, such as `stop`. */
  emit(packet: PacketBody): void
  /** Sends a packet of any type, for a sub-agent; `sub` is the place of its step, null for its own place. */
  emitNested(packet: PacketBody, sub: number | null): void
  /** Sends `section_end`; only the first time. The documents found join `final_documents` of the next text. */
  end(foundDocuments?: readonly SearchDoc[]): void
}

/** The step that calls belong to. */
export interface CallStep extends Omit<CallPlace, 'tabIndex'> {
  /** Tab of the call that was asked for first: 0, or 1 beside text. */
  readonly firstTab: number
}

/** Sends the packets of an answer's calls, step by step. */
export interface CallPackets {
  /** Announces calls of a step: the number of branches, then every start packet. Later calls of the step add to them. */
  open(
    step: CallStep,
    requested: number,
    calls: readonly { readonly position: number; readonly start: PacketBody | undefined }[],
  ): CallWriter[]
  /** Ends the calls of the step that have not ended. */
  endAll(): void
  /** Takes what the calls of the step found, in their order; the next step begins. */
  gather(): void
  /** Everything found so far; null while nothing searched. */
  documents(): readonly SearchDoc[] | null
}

const callPackets = /^(search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool|error$)/

/**
 * Creates the call packets of one answer.
 * @param contextDocuments documents the model has before any call; null when it has none
 */
export function createCallPackets(
  send: (turnIndex: number, tabIndex: number, packet: PacketBody, sub?: number | null) => void,
  contextDocuments: readonly SearchDoc[] | null = null,
): CallPackets {
  let documents = contextDocuments
  let writers: CallWriter[] = []
  let foundByCall: (readonly SearchDoc[] | undefined)[] = []

  const gather = (): void => {
    const searched = foundByCall.filter((list) => list !== undefined)
    if (searched.length > 0) documents = [...(documents ?? []), ...searched.flat()]
    foundByCall = []
    writers = []
  }
  const openWriter = ({ firstTab, ...place }: CallStep, position: number, index: number): CallWriter => {
    const tabIndex = firstTab + position
    let hasEnded = false
    return {
      ...place,
      tabIndex,
      emit: (packet) => {
        if (!callPackets.test(packet.type)) throw refused(packet.type)
        if (!hasEnded) send(place.turnIndex, tabIndex, packet)
      },
      emitNested: (packet, sub) => {
        if (!hasEnded) send(place.turnIndex, tabIndex, packet, sub)
      },
      end: (foundDocuments) => {
        if (hasEnded) return
        hasEnded = true
        foundByCall[index] = foundDocuments
        send(place.turnIndex, tabIndex, { type: 'section_end' })
      },
    }
  }
  return {
    open: (step, requested, calls) => {
      if (requested > 1) send(step.turnIndex, 0, { type: 'top_level_branching', num_parallel_branches: requested })
      const earlier = writers.length
      const opened = calls.map(({ position }, index) => openWriter(step, position, earlier + index))
      writers.push(...opened)
      for (const [index, { start }] of calls.entries()) if (start) opened[index]?.emitNested(start, null)
      return opened
    },
    endAll: () => {
      for (const writer of writers) writer.end()
      gather()
    },
    gather,
    documents: () => documents,
  }
}

function refused(type: PacketType): InlayError {
  return new InlayError('UNSUPPORTED', { message: `An action cannot send packets of type ${type}.` })
}
