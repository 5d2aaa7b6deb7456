import type { Packet, PacketBody, SearchDoc } from '@inlay/protocol'
import { createCitations, type CitationsOptions } from '../citations/citation-filter.ts'
import { createMessageBlock } from '../packets/message-block.ts'
import type { AnswerSoFar, Narrator } from '../packets/packet-writer.ts'
import { createReasoningBlock } from '../packets/reasoning-block.ts'
import { createBranch, type Branch, type Hearing, type Place } from './branch.ts'

/** Tells clients of a deep research. */
export interface ResearchVoice extends Branch, Pick<Narrator, 'tell' | 'soFar'> {
  /** Opens a branch that is closed with the whole, if not before. */
  branch(): Branch
  /** Where `stop` and failures of the run are told. */
  stand(turn: number): void
  /** Hears the step that writes the answer, at `turn` or, after reasoning, the one behind it. */
  answer(turn: number, options: AnswerOptions): Hearing
  /** What counts as gathered. */
  gather(documents: readonly SearchDoc[]): void
}

/** What an answer is told with. */
export interface AnswerOptions {
  /** Null: nothing was searched. */
  readonly documents: readonly SearchDoc[] | null
  readonly known: CitationsOptions['known']
  /** What was thought before; kept with the answer unless it thinks itself. */
  readonly thought: string
}

/** What a voice needs. */
export interface ResearchVoiceOptions {
  readonly emit: (packet: Packet) => void
  readonly modelIndex: number
  readonly now: () => number
  /** When the run began, in milliseconds since 1970 UTC. */
  readonly startedAt: number
}

const nothingSaid: AnswerSoFar = { text: '', reasoning: null, documents: null, citations: [] }

function openBranch(root: Branch): Branch {
  const branch = createBranch(root.send)
  const forget = root.whenClosed(branch.close)
  const close = (): void => {
    forget()
    branch.close()
  }
  return { ...branch, close }
}

/** Makes the voice of one deep research. */
export function createResearchVoice(options: ResearchVoiceOptions): ResearchVoice {
  const { emit, modelIndex: index, now, startedAt } = options
  const place = ({ turn: turnIndex, tab, sub }: Place, obj: PacketBody): void =>
    emit({ placement: { turn_index: turnIndex, tab_index: tab, sub_turn_index: sub, model_index: index }, obj })
  const root = createBranch(place)
  let turn = 0
  let documents: readonly SearchDoc[] | null = null
  let said = (): Omit<AnswerSoFar, 'documents'> => nothingSaid

  return {
    ...root,
    branch: () => openBranch(root),
    answer: (at, { documents: finalDocuments, known, thought }) => {
      turn = at
      const stepStartedAt = now()
      const citations = createCitations({ mode: 'link', known })
      const send = (packet: PacketBody): void => root.send({ turn, tab: 0, sub: null }, packet)
      const reasoning = createReasoningBlock(send)
      const closeReasoning = (): void => void (reasoning.close() && turn++)
      const message = createMessageBlock(send, () => {
        closeReasoning()
        const seconds = (stepStartedAt - startedAt) / 1000
        return { type: 'message_start', final_documents: finalDocuments, pre_answer_processing_seconds: seconds }
      })
      const end = (): void => {
        message.say(citations.end())
        closeReasoning()
      }
      const forget = root.whenClosed(end)
      said = () => ({
        text: message.answer(),
        reasoning: reasoning.text() || thought || null,
        citations: citations.cited(),
      })
      return {
        listener: {
          reason: (delta) => (message.hasBegun() ? undefined : reasoning.add(delta)),
          say: (delta) => message.say(citations.push(delta)),
          hearCall: () => {},
          hearArguments: () => {},
        },
        end: () => {
          forget()
          end()
        },
      }
    },
    stand: (at) => void (turn = at),
    gather: (some) => void (documents = some),
    tell: (packet) => place({ turn, tab: 0, sub: null }, packet),
    soFar: () => ({ ...said(), documents }),
  }
}
