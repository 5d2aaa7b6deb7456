import type { Packet, PacketBody, SearchDoc } from '@inlay/protocol'
import { CitationFilter, type CitationsOptions } from '../citations/citation-filter.ts'
import type { CitationComparison } from '../contracts/citations.ts'
import type { AnswerSnapshot, PacketWriterOptions } from '../packet-writer.ts'
import { StepBlocks } from '../packet-writer.ts'
import { Branch, type AnswerPlace, type StepPackets } from './branch.ts'

type WriterOptions = Pick<PacketWriterOptions, 'emit' | 'modelIndex' | 'now' | 'startedAt'>

export class ResearchWriter extends Branch {
  readonly #options: WriterOptions
  #turn = 0
  #documents: readonly SearchDoc[] | null = null
  #answer = (): Omit<AnswerSnapshot, 'documents'> => ({ text: '', reasoning: null, citations: [] })

  constructor(options: WriterOptions) {
    super((place, packet) => options.emit(toPacket(place, options.modelIndex, packet)))
    this.#options = options
  }

  /** Opens a branch that is closed with the run, if not before. */
  branch(): Branch {
    const branch = new Branch((place, packet) => this.emit(place, packet))
    branch.onClose(this.onClose(() => branch.close()))
    return branch
  }

  /** Sets the turn of `stop` and of failures of the run. */
  setTurn(at: number): void {
    this.#turn = at
  }

  setDocuments(documents: readonly SearchDoc[]): void {
    this.#documents = documents
  }

  /**
   * Opens the step that writes the answer, at `turn`, or at the next one after reasoning.
   * @param documents null: nothing was searched
   * @param comparison absent: uncited sentences are not compared
   * @param thought earlier reasoning; stored with the answer unless its own step reasons
   */
  openAnswer(
    turn: number,
    documents: readonly SearchDoc[] | null,
    known: CitationsOptions['known'],
    thought: string,
    comparison?: CitationComparison,
  ): StepPackets {
    this.#turn = turn
    const { now, startedAt } = this.#options
    const seconds = (now() - startedAt) / 1000
    const linked = new CitationFilter({ mode: 'link', known })
    const citations = comparison?.complete(linked) ?? linked
    const blocks = new StepBlocks((packet) => this.emit(this.#place(), packet), {
      onReasoned: () => void this.#turn++,
      announceText: () => ({
        type: 'message_start',
        final_documents: documents,
        pre_answer_processing_seconds: seconds,
      }),
    })
    this.#answer = () => ({
      text: blocks.text,
      reasoning: blocks.reasoning || thought || null,
      citations: citations.cited(),
    })
    const listener = {
      onReasoning: (delta: string) => blocks.addReasoning(delta),
      onText: (delta: string) => blocks.addText(citations.push(delta)),
    }
    return this.openStep(listener, (isCut) => {
      blocks.addText(citations.end(isCut))
      blocks.closeReasoning()
    })
  }

  /** A packet at the current turn. */
  place(packet: PacketBody): Packet {
    return toPacket(this.#place(), this.#options.modelIndex, packet)
  }

  snapshot(): AnswerSnapshot {
    return { ...this.#answer(), documents: this.#documents }
  }

  #place(): AnswerPlace {
    return { turn: this.#turn, tab: 0, sub: null }
  }
}

function toPacket({ turn, tab, sub }: AnswerPlace, modelIndex: number, obj: PacketBody): Packet {
  return { placement: { turn_index: turn, tab_index: tab, sub_turn_index: sub, model_index: modelIndex }, obj }
}
