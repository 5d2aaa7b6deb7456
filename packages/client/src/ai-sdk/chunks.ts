import {
  createFold,
  isErrorLine,
  isPacket,
  pendingApprovals,
  type FailedToolCall,
  type FoldState,
  type Packet,
  type PlanBlock,
  type ResearchBlock,
  type SearchDoc,
  type StreamLine,
  type ToolBlock,
} from '@inlay/protocol'
import { shownDocuments } from '../conversation/turn.ts'
import type { InlayChunk } from './messages.ts'
import { toolChunks, type SentCall } from './tool-chunks.ts'

export interface ShownFile {
  readonly url: string
  readonly mediaType: string
  readonly name: string
}

/** Reads a file of the conversation; undefined if it cannot be read. */
export type FileReader = (fileId: string) => Promise<ShownFile | undefined>

export interface ChunkWriter {
  add(line: StreamLine): AsyncGenerator<InlayChunk>
  addFailures(calls: readonly FailedToolCall[]): AsyncGenerator<InlayChunk>
  /** Whether a call has ended without any result. */
  readonly lacksResult: boolean
  readonly state: FoldState
}

interface Sent extends SentCall {
  /** The open text part; `count` distinguishes the parts of one block. */
  text: { id: string; isOpen: boolean; count: number }
  files: number
}

interface Progress {
  readonly state: FoldState
  readonly continued: ReadonlyMap<string, string>
  /** By the index of the block. */
  readonly blocks: Sent[]
  citations: number
}

/**
 * @param sessionId id of the session, if it existed before and is not in the stream
 * @param options.failedCalls failed calls of a stored answer
 * @param options.continued calls of the message before that a person decided about, their ids in the page by those of the
 * service: the answer begins with them and goes on in that message
 */
export function createChunkWriter(
  sessionId: string | undefined,
  readFile: FileReader,
  {
    failedCalls = [],
    continued = new Map(),
  }: { readonly failedCalls?: readonly FailedToolCall[]; readonly continued?: Progress['continued'] } = {},
): ChunkWriter {
  const fold = createFold({ chatSessionId: sessionId ?? null })
  const { state } = fold
  const progress: Progress = { state, continued, blocks: [], citations: 0 }
  return {
    state,
    get lacksResult() {
      return fold.lacksResult
    },
    async *addFailures(calls) {
      fold.addFailures(calls)
      yield* changes(progress, readFile)
    },
    async *add(line) {
      fold.add(line)
      fold.addFailures(failedCalls)
      if ('reserved_assistant_message_id' in line || 'responses' in line) yield startChunk(progress, sessionId)
      else if (isErrorLine(line)) {
        yield* closeTexts(progress)
        yield* changes(progress, readFile)
        const { error: message, error_code: code, is_retryable: isRetryable } = line
        yield { type: 'message-metadata', messageMetadata: { error: { message, code, isRetryable } } }
      } else if (isPacket(line)) yield* packetChunks(line, progress, readFile)
    },
  }
}

async function* packetChunks(packet: Packet, progress: Progress, readFile: FileReader): AsyncGenerator<InlayChunk> {
  const { obj } = packet
  if (obj.type === 'message_delta') yield* textDelta('text', packet, obj.content, progress)
  else if (obj.type === 'reasoning_delta') yield* textDelta('reasoning', packet, obj.reasoning, progress)
  else if (obj.type !== 'chat_heartbeat') yield* changes(progress, readFile)
  if (obj.type === 'reasoning_done' || obj.type === 'stop') yield* closeTexts(progress)
  if (obj.type !== 'stop') return
  yield* goneChunks(progress)
  yield finishChunk(progress.state)
}

function sentOf({ blocks, state, continued }: Progress, index: number): Sent {
  const block = state.blocks[index]
  const knownId = block?.kind === 'tool' ? continued.get(block.approvalResponse?.tool_call_id ?? '') : undefined
  return (blocks[index] ??= {
    id: knownId ?? `${state.messageId ?? ''}-${index}`,
    text: { id: '', isOpen: false, count: 0 },
    outputLength: 0,
    isStarted: knownId !== undefined,
    isContinued: knownId !== undefined,
    isOver: false,
    files: 0,
  })
}

/** Whether a call may be one that a person decided about: the packet right behind its start tells which. */
const isUnknown = (block: ToolBlock, { continued }: Progress): boolean =>
  continued.size > 0 &&
  block.placement.turn_index === 0 &&
  block.progress === 'running' &&
  !(block.approvalResponse ?? block.approvalRequest)

/** Ends the calls that the answer left out, or a page would send what was decided about them again. */
function* goneChunks({ blocks, continued, state }: Progress): Generator<InlayChunk> {
  const reason = state.phase === 'stopped' ? 'The answer was stopped.' : 'This tool is no longer there.'
  const errorText = `${reason} The call was not made.`
  for (const toolCallId of continued.values())
    if (blocks.every((sent) => sent?.id !== toolCallId)) yield { type: 'tool-output-error', toolCallId, errorText }
}

/** A delta belongs to the newest block with its placement, as in the fold. */
function* textDelta(
  kind: 'text' | 'reasoning',
  { placement }: Packet,
  delta: string,
  progress: Progress,
): Generator<InlayChunk> {
  // Intermediate text and reasoning of research agents are not part of the answer.
  if (placement.sub_turn_index !== null || delta === '') return
  const index = progress.state.blocks.findLastIndex(
    (block) => block.kind === kind && block.placement.turn_index === placement.turn_index,
  )
  if (index < 0) return
  const { text, id } = sentOf(progress, index)
  if (!text.isOpen) {
    yield* closeTexts(progress)
    Object.assign(text, { isOpen: true, id: `${id}-${text.count++}` })
    yield { type: `${kind}-start`, id: text.id }
  }
  yield { type: `${kind}-delta`, id: text.id, delta }
}

function* closeTexts({ blocks, state }: Progress): Generator<InlayChunk> {
  for (const [index, sent] of blocks.entries()) {
    if (!sent?.text.isOpen) continue
    sent.text.isOpen = false
    yield { type: state.blocks[index]?.kind === 'reasoning' ? 'reasoning-end' : 'text-end', id: sent.text.id }
  }
}

/** Chunks for everything except text that changed since the last packet. */
async function* changes(progress: Progress, readFile: FileReader): AsyncGenerator<InlayChunk> {
  const { state } = progress
  for (const [index, block] of state.blocks.entries()) {
    if (block.kind === 'tool' && isUnknown(block, progress)) continue
    const sent = sentOf(progress, index)
    if (block.kind === 'tool') {
      if (!sent.isStarted) yield* closeTexts(progress)
      yield* toolChunks(block, sent)
      yield* fileChunks(block, sent, readFile)
    } else if (block.kind === 'plan') yield* planChunk(block, sent)
    else if (block.kind === 'research') yield* researchChunk(block, sent)
  }
  for (const { citation_number: number, document_id: id } of state.citations.slice(progress.citations))
    yield sourceChunk(number, id, documentOf(state, id))
  progress.citations = state.citations.length
}

async function* fileChunks(block: ToolBlock, sent: Sent, readFile: FileReader): AsyncGenerator<InlayChunk> {
  const ids = [...(block.images ?? []).map((image) => image.file_id), ...block.fileIds]
  for (const fileId of ids.slice(sent.files)) {
    sent.files++
    const file = await readFile(fileId)
    if (file === undefined) continue
    const { name, ...shown } = file
    yield { type: 'file', ...shown, providerMetadata: { inlay: { fileId, name } } }
  }
}

function startChunk({ state, continued }: Progress, known: string | undefined): InlayChunk {
  const { chatSessionId, messageId, userMessageId } = state
  const sessionId = chatSessionId ?? known
  return {
    type: 'start',
    ...(continued.size === 0 && { messageId: String(messageId) }),
    messageMetadata: {
      ...(sessionId !== undefined && { sessionId }),
      ...(messageId !== null && { messageId }),
      ...(userMessageId !== null && { questionId: userMessageId }),
    },
  }
}

function finishChunk(state: FoldState): InlayChunk {
  const { phase, usage } = state
  const isPaused = pendingApprovals(state).length > 0
  const finishReason = phase === 'stopped' ? 'interrupted' : isPaused ? 'tool-calls' : 'stop'
  return { type: 'finish', finishReason, ...(usage !== null && { messageMetadata: { usage } }) }
}

function* planChunk(block: PlanBlock, sent: Sent): Generator<InlayChunk> {
  if (!isWorthSending(block.text.length, block.isDone, sent)) return
  yield { type: 'data-plan', id: sent.id, data: { text: block.text, isDone: block.isDone } }
}

function* researchChunk(block: ResearchBlock, sent: Sent): Generator<InlayChunk> {
  const { task, report, progress, citedDocuments } = block
  if (progress === 'writing' || !isWorthSending(report.length, progress !== 'running', sent)) return
  yield { type: 'data-research', id: sent.id, data: { task, report, progress, documents: citedDocuments ?? [] } }
}

/** Data parts are always sent whole, so a growing text is only sent again when it has grown by a tenth. */
function isWorthSending(length: number, isDone: boolean, sent: Sent): boolean {
  if (sent.isOver || (sent.isStarted && !isDone && length < sent.outputLength * 1.1 + 1)) return false
  Object.assign(sent, { isStarted: true, isOver: isDone, outputLength: length })
  return true
}

function documentOf({ documents, blocks }: FoldState, id: string): SearchDoc | undefined {
  return [...documents, ...shownDocuments(blocks)].find((document) => document.document_id === id)
}

function sourceChunk(citation: number, documentId: string, document: SearchDoc | undefined): InlayChunk {
  const { semantic_identifier: title = documentId, link = null, blurb: excerpt = '' } = document ?? {}
  const source = { sourceId: documentId, title, providerMetadata: { inlay: { citation, documentId, excerpt } } }
  if (link !== null && /^https?:/i.test(link)) return { type: 'source-url', url: link, ...source }
  return { type: 'source-document', mediaType: 'text/plain', ...source }
}
