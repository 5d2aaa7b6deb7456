import { stripCitations } from './strip-citations.ts'
import { applyPacket, endBlocks, isSamePlace, markFailures } from './fold-packets.ts'
import type { Block, ChangingState, FoldState, ResearchBlock, ToolBlock } from './fold-state.ts'
import { type ErrorLine, lineKind, type StreamLine } from '../framing/lines.ts'
import type { Packet, PacketOf, Placement } from '../packets/packet-types.ts'
import type { GeneratedImage, SearchDoc } from '../packets/search-doc.ts'
import type { FailedToolCall } from '../resources/sessions.ts'
import type { ChatFullResponse, ToolCallResponse } from '../chat/whole-answer.ts'

/** Details of one tool call that the stream lacks, identified by placement. */
export interface ToolCallDetail {
  readonly turn_index: number
  readonly tab_index: number
  /** Set only inside a research agent. */
  readonly sub_turn_index?: number | null
  readonly tool_name: string
  readonly tool_arguments: Readonly<Record<string, unknown>>
  readonly tool_result: string
  /** Absent: the documents from the packets. */
  readonly search_docs?: readonly SearchDoc[] | null
  /** Absent: the images from the packets. */
  readonly generated_images?: readonly GeneratedImage[] | null
}

/** Information that does not come from the lines. */
export interface FoldContext {
  /** Id of the session; needed when the session already existed, since the stream then does not contain it. */
  readonly chatSessionId?: string | null
  /** Id of the answer message, when the lines have no id line. */
  readonly messageId?: number
  /** Index of the model to fold when several answer; default 0. */
  readonly modelIndex?: number
  /** Read when the result is requested, so calls can be added until then. */
  readonly toolCalls?: readonly ToolCallDetail[]
}

/** Incremental fold of the lines of one answer. */
export interface Fold {
  /** Adds the next line. Unknown lines and lines of other models are ignored. */
  add(line: StreamLine): void
  /** Adds the failed calls of the stored answer. The stream ends such a call without a reason. */
  addFailures(calls: readonly FailedToolCall[]): void
  /** Whether a call ended without a result; `failed_calls` of the stored answer has the reason. */
  readonly lacksResult: boolean
  /** Current state for display; always the same object. */
  readonly state: FoldState
  /** Text of the latest step that has text. At the end of the run this is the answer. */
  readonly answer: string
  /** Reasoning of the latest step that has reasoning; null when there is none. */
  readonly reasoning: string | null
  /** The complete answer so far, in the format of `stream: false`. */
  result(): ChatFullResponse
}

/** The calls that a person has to approve before an answer, which has ended, goes on. */
export function pendingApprovals({ phase, blocks }: FoldState): PacketOf<'tool_approval_request'>[] {
  if (phase !== 'done') return []
  return blocks.flatMap((block) => (block.kind === 'tool' && block.approvalRequest ? [block.approvalRequest] : []))
}

const isTopLevel = (block: Block): boolean => block.placement.sub_turn_index === null

function lastText(blocks: readonly Block[]): string {
  const block = blocks.findLast((each) => each.kind === 'text' && isTopLevel(each))
  return block?.kind === 'text' ? block.text : ''
}

/** Reasoning of the latest step, without the reasoning of research agents while they write their report. */
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

/** Reasoning of the previous turn (inside an agent, the previous sub-turn), otherwise of the same turn. */
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

const isEmpty = ({
  documents,
  images,
  data,
  credentialError,
  approvalRequest,
  output,
  errorOutput,
}: ToolBlock): boolean =>
  [documents, images, data, credentialError, approvalRequest].every((result) => result === null) &&
  output + errorOutput === ''

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

/** Orders by turn, then tab. The steps of an agent come before the agent, since they end first. */
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

/** Applies one line to the state. @returns whether the state changed */
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
  // Lines after a model's own stop, such as the shared stop of a cancelled run, do not reopen it.
  if (!isOwn || packet.obj.type === 'chat_heartbeat' || isOver(state)) return false
  state.phase = 'running'
  applyPacket(state, packet)
  return true
}

const isOver = (state: FoldState): boolean =>
  state.phase === 'done' || state.phase === 'stopped' || state.phase === 'failed'

/** Creates a fold. The result depends only on the lines, not on whether they are added at once or as they arrive. */
export function createFold(context: FoldContext = {}): Fold {
  const state = newState()
  return {
    add(line) {
      if (!applyLine(state, line, context.modelIndex ?? 0)) return
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
      const waiting = pendingApprovals(state)
      return {
        answer,
        answer_citationless: stripCitations(answer),
        pre_answer_reasoning: lastReasoning(state.blocks),
        tool_calls: toolCallsOf(state.blocks, context.toolCalls ?? []),
        top_documents: state.documents,
        citation_info: [...state.citations],
        message_id: state.messageId ?? context.messageId ?? 0,
        chat_session_id: state.chatSessionId ?? context.chatSessionId ?? null,
        incognito: state.isIncognito,
        error_msg: state.errorLine?.error ?? null,
        ...(state.usage && { usage: state.usage }),
        ...(waiting.length > 0 && { tool_approvals: waiting }),
      }
    },
  }
}

/** The complete answer from all lines of a run. */
export function fold(lines: Iterable<StreamLine>, context?: FoldContext): ChatFullResponse {
  const folded = createFold(context)
  for (const line of lines) folded.add(line)
  return folded.result()
}
