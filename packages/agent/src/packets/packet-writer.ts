import type { Packet, PacketBody, SearchDoc } from '@inlay/protocol'
import { createCallPackets, createMessageBlock, createReasoningBlock, type CallWriter } from './blocks.ts'
import { createCitableDocuments, type CitableDocuments } from '../citations/numbers.ts'
import { createCitations, type Citation } from '../citations/citation-filter.ts'

export interface PacketWriterOptions {
  readonly emit: (packet: Packet) => void
  /** Position of the model among those that answer side by side. */
  readonly modelIndex: number
  /** False: markers are removed from the answer and no citation packet is sent. */
  readonly includeCitations: boolean
  readonly now: () => number
  /** When the run began, in milliseconds since 1970 UTC. */
  readonly startedAt: number
  /** Documents the model has before any call: citable under the numbers from 1, and first among the final ones. */
  readonly contextDocuments?: readonly SearchDoc[]
}

/** What is known of an answer at any moment. */
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

/** Turns the output of a model and of its calls into packets, in the order that clients rely on. */
export interface PacketWriter {
  readonly citable: CitableDocuments
  /** Begins the next model step. */
  beginStep(): void
  onReasoning(delta: string): void
  onText(delta: string): void
  /** A call of the step begins to arrive: the reasoning before it is over. */
  onCall(): void
  /** Text arguments of a call while they are written; they stand where the step's first call will. */
  onArguments(name: string, deltas: Readonly<Record<string, string>>): void
  /** Whether this step has text so far. */
  hasText(): boolean
  /** Ends the text of this step; calls may follow. */
  endStep(): { readonly text: string; readonly reasoning: string }
  /**
   * Announces the step's calls, all before any of them runs.
   * @param requested how many the model asked for, before merging
   * @param calls which position each has among those, and its start packet
   */
  openCalls(
    requested: number,
    calls: readonly { readonly position: number; readonly start: PacketBody | undefined }[],
  ): CallWriter[]
  /** Closes open blocks and calls; later output is dropped. */
  close(): void
  /** Sends a packet at the place of the current block, also when closed. */
  emit(packet: PacketBody): void
  snapshot(): AnswerSnapshot
}

/** Creates the packet writer of one answer. Reasoning that follows text or calls of its step is not sent. */
export function createPacketWriter(options: PacketWriterOptions): PacketWriter {
  const { modelIndex, includeCitations, now, startedAt, contextDocuments = [] } = options
  const citable = createCitableDocuments()
  citable.openStep()(0).cite(contextDocuments)
  const citations = createCitations({ mode: includeCitations ? 'link' : 'remove', known: citable.known })
  let step = -1
  let reasonedSteps = 0
  let turn = 0
  let stepStartedAt = startedAt
  let isClosed = false

  const emitAt = (turnIndex: number, tabIndex: number, obj: PacketBody, sub: number | null = null): void =>
    options.emit({
      placement: { turn_index: turnIndex, tab_index: tabIndex, sub_turn_index: sub, model_index: modelIndex },
      obj,
    })
  const emitOpen: typeof emitAt = (turnIndex, tabIndex, obj, sub) =>
    isClosed ? undefined : emitAt(turnIndex, tabIndex, obj, sub)

  const reasoning = createReasoningBlock((packet) => emitOpen(turn, 0, packet))
  const closeReasoning = (): void => {
    if (!reasoning.close()) return
    reasonedSteps++
    turn++
  }
  const calls = createCallPackets(emitOpen, contextDocuments.length > 0 ? contextDocuments : null)
  const message = createMessageBlock(
    (packet) => emitOpen(turn, 0, packet),
    () => {
      closeReasoning()
      const seconds = (stepStartedAt - startedAt) / 1000
      return { type: 'message_start', final_documents: calls.documents(), pre_answer_processing_seconds: seconds }
    },
  )
  const finishText = (): void => {
    message.add(citations.end())
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
    onReasoning: (delta) => {
      if (!message.hasBegun()) reasoning.add(delta)
    },
    onText: (delta) => message.add(citations.push(delta)),
    onCall: () => {
      closeReasoning()
      reasoning.bar()
    },
    onArguments: (name, deltas) => {
      const tab = message.hasBegun() ? 1 : 0
      emitOpen(turn, tab, { type: 'tool_call_argument_delta', tool_type: name, argument_deltas: deltas })
    },
    hasText: message.hasBegun,
    endStep: () => {
      finishText()
      return { text: message.text(), reasoning: reasoning.text() }
    },
    openCalls: (requested, starts) => {
      const firstTab = message.hasBegun() ? 1 : 0
      const place = { step, turnIndex: turn, firstTab, reasoning: reasoning.text() || null }
      return calls.open(place, requested, starts)
    },
    close: () => {
      finishText()
      calls.endAll()
      isClosed = true
    },
    emit: (packet) => emitAt(turn, 0, packet),
    snapshot: () => ({
      text: message.answer(),
      reasoning: reasoning.text() || null,
      documents: calls.documents(),
      citations: includeCitations ? citations.cited() : [],
    }),
  }
}
