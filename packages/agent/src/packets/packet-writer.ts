import { type Packet, type PacketBody, type SearchDoc, InlayError, type PacketOf } from '@inlay/protocol'
import { CitationFilter, type Citation, type Citations, type CitationPiece } from '../citations/citation-filter.ts'
import { compareCitations } from '../citations/compared-citations.ts'
import { createCitableDocuments, type CitableDocuments } from '../citations/citable-documents.ts'

/**
 * The reasoning and the text of one model step, each as one block of packets. Reasoning comes first or not at all. No
 * block begins with whitespace alone: providers begin empty thoughts and send line breaks before calls.
 */
export interface StepBlocks {
  /** All reasoning of the step so far; "" when there is none. */
  readonly reasoning: string
  /** All text of the step so far. */
  readonly text: string
  /** Whether the text was announced. */
  readonly hasText: boolean
  addReasoning(delta: string): void
  /** @param bars whether none may begin in this step any more */
  closeReasoning(bars?: boolean): void
  addText(pieces: readonly CitationPiece[]): void
}

export interface StepBlocksOptions {
  /** Called when reasoning has ended. */
  readonly onReasoned?: () => void
  /** Gives the packet that announces the first text. Absent: no text follows. */
  readonly announceText?: () => PacketOf<'message_start'>
}

export function createStepBlocks(
  emit: (packet: PacketBody) => void,
  { onReasoned, announceText }: StepBlocksOptions = {},
): StepBlocks {
  let phase: 'none' | 'open' | 'over' = 'none'
  let blankReasoning = ''
  let blankText = ''
  const blocks = {
    reasoning: '',
    text: '',
    hasText: false,
    addReasoning: (delta: string): void => {
      if (phase === 'over' || blocks.hasText) return
      const more = blankReasoning + delta
      blankReasoning = phase === 'none' && more.trim() === '' ? more : ''
      if (blankReasoning !== '' || more === '') return
      if (phase === 'none') emit({ type: 'reasoning_start' })
      phase = 'open'
      blocks.reasoning += more
      emit({ type: 'reasoning_delta', reasoning: more })
    },
    closeReasoning: (bars = false): void => {
      const isOpen = phase === 'open'
      if (isOpen) emit({ type: 'reasoning_done' })
      if (isOpen || bars) phase = 'over'
      if (isOpen) onReasoned?.()
    },
    addText: (pieces: readonly CitationPiece[]): void => {
      for (const piece of pieces) {
        const content = piece.type === 'text' ? blankText + piece.content : blankText
        const isBlank = piece.type === 'text' && !blocks.hasText && content.trim() === ''
        blankText = isBlank ? content : ''
        if (isBlank) continue
        if (!blocks.hasText) blocks.closeReasoning()
        const start = blocks.hasText ? undefined : announceText?.()
        blocks.hasText = true
        if (start) emit(start)
        blocks.text += content
        if (content !== '') emit({ type: 'message_delta', content })
        if (piece.type === 'text') continue
        emit({ type: 'citation_info', citation_number: piece.number, document_id: piece.documentId })
      }
    },
  }
  return blocks
}

/** Placement of a call in its answer. */
export interface CallPlace {
  /** The model step that asked for the call, from 0. */
  readonly step: number
  readonly turnIndex: number
  readonly tabIndex: number
  /** Reasoning of that step; null when there was none. */
  readonly reasoning: string | null
}

const callPackets = /^(search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool)/

/** Sends the packets of one call. After `end` it sends nothing more. */
export interface CallWriter {
  readonly place: CallPlace
  /** All documents the call found; undefined when it searched nothing, or still runs. */
  readonly foundDocuments: readonly SearchDoc[] | undefined
  /** Throws UNSUPPORTED for packets that are not a call's to send, such as `stop`. */
  emit(packet: PacketBody): void
  /** Sends a packet of any type, for a sub-agent; `sub` is the place of its step, null for the call's own place. */
  emitNested(packet: PacketBody, sub: number | null): void
  /** Sends `section_end`; only the first time. The documents join `final_documents` of the next text. */
  end(foundDocuments?: readonly SearchDoc[]): void
}

export function createCallWriter(place: CallPlace, send: (packet: PacketBody, sub: number | null) => void): CallWriter {
  let hasEnded = false
  const writer = {
    place,
    foundDocuments: undefined as CallWriter['foundDocuments'],
    emit: (packet: PacketBody): void => {
      if (!callPackets.test(packet.type))
        throw new InlayError('UNSUPPORTED', { message: `An action cannot send packets of type ${packet.type}.` })
      if (!hasEnded) send(packet, null)
    },
    emitNested: (packet: PacketBody, sub: number | null): void => {
      if (!hasEnded) send(packet, sub)
    },
    end: (foundDocuments?: readonly SearchDoc[]): void => {
      if (hasEnded) return
      hasEnded = true
      writer.foundDocuments = foundDocuments
      send({ type: 'section_end' }, null)
    },
  }
  return writer
}

export interface PacketWriterOptions {
  readonly emit: (packet: Packet) => void
  /** Position of the model among those that answer side by side. */
  readonly modelIndex: number
  /** False: markers are removed from the answer and no citation packet is sent. */
  readonly includeCitations: boolean
  /** Whether sentences of a model that cites nothing are compared with what it read. Default: they are. */
  readonly comparesCitations?: boolean
  readonly now: () => number
  /** When the run began, in milliseconds since 1970 UTC. */
  readonly startedAt: number
  /** Documents the model has before any call: citable under the numbers from 1, and first among the final ones. */
  readonly contextDocuments?: readonly SearchDoc[]
}

/** Snapshot of an answer in progress. */
export interface AnswerSnapshot {
  /** Text of the last step that had any, with its links. */
  readonly text: string
  /** Reasoning of the current step; null when there is none. */
  readonly reasoning: string | null
  /** Every document gathered; null while nothing searched. */
  readonly documents: readonly SearchDoc[] | null
  /** In order of appearance; [] when citations are not included. */
  readonly citations: readonly Citation[]
}

export interface CallStart {
  /** Its position among the calls that the model asked for in this step. */
  readonly position: number
  readonly start: PacketBody | undefined
}

/** Turns the output of a model and of its calls into packets, in the order that clients rely on. */
export class PacketWriter {
  /** The documents that the answer may cite. */
  readonly citable: CitableDocuments = createCitableDocuments()
  readonly #options: PacketWriterOptions
  readonly #citations: Citations
  #documents: readonly SearchDoc[] | null = null
  #blocks: StepBlocks
  /** Calls of this step. */
  #calls: CallWriter[] = []
  /** Text of the last step before this one that had any. */
  #earlierText = ''
  #step = -1
  #turn = 0
  #reasonedSteps = 0
  #stepStartedAt: number
  #isClosed = false

  constructor(options: PacketWriterOptions) {
    const { includeCitations, comparesCitations = true, startedAt, contextDocuments = [] } = options
    const { citable } = this
    this.#options = options
    const citations = new CitationFilter({ mode: includeCitations ? 'link' : 'remove', known: citable.known })
    this.#citations = includeCitations && comparesCitations ? compareCitations(citations, citable) : citations
    if (contextDocuments.length > 0) {
      this.#documents = contextDocuments
      this.citable.openStep()(0).cite(contextDocuments)
    }
    this.#blocks = this.#openBlocks()
    this.#stepStartedAt = startedAt
  }

  beginStep(): void {
    this.#gatherDocuments()
    if (this.#blocks.hasText) this.#earlierText = this.#blocks.text
    this.#blocks = this.#openBlocks()
    this.#step++
    this.#turn = this.#step + this.#reasonedSteps
    this.#stepStartedAt = this.#options.now()
  }

  /** Reasoning that follows text or calls of its step is not sent. */
  onReasoning(delta: string): void {
    this.#blocks.addReasoning(delta)
  }

  onText(delta: string): void {
    this.#blocks.addText(this.#citations.push(delta))
  }

  /** A call of the step begins to arrive: the reasoning before it is over. */
  onCall(): void {
    this.#blocks.closeReasoning(true)
  }

  /** Text arguments of a call while they are written; they stand where the step's first call will. */
  onArguments(name: string, deltas: Readonly<Record<string, string>>): void {
    const packet: PacketBody = { type: 'tool_call_argument_delta', tool_type: name, argument_deltas: deltas }
    this.#emitOpen(packet, this.#turn, this.#blocks.hasText ? 1 : 0)
  }

  hasText(): boolean {
    return this.#blocks.hasText
  }

  /** Ends the text of this step; calls may follow. */
  endStep(): Pick<StepBlocks, 'text' | 'reasoning'> {
    this.#blocks.addText(this.#citations.end())
    this.#blocks.closeReasoning()
    return this.#blocks
  }

  /**
   * Announces calls of the step, all before any of them runs.
   * @param requested how many the model asked for, before merging
   */
  openCalls(requested: number, starts: readonly CallStart[]): CallWriter[] {
    const turnIndex = this.#turn
    const { hasText, reasoning } = this.#blocks
    const firstTab = hasText ? 1 : 0
    if (requested > 1) this.#emitOpen({ type: 'top_level_branching', num_parallel_branches: requested }, turnIndex, 0)
    const opened = starts.map(({ position }) => {
      const tabIndex = position + firstTab
      const place = { step: this.#step, turnIndex, tabIndex, reasoning: reasoning || null }
      return createCallWriter(place, (packet, sub) => this.#emitOpen(packet, turnIndex, tabIndex, sub))
    })
    this.#calls.push(...opened)
    for (const { start, position } of starts) if (start) this.#emitOpen(start, turnIndex, position + firstTab)
    return opened
  }

  /** Closes open blocks and calls; later output is dropped. */
  close(): void {
    this.endStep()
    for (const call of this.#calls) call.end()
    this.#gatherDocuments()
    this.#isClosed = true
  }

  /** Sends a packet at the place of the current block, also when closed. */
  emit(packet: PacketBody): void {
    const { emit, modelIndex } = this.#options
    const placement = { turn_index: this.#turn, tab_index: 0, sub_turn_index: null, model_index: modelIndex }
    emit({ placement, obj: packet })
  }

  snapshot(): AnswerSnapshot {
    const { hasText, text, reasoning } = this.#blocks
    return {
      text: hasText ? text : this.#earlierText,
      reasoning: reasoning || null,
      documents: this.#documents,
      citations: this.#options.includeCitations ? this.#citations.cited() : [],
    }
  }

  #openBlocks(): StepBlocks {
    const options: StepBlocksOptions = {
      onReasoned: () => {
        this.#reasonedSteps++
        this.#turn++
      },
      announceText: () => {
        const seconds = (this.#stepStartedAt - this.#options.startedAt) / 1000
        return { type: 'message_start', final_documents: this.#documents, pre_answer_processing_seconds: seconds }
      },
    }
    return createStepBlocks((packet) => this.#emitOpen(packet, this.#turn, 0), options)
  }

  /** Takes what the calls of the step found, in their order. */
  #gatherDocuments(): void {
    const searched = this.#calls.flatMap(({ foundDocuments }) => (foundDocuments ? [foundDocuments] : []))
    if (searched.length > 0) this.#documents = [...(this.#documents ?? []), ...searched.flat()]
    this.#calls = []
  }

  #emitOpen(obj: PacketBody, turn: number, tab: number, sub: number | null = null): void {
    if (this.#isClosed) return
    const { emit, modelIndex } = this.#options
    emit({ placement: { turn_index: turn, tab_index: tab, sub_turn_index: sub, model_index: modelIndex }, obj })
  }
}
