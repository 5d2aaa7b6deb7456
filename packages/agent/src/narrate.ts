import { InlayError } from '@inlay/protocol'
import type { Packet, PacketBody, PacketType, SearchDoc } from '@inlay/protocol'
import { createCitableDocuments, type CitableDocuments } from './citable-documents.ts'
import { createCitations, type Citation, type CitationPiece } from './citations.ts'

/** What a narrator needs. */
export interface NarratorOptions {
  readonly emit: (packet: Packet) => void
  /** Position of the model among those that answer side by side. */
  readonly modelIndex: number
  /** False: markers are removed from the answer and no citation is told. */
  readonly includeCitations: boolean
  readonly now: () => number
  /** When the run began, in milliseconds since 1970 UTC. */
  readonly startedAt: number
}

/** Where a call stands in its answer. */
export interface CallPlace {
  /** The model step that asked for the call, from 0. */
  readonly step: number
  readonly turnIndex: number
  readonly tabIndex: number
  /** What the model thought in that step; null when it did not. */
  readonly reasoning: string | null
}

/** Tells clients of one call. After `end` it is silent. */
export interface CallVoice extends CallPlace {
  /** Throws UNSUPPORTED for packets that are not a call's to send, such as `stop`. */
  emit(packet: PacketBody): void
  /** Sends `section_end`; only the first time. The documents found join `final_documents` of the next text. */
  end(found?: readonly SearchDoc[]): void
}

/** What a step amounted to. */
export interface StepSummary {
  readonly text: string
  readonly reasoning: string
}

/** What is known of the answer at any moment. */
export interface AnswerSoFar {
  /** Text of the last step that said something, with its links. */
  readonly text: string
  /** Reasoning of the current step; null when there is none. */
  readonly reasoning: string | null
  /** Every document gathered; null while nothing searched. */
  readonly documents: readonly SearchDoc[] | null
  readonly citations: readonly Citation[]
}

/** Turns what a model says and what its calls do into packets, in the order that clients rely on. */
export interface Narrator {
  readonly citable: CitableDocuments
  /** Begins the next model step. */
  beginStep(): void
  /** Reasoning after the step's text or calls have begun belongs to no block and is not told. */
  reason(delta: string): void
  say(delta: string): void
  /** A call of the step has begun to arrive: the reasoning before it is over. */
  hearCall(): void
  /** Ends what the model says in this step; calls may follow. */
  endStep(): StepSummary
  /**
   * Announces the step's calls, all before any of them runs.
   * @param requested how many the model asked for, before merging
   * @param calls which position each has among those, and its start packet
   */
  openCalls(
    requested: number,
    calls: readonly { readonly position: number; readonly start: PacketBody | undefined }[],
  ): CallVoice[]
  /** Closes what is open and says no more. */
  close(): void
  /** Sends a packet at the place of the current block, also when closed. */
  tell(packet: PacketBody): void
  soFar(): AnswerSoFar
}

const callPackets = /^(search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool|error$)/

/** Makes the narrator of one answer. */
export function createNarrator(options: NarratorOptions): Narrator {
  const { emit, modelIndex, now, startedAt } = options
  const citable = createCitableDocuments()
  const citations = createCitations({ mode: options.includeCitations ? 'link' : 'remove', known: citable.known })
  let step = -1
  let reasonedSteps = 0
  let turn = 0
  let stepStartedAt = startedAt
  let reasoning = { text: '', phase: 'none' as 'none' | 'open' | 'closed', blank: '' }
  let message = { hasBegun: false, text: '', blank: '' }
  let hasCalls = false
  let answer = ''
  let documents: SearchDoc[] | null = null
  let found: (readonly SearchDoc[] | undefined)[] = []
  let voices: CallVoice[] = []
  let isClosed = false

  const send = (turnIndex: number, tabIndex: number, obj: PacketBody): void => {
    if (isClosed) return
    emit({
      placement: { turn_index: turnIndex, tab_index: tabIndex, sub_turn_index: null, model_index: modelIndex },
      obj,
    })
  }
  const closeReasoning = (): void => {
    if (reasoning.phase !== 'open') return
    send(turn, 0, { type: 'reasoning_done' })
    reasoning.phase = 'closed'
    reasonedSteps++
    turn++
  }
  const beginMessage = (): void => {
    closeReasoning()
    message.hasBegun = true
    answer = ''
    const seconds = (stepStartedAt - startedAt) / 1000
    send(turn, 0, { type: 'message_start', final_documents: documents, pre_answer_processing_seconds: seconds })
  }
  const speak = (pieces: readonly CitationPiece[]): void => {
    for (const piece of pieces) {
      const content = piece.type === 'text' ? message.blank + piece.content : message.blank
      // A message does not begin with nothing to read: providers send line breaks before calls.
      if (!message.hasBegun && piece.type === 'text' && content.trim() === '') {
        message.blank = content
        continue
      }
      message.blank = ''
      if (!message.hasBegun) beginMessage()
      if (content !== '') {
        message.text += content
        answer += content
        send(turn, 0, { type: 'message_delta', content })
      }
      if (piece.type === 'citation') {
        send(turn, 0, { type: 'citation_info', citation_number: piece.number, document_id: piece.documentId })
      }
    }
  }
  const gather = (): void => {
    const searched = found.filter((some) => some !== undefined)
    if (searched.length > 0) documents = [...(documents ?? []), ...searched.flat()]
    found = []
    voices = []
  }

  const openCall = (position: number, index: number): CallVoice => {
    const place = {
      step,
      turnIndex: turn,
      tabIndex: position + (message.hasBegun ? 1 : 0),
      reasoning: reasoning.text === '' ? null : reasoning.text,
    }
    let hasEnded = false
    return {
      ...place,
      emit: (packet) => {
        if (!callPackets.test(packet.type)) throw refused(packet.type)
        if (!hasEnded) send(place.turnIndex, place.tabIndex, packet)
      },
      end: (some) => {
        if (hasEnded) return
        hasEnded = true
        found[index] = some
        send(place.turnIndex, place.tabIndex, { type: 'section_end' })
      },
    }
  }

  return {
    citable,
    beginStep: () => {
      gather()
      step++
      turn = step + reasonedSteps
      stepStartedAt = now()
      reasoning = { text: '', phase: 'none', blank: '' }
      message = { hasBegun: false, text: '', blank: '' }
      hasCalls = false
    },
    reason: (delta) => {
      if (message.hasBegun || hasCalls || reasoning.phase === 'closed') return
      const text = reasoning.blank + delta
      reasoning.blank = reasoning.phase === 'none' && text.trim() === '' ? text : ''
      if (reasoning.blank !== '' || text === '') return
      if (reasoning.phase === 'none') {
        reasoning.phase = 'open'
        send(turn, 0, { type: 'reasoning_start' })
      }
      reasoning.text += text
      send(turn, 0, { type: 'reasoning_delta', reasoning: text })
    },
    say: (delta) => speak(citations.push(delta)),
    hearCall: () => {
      closeReasoning()
      hasCalls = true
    },
    endStep: () => {
      speak(citations.end())
      closeReasoning()
      return { text: message.text, reasoning: reasoning.text }
    },
    openCalls: (requested, calls) => {
      if (requested > 1) send(turn, 0, { type: 'top_level_branching', num_parallel_branches: requested })
      found = calls.map(() => undefined)
      voices = calls.map(({ position }, index) => openCall(position, index))
      for (const [index, { start }] of calls.entries()) if (start) voices[index]?.emit(start)
      return voices
    },
    close: () => {
      speak(citations.end())
      closeReasoning()
      for (const voice of voices) voice.end()
      gather()
      isClosed = true
    },
    tell: (packet) => {
      const wasClosed = isClosed
      isClosed = false
      send(turn, 0, packet)
      isClosed = wasClosed
    },
    soFar: () => ({
      text: answer,
      reasoning: reasoning.text === '' ? null : reasoning.text,
      documents,
      citations: citations.cited(),
    }),
  }
}

function refused(type: PacketType): InlayError {
  return new InlayError('UNSUPPORTED', { message: `An action cannot send packets of type ${type}.` })
}
