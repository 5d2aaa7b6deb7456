import { type Packet, type PacketBody, type SearchDoc, InlayError, type PacketOf } from '@inlay/protocol'
import { GrowingText } from '@inlay/text'
import { CitationFilter } from './citations/citation-filter.ts'
import { createCitableDocuments, type CitableDocuments } from './citations/citable-documents.ts'
import type { ToolCallRecord } from './contracts/conversation-store.ts'
import type { Citation, CitationPiece, Citations, CompareCitations } from './contracts/citations.ts'

export interface StepBlocksOptions {
  readonly onReasoned?: () => void
  /** Creates the packet that announces the first text. Absent: the text is not announced. */
  readonly announceText?: () => PacketOf<'message_start'>
}

/**
 * Reasoning and text of one model step, each as one block of packets; reasoning comes first or not at all. No block
 * consists of whitespace alone: providers begin empty thoughts and send line breaks before calls.
 */
export class StepBlocks {
  /** Whether the text was announced. */
  hasText = false
  readonly #emit: (packet: PacketBody) => void
  readonly #options: StepBlocksOptions
  #phase: 'none' | 'open' | 'over' = 'none'
  /** Whitespace that waits for the first other character. */
  #blankReasoning = ''
  #blankText = ''
  readonly #reasoning = new GrowingText()
  readonly #text = new GrowingText()

  constructor(emit: (packet: PacketBody) => void, options: StepBlocksOptions = {}) {
    this.#emit = emit
    this.#options = options
  }

  /** All reasoning of the step so far; "" when there is none. */
  get reasoning(): string {
    return this.#reasoning.read()
  }

  get text(): string {
    return this.#text.read()
  }

  addReasoning(delta: string): void {
    if (this.#phase === 'over' || this.hasText) return
    const more = this.#blankReasoning + delta
    this.#blankReasoning = this.#phase === 'none' && more.trim() === '' ? more : ''
    if (this.#blankReasoning !== '' || more === '') return
    if (this.#phase === 'none') this.#emit({ type: 'reasoning_start' })
    this.#phase = 'open'
    this.#reasoning.add(more)
    this.#emit({ type: 'reasoning_delta', reasoning: more })
  }

  /** @param bars whether no more reasoning may begin in this step */
  closeReasoning(bars = false): void {
    const isOpen = this.#phase === 'open'
    if (isOpen) this.#emit({ type: 'reasoning_done' })
    if (isOpen || bars) this.#phase = 'over'
    if (isOpen) this.#options.onReasoned?.()
  }

  addText(pieces: readonly CitationPiece[]): void {
    for (const piece of pieces) {
      const content = piece.type === 'text' ? this.#blankText + piece.content : this.#blankText
      const isBlank = piece.type === 'text' && !this.hasText && content.trim() === ''
      this.#blankText = isBlank ? content : ''
      if (isBlank) continue
      this.#announceText()
      this.#text.add(content)
      if (content !== '') this.#emit({ type: 'message_delta', content })
      if (piece.type === 'text') continue
      this.#emit({ type: 'citation_info', citation_number: piece.number, document_id: piece.documentId })
    }
  }

  #announceText(): void {
    if (this.hasText) return
    this.closeReasoning()
    const start = this.#options.announceText?.()
    this.hasText = true
    if (start) this.#emit(start)
  }
}

export type CallPlace = Pick<ToolCallRecord, 'step' | 'turnIndex' | 'tabIndex' | 'reasoning'>

const callPackets = /^(search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool)/

/** Sends the packets of one call; nothing more after `end`. */
export class CallWriter {
  readonly place: CallPlace
  /** All documents the call found; undefined while it runs, or if it searched nothing. */
  foundDocuments: readonly SearchDoc[] | undefined
  readonly #send: (packet: PacketBody, sub: number | null) => void
  #hasEnded = false

  constructor(place: CallPlace, send: (packet: PacketBody, sub: number | null) => void) {
    this.place = place
    this.#send = send
  }

  /** Throws UNSUPPORTED for packets that a call may not send, such as `stop`. */
  emit(packet: PacketBody): void {
    if (!callPackets.test(packet.type))
      throw new InlayError('UNSUPPORTED', { message: `An action cannot send packets of type ${packet.type}.` })
    this.emitNested(packet, null)
  }

  /** Sends a packet of any type for a sub-agent; `sub` is its step, null for the place of the call itself. */
  emitNested(packet: PacketBody, sub: number | null): void {
    if (!this.#hasEnded) this.#send(packet, sub)
  }

  /** Sends nothing more. The section stays open, for the call waits for a person. */
  leave(): void {
    this.#hasEnded = true
  }

  /** Sends `section_end` once. The documents join `final_documents` of the next text. */
  end(foundDocuments?: readonly SearchDoc[]): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.foundDocuments = foundDocuments
    this.#send({ type: 'section_end' }, null)
  }
}

export interface PacketWriterOptions {
  readonly emit: (packet: Packet) => void
  /** Position of the model among parallel answers. */
  readonly modelIndex: number
  /** If false, markers are removed from the answer and no citation packets are sent. */
  readonly includeCitations: boolean
  /** Compares citations and uncited sentences with the documents the model read. Absent: they are not compared. */
  readonly compareCitations?: CompareCitations | undefined
  readonly now: () => number
  /** When the run began, in milliseconds since 1970 UTC. */
  readonly startedAt: number
  /** Documents that the model has before any call: citable from number 1, and first among the final documents. */
  readonly contextDocuments?: readonly SearchDoc[]
  /** Documents that an answer goes on with, by their numbers. Default: none. */
  readonly citable?: CitableDocuments | undefined
  /** Whether documents are numbered as they are cited. Default: as the model read them. */
  readonly numbersAsCited?: boolean
}

export interface AnswerSnapshot {
  /** Text of the last step with any, including links. */
  readonly text: string
  /** Reasoning of the current step; null when there is none. */
  readonly reasoning: string | null
  /** All gathered documents; null while nothing was searched. */
  readonly documents: readonly SearchDoc[] | null
  /** In order of appearance; [] when citations are not included. */
  readonly citations: readonly Citation[]
}

/** Turns the output of a model and its calls into packets, in the order that clients rely on. */
export class PacketWriter {
  readonly citable: CitableDocuments
  readonly #options: PacketWriterOptions
  readonly #citations: Citations
  #documents: readonly SearchDoc[] | null = null
  #blocks: StepBlocks
  #calls: CallWriter[] = []
  /** Text of the last earlier step with any. */
  #earlierText = ''
  #step = -1
  #turn = 0
  #reasonedSteps = 0
  #stepStartedAt: number
  #isClosed = false

  constructor(options: PacketWriterOptions) {
    const { includeCitations, compareCitations, startedAt, contextDocuments = [] } = options
    const { citable = createCitableDocuments() } = options
    this.citable = citable
    this.#options = options
    const comparison = includeCitations ? compareCitations?.(citable) : undefined
    const citations = new CitationFilter({
      mode: includeCitations ? 'link' : 'remove',
      known: citable.known,
      shownNumber: options.numbersAsCited ? citable.shownNumber : undefined,
      check: comparison,
    })
    this.#citations = comparison?.complete(citations) ?? citations
    if (contextDocuments.length > 0) {
      this.#documents = contextDocuments
      // Those of an answer that goes on have their numbers, or were never shown to the model.
      if (!options.citable) this.citable.openStep()(0).cite(contextDocuments)
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

  /** Reasoning that follows text or calls of its step is dropped. */
  onReasoning(delta: string): void {
    this.#blocks.addReasoning(delta)
  }

  onText(delta: string): void {
    this.#blocks.addText(this.#citations.push(delta))
  }

  /** The first fragment of a call: reasoning before it has ended. */
  onCall(): void {
    this.#blocks.closeReasoning(true)
  }

  /** Text arguments of a call while they are written, at the place of the step's first call. */
  onArguments(name: string, deltas: Readonly<Record<string, string>>): void {
    const packet: PacketBody = { type: 'tool_call_argument_delta', tool_type: name, argument_deltas: deltas }
    this.#emitOpen(packet, this.#turn, this.#blocks.hasText ? 1 : 0)
  }

  hasText(): boolean {
    return this.#blocks.hasText
  }

  /** @param isCut as in `Citations.end`; otherwise calls may follow */
  endStep(isCut = false): Pick<StepBlocks, 'text' | 'reasoning'> {
    this.#blocks.addText(this.#citations.end(isCut))
    this.#blocks.closeReasoning()
    return this.#blocks
  }

  /**
   * @param requested number of calls that the model requested, before merging
   * @param starts with their positions among these
   */
  openCalls(
    requested: number,
    starts: readonly { readonly position: number; readonly start: PacketBody | undefined }[],
  ): CallWriter[] {
    const turnIndex = this.#turn
    const { hasText, reasoning } = this.#blocks
    const firstTab = hasText ? 1 : 0
    if (requested > 1) this.#emitOpen({ type: 'top_level_branching', num_parallel_branches: requested }, turnIndex, 0)
    const opened = starts.map(({ position }) => {
      const tabIndex = position + firstTab
      const place = { step: this.#step, turnIndex, tabIndex, reasoning: reasoning || null }
      return new CallWriter(place, (packet, sub) => this.#emitOpen(packet, turnIndex, tabIndex, sub))
    })
    this.#calls.push(...opened)
    for (const { start, position } of starts) if (start) this.#emitOpen(start, turnIndex, position + firstTab)
    return opened
  }

  /** Closes open blocks and calls; later output is dropped. */
  close(): void {
    // A step that was played to its end has no text left.
    this.endStep(true)
    for (const call of this.#calls) call.end()
    this.#gatherDocuments()
    this.#isClosed = true
  }

  /** A packet at the place of the current block. */
  place(obj: PacketBody): Packet {
    const { modelIndex } = this.#options
    return { placement: { turn_index: this.#turn, tab_index: 0, sub_turn_index: null, model_index: modelIndex }, obj }
  }

  /** The documents that the calls of earlier steps and of this one found; null while nothing was searched. */
  gatheredDocuments(): readonly SearchDoc[] | null {
    this.#gatherDocuments()
    return this.#documents
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
    return new StepBlocks((packet) => this.#emitOpen(packet, this.#turn, 0), options)
  }

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
