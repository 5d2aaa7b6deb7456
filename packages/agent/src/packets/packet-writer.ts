import type { Packet, PacketBody, SearchDoc } from '@inlay/protocol'
import { createCallStage, type CallVoice } from './call-packets.ts'
import { createCitableDocuments, type CitableDocuments } from '../citations/numbers.ts'
import { createCitations, type Citation } from '../citations/citation-filter.ts'
import { createMessageBlock } from './message-block.ts'
import { createReasoningBlock } from './reasoning-block.ts'

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
  /** Documents the model has before any call: citable under the numbers from 1, and first among the final ones. */
  readonly contextDocuments?: readonly SearchDoc[]
}

/** Sends a packet at a turn and tab of the answer. */
export type Send = (turnIndex: number, tabIndex: number, packet: PacketBody) => void

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
  /** In order of appearance; [] when citations are not included. */
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
  /** Text arguments of a call while they are written, by name: told where the step's first call will stand. */
  hearArguments(name: string, deltas: Readonly<Record<string, string>>): void
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

/** Makes the narrator of one answer. */
export function createNarrator(options: NarratorOptions): Narrator {
  const { emit, modelIndex: index, includeCitations, now, startedAt, contextDocuments = [] } = options
  const citable = createCitableDocuments()
  citable.openStep()(0).cite(contextDocuments)
  const citations = createCitations({ mode: includeCitations ? 'link' : 'remove', known: citable.known })
  let step = -1
  let reasonedSteps = 0
  let turn = 0
  let stepStartedAt = startedAt
  let isClosed = false

  const place: Send = (turnIndex, tabIndex, obj) =>
    emit({ placement: { turn_index: turnIndex, tab_index: tabIndex, sub_turn_index: null, model_index: index }, obj })
  const send: Send = (turnIndex, tabIndex, obj) => (isClosed ? undefined : place(turnIndex, tabIndex, obj))

  const reasoning = createReasoningBlock((packet) => send(turn, 0, packet))
  const closeReasoning = (): void => {
    if (!reasoning.close()) return
    reasonedSteps++
    turn++
  }
  const calls = createCallStage(send, contextDocuments.length > 0 ? contextDocuments : null)
  const message = createMessageBlock(
    (packet) => send(turn, 0, packet),
    () => {
      closeReasoning()
      const seconds = (stepStartedAt - startedAt) / 1000
      return { type: 'message_start', final_documents: calls.documents(), pre_answer_processing_seconds: seconds }
    },
  )
  const finishText = (): void => {
    message.say(citations.end())
    closeReasoning()
  }

  return {
    citable,
    beginStep: () => {
      calls.gather()
      reasoning.reset()
      message.reset()
      step++
      turn = step + reasonedSteps
      stepStartedAt = now()
    },
    reason: (delta) => {
      if (!message.hasBegun()) reasoning.add(delta)
    },
    say: (delta) => message.say(citations.push(delta)),
    hearCall: () => {
      closeReasoning()
      reasoning.bar()
    },
    hearArguments: (name, deltas) => {
      const tab = message.hasBegun() ? 1 : 0
      send(turn, tab, { type: 'tool_call_argument_delta', tool_type: name, argument_deltas: deltas })
    },
    endStep: () => {
      finishText()
      return { text: message.text(), reasoning: reasoning.text() }
    },
    openCalls: (requested, asked) => {
      const firstTab = message.hasBegun() ? 1 : 0
      const thought = reasoning.text()
      const stage = { step, turnIndex: turn, firstTab, reasoning: thought === '' ? null : thought }
      return calls.open(stage, requested, asked)
    },
    close: () => {
      finishText()
      calls.endAll()
      isClosed = true
    },
    tell: (packet) => place(turn, 0, packet),
    soFar: () => ({
      text: message.answer(),
      reasoning: reasoning.text() === '' ? null : reasoning.text(),
      documents: calls.documents(),
      citations: includeCitations ? citations.cited() : [],
    }),
  }
}
