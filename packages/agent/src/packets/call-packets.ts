import { InlayError } from '@inlay/protocol'
import type { PacketBody, PacketType, SearchDoc } from '@inlay/protocol'

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
