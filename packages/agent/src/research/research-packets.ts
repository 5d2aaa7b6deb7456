import type { Packet, PacketBody, SearchDoc } from '@inlay/protocol'
import { CitationFilter, type CitationsOptions } from '../citations/citation-filter.ts'
import type { CitationComparison } from '../contracts/citations.ts'
import type { AnswerSnapshot, PacketWriter, PacketWriterOptions } from '../packet-writer.ts'
import { StepBlocks } from '../packet-writer.ts'
import { createBranch, type AnswerPlace, type Branch, type StepPackets } from './branch.ts'

/** Writes the packets of one research run. */
export interface ResearchWriter extends Branch {
  /** Opens a branch that is closed with the run, if not before. */
  branch(): Branch
  /** Sets the turn of `stop` and of failures of the run. */
  setTurn(turn: number): void
  /** Opens the step that writes the answer, at `turn`, or at the next one after reasoning. */
  openAnswer(turn: number, options: AnswerPacketsOptions): StepPackets
  /** Replaces the gathered documents. */
  setDocuments(documents: readonly SearchDoc[]): void
  /** A packet at the current turn. */
  place: PacketWriter['place']
  snapshot(): AnswerSnapshot
}

export interface AnswerPacketsOptions {
  /** Null: nothing was searched. */
  readonly documents: readonly SearchDoc[] | null
  readonly known: CitationsOptions['known']
  /** Absent: uncited sentences are not compared. */
  readonly comparison?: CitationComparison | undefined
  /** Earlier reasoning; stored with the answer unless its own step reasons. */
  readonly thought: string
}

export type ResearchWriterOptions = Pick<PacketWriterOptions, 'emit' | 'modelIndex' | 'now' | 'startedAt'>

const emptyAnswer: AnswerSnapshot = { text: '', reasoning: null, documents: null, citations: [] }

function openBranch(root: Branch): Branch {
  const branch = createBranch(root.emit)
  const forget = root.onClose(branch.close)
  const close = (): void => {
    forget()
    branch.close()
  }
  return { ...branch, close }
}

export function createResearchWriter({ emit, modelIndex, now, startedAt }: ResearchWriterOptions): ResearchWriter {
  const emitAt = (place: AnswerPlace, obj: PacketBody): void => emit(toPacket(place, modelIndex, obj))
  const root = createBranch(emitAt)
  let turn = 0
  let documents: readonly SearchDoc[] | null = null
  let answer = (): Omit<AnswerSnapshot, 'documents'> => emptyAnswer

  const openAnswer: ResearchWriter['openAnswer'] = (at, { documents: finalDocuments, known, comparison, thought }) => {
    turn = at
    const stepStartedAt = now()
    const linked = new CitationFilter({ mode: 'link', known })
    const citations = comparison?.complete(linked) ?? linked
    const emitHere = (packet: PacketBody): void => root.emit({ turn, tab: 0, sub: null }, packet)
    const blocks = new StepBlocks(emitHere, {
      onReasoned: () => void turn++,
      announceText: () => {
        const seconds = (stepStartedAt - startedAt) / 1000
        return { type: 'message_start', final_documents: finalDocuments, pre_answer_processing_seconds: seconds }
      },
    })
    const end = (isCut: boolean): void => {
      blocks.addText(citations.end(isCut))
      blocks.closeReasoning()
    }
    const forget = root.onClose(() => end(true))
    answer = () => ({
      text: blocks.text,
      reasoning: blocks.reasoning || thought || null,
      citations: citations.cited(),
    })
    return {
      listener: {
        onReasoning: (delta) => blocks.addReasoning(delta),
        onText: (delta) => blocks.addText(citations.push(delta)),
        onCall: () => {},
        onArguments: () => {},
      },
      end: () => {
        forget()
        end(false)
      },
    }
  }
  return {
    ...root,
    branch: () => openBranch(root),
    openAnswer,
    setTurn: (at) => void (turn = at),
    setDocuments: (gathered) => void (documents = gathered),
    place: (packet) => toPacket({ turn, tab: 0, sub: null }, modelIndex, packet),
    snapshot: () => ({ ...answer(), documents }),
  }
}

function toPacket({ turn, tab, sub }: AnswerPlace, modelIndex: number, obj: PacketBody): Packet {
  return { placement: { turn_index: turn, tab_index: tab, sub_turn_index: sub, model_index: modelIndex }, obj }
}
