import { stripCitations } from './strip-citations.ts'
import { applyPacket, endBlocks, isSamePlace, markFailures } from './fold-packets.ts'
import type { Block, ChangingState, FoldState, ResearchBlock, ToolBlock } from './fold-state.ts'
import { type ErrorLine, lineKind, type StreamLine } from '../framing/lines.ts'
import type { Packet, Placement } from '../packets/packet-types.ts'
import type { GeneratedImage, SearchDoc } from '../packets/search-doc.ts'
import type { FailedToolCall } from '../resources/sessions.ts'
import type { ChatFullResponse, ToolCallResponse } from '../chat/whole-answer.ts'

/** What the stream does not tell about one tool call, found by its place. */
export interface ToolCallDetail {
  readonly turn_index: number
  readonly tab_index: number
  /** Set inside a research agent only. */
  readonly sub_turn_index?: number | null
  readonly tool_name: string
  readonly tool_arguments: Readonly<Record<string, unknown>>
  readonly tool_result: string
  /** Absent: those the packets show. */
  readonly search_docs?: readonly SearchDoc[] | null
  /** Absent: those the packets show. */
  readonly generated_images?: readonly GeneratedImage[] | null
}

/** What is known beside the lines. */
export interface FoldBeside {
  /** The session, when the stream does not name it because it existed before. */
  readonly chatSessionId?: string | null
  /** The answer's message, when the lines have no id line. */
  readonly messageId?: number
  /** Which of several models to fold; default 0. */
  readonly modelIndex?: number
  /** Read when the result is asked for, so calls may be added until then. */
  readonly toolCalls?: readonly ToolCallDetail[]
}

/** Lines of one answer, folded as they come. */
export interface Fold {
  /** Folds the next line; lines of other models and unknown ones change nothing. */
  add(line: StreamLine): void
  /** Takes the failed calls of the stored answer: the stream ends such a call without a word of why. */
  addFailures(calls: readonly FailedToolCall[]): void
  /** Whether a call has ended without any result: `failed_calls` of the stored answer tells why. */
  readonly lacksResult: boolean
  /** The answer so far as a client shows it; always the same object. */
  readonly state: FoldState
  /** Text of the newest step that has any: the answer, once the run has ended. */
  readonly answer: string
  /** Reasoning of the newest step that reasoned; null when none did. */
  readonly reasoning: string | null
  /** The whole answer so far, as `stream: false` gives it. */
  result(): ChatFullResponse
}

const isTopLevel = (block: Block): boolean => block.placement.sub_turn_index === null

function lastText(blocks: readonly Block[]): string {
  const block = blocks.findLast((each) => each.kind === 'text' && isTopLevel(each))
  return block?.kind === 'text' ? block.text : ''
}

/** Reasoning of the newest step; what a research agent thinks while it writes its report is not the answer's. */
function lastReasoning(blocks: readonly Block[]): string | null {
  const agents = blocks.filter((each) => each.kind === 'research')
  const block = blocks.findLast(
    (each) =>
      each.kind === 'reasoning' &&
      isTopLevel(each) &&
      !agents.some((agent) => isSamePlace(agent.placement, each.placement)),
  )
  return block?.kind === 'reasoning' && block.text !== '' ? block.text : null
}

/** The reasoning of the step that made a call: one turn (inside an agent one sub-turn) before it, or at its turn. */
function reasoningBefore(blocks: readonly Block[], call: Placement): string | null {
  const step = (placement: Placement): number => placement.sub_turn_index ?? placement.turn_index
  const isNear = (placement: Placement): boolean =>
    call.sub_turn_index === null
      ? placement.sub_turn_index === null
      : placement.sub_turn_index !== null &&
        placement.turn_index === call.turn_index &&
        placement.tab_index === call.tab_index
  const near = blocks.filter((each) => each.kind === 'reasoning' && isNear(each.placement))
  const block =
    near.find((each) => step(each.placement) === step(call) - 1) ??
    near.find((each) => step(each.placement) === step(call))
  return block?.kind === 'reasoning' && block.text !== '' ? block.text : null
}

function resultText(block: ToolBlock): string {
  if (block.failure) return block.failure.exception
  if (block.data !== null) return typeof block.data === 'string' ? block.data : JSON.stringify(block.data)
  return block.output + block.errorOutput
}

const isEmpty = ({ documents, images, data, credentialError, output, errorOutput }: ToolBlock): boolean =>
  [documents, images, data, credentialError].every((result) => result === null) && output + errorOutput === ''

function callOf(block: ToolBlock | ResearchBlock): Omit<ToolCallResponse, 'pre_reasoning'> {
  if (block.kind === 'research')
    return {
      tool_name: 'research_agent',
      tool_arguments: { task: block.task },
      tool_result: block.failure?.exception ?? block.report,
      search_docs: block.citedDocuments,
      generated_images: null,
    }
  return {
    tool_name: block.toolName,
    tool_arguments: block.arguments,
    tool_result: resultText(block),
    search_docs: block.documents,
    generated_images: block.images,
  }
}

const placeOf = (detail: ToolCallDetail): Placement => ({
  turn_index: detail.turn_index,
  tab_index: detail.tab_index,
  sub_turn_index: detail.sub_turn_index ?? null,
  model_index: null,
})

/** By turn, then tab; the steps of an agent before the agent itself, since they end first. */
function byPlace(left: Placement, right: Placement): number {
  const sub = (placement: Placement): number => placement.sub_turn_index ?? Number.MAX_SAFE_INTEGER
  return left.turn_index - right.turn_index || left.tab_index - right.tab_index || sub(left) - sub(right)
}

function toolCallsOf(blocks: readonly Block[], details: readonly ToolCallDetail[]): ToolCallResponse[] {
  const shown = blocks
    .filter((block) => block.kind === 'tool' || block.kind === 'research')
    .filter((block) => block.progress !== 'writing')
  const streamed = shown.map((block) => {
    const detail = details.find((each) => isSamePlace(placeOf(each), block.placement))
    const call = callOf(block)
    return { place: block.placement, call: detail ? mergedCall(call, detail) : call }
  })
  const others = details
    .filter((detail) => !shown.some((block) => isSamePlace(placeOf(detail), block.placement)))
    .map((detail) => ({ place: placeOf(detail), call: mergedCall(undefined, detail) }))
  return [...streamed, ...others]
    .sort((left, right) => byPlace(left.place, right.place))
    .map(({ place, call }) => ({ ...call, pre_reasoning: reasoningBefore(blocks, place) }))
}

function mergedCall(
  call: Omit<ToolCallResponse, 'pre_reasoning'> | undefined,
  detail: ToolCallDetail,
): Omit<ToolCallResponse, 'pre_reasoning'> {
  return {
    tool_name: detail.tool_name,
    tool_arguments: detail.tool_arguments,
    tool_result: detail.tool_result,
    search_docs: detail.search_docs === undefined ? (call?.search_docs ?? null) : detail.search_docs,
    generated_images:
      detail.generated_images === undefined ? (call?.generated_images ?? null) : detail.generated_images,
  }
}

const newState = (): ChangingState => ({
  revision: 0,
  phase: 'waiting',
  chatSessionId: null,
  isIncognito: false,
  userMessageId: null,
  messageId: null,
  models: [],
  blocks: [],
  documents: [],
  citations: [],
  failures: [],
  errorLine: null,
  usage: null,
})

function applyErrorLine(state: ChangingState, line: ErrorLine): void {
  state.phase = 'failed'
  state.errorLine = line
  endBlocks(state, 'stopped')
}

/** Folds one line into the state; answers whether it changed something. */
function applyLine(state: ChangingState, line: StreamLine, modelIndex: number): boolean {
  if ('obj' in line) return applyOwnPacket(state, line, modelIndex)
  if ('chat_session_id' in line) {
    state.chatSessionId = line.chat_session_id
    state.isIncognito = line.incognito
  } else if ('reserved_assistant_message_id' in line) {
    state.userMessageId = line.user_message_id
    state.messageId = line.reserved_assistant_message_id
  } else if ('responses' in line) {
    state.userMessageId = line.user_message_id
    state.messageId = line.responses[modelIndex]?.message_id ?? null
    state.models = line.responses
  } else if ('error' in line) {
    const failed = line.details?.model_index
    if (typeof failed === 'number' && failed !== modelIndex) return false
    applyErrorLine(state, line)
  }
  return lineKind(line) !== 'unknown'
}

function applyOwnPacket(state: ChangingState, packet: Packet, modelIndex: number): boolean {
  const { model_index } = packet.placement
  const isOwn = model_index === null || model_index === modelIndex
  // What follows a model's own end (the shared stop of a cancel) does not reopen it.
  if (!isOwn || packet.obj.type === 'chat_heartbeat' || isOver(state)) return false
  state.phase = 'running'
  applyPacket(state, packet)
  return true
}

const isOver = (state: FoldState): boolean =>
  state.phase === 'done' || state.phase === 'stopped' || state.phase === 'failed'

/** Starts a fold. The same lines always give the same result, whether folded at once or as they come. */
export function createFold(beside: FoldBeside = {}): Fold {
  const state = newState()
  return {
    add(line) {
      if (!applyLine(state, line, beside.modelIndex ?? 0)) return
      state.revision++
      if (state.phase === 'waiting') state.phase = 'running'
    },
    addFailures(calls) {
      if (markFailures(state, calls)) state.revision++
    },
    get lacksResult() {
      return state.blocks.some((block) => block.kind === 'tool' && block.progress === 'done' && isEmpty(block))
    },
    get state() {
      return state
    },
    get answer() {
      return lastText(state.blocks)
    },
    get reasoning() {
      return lastReasoning(state.blocks)
    },
    result() {
      const answer = lastText(state.blocks)
      return {
        answer,
        answer_citationless: stripCitations(answer),
        pre_answer_reasoning: lastReasoning(state.blocks),
        tool_calls: toolCallsOf(state.blocks, beside.toolCalls ?? []),
        top_documents: state.documents,
        citation_info: [...state.citations],
        message_id: state.messageId ?? beside.messageId ?? 0,
        chat_session_id: state.chatSessionId ?? beside.chatSessionId ?? null,
        incognito: state.isIncognito,
        error_msg: state.errorLine?.error ?? null,
        ...(state.usage && { usage: state.usage }),
      }
    },
  }
}

/** The whole answer of all lines of a run. */
export function fold(lines: Iterable<StreamLine>, beside?: FoldBeside): ChatFullResponse {
  const folded = createFold(beside)
  for (const line of lines) folded.add(line)
  return folded.result()
}
