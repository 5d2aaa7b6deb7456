import type { ToolBlock } from '@inlay/protocol'
import type { InlayChunk } from './messages.ts'

const builtIn: ReadonlySet<string> = new Set([
  'internal_search',
  'web_search',
  'open_url',
  'generate_image',
  'run_python',
  'read_file',
  'add_memory',
])

export interface SentCall {
  readonly id: string
  /** Arguments sent while the model was writing them: the name of the last one, and the length of each. */
  draft?: { name: string; lengths: Record<string, number> }
  input?: unknown
  output?: unknown
  outputLength: number
  isStarted: boolean
  isOver: boolean
  /** Whether its approval was requested. */
  isRequested?: boolean
  /** Whether the page knows the call from the message before, with its input. */
  readonly isContinued?: boolean
  hasFailed?: boolean
}

/** Chunks for the difference between what was sent of a call and its current state. */
export function* toolChunks(block: ToolBlock, sent: SentCall): Generator<InlayChunk> {
  const { toolName, progress } = block
  const call = callOf(block, sent)
  if (sent.isOver) {
    // The reason of a failure may arrive later, from the stored answer.
    if (progress === 'failed' && !sent.hasFailed) yield failureChunk(block, sent)
    return
  }
  if (!sent.isStarted) yield { type: 'tool-input-start', toolName, ...call, toolMetadata: placeOf(block) }
  sent.isStarted = true
  if (progress === 'writing') {
    yield* draftChunks(block, sent)
    return
  }
  sent.isOver = progress !== 'running'
  const isInputKnown = Object.keys(block.arguments).length > 0 || sent.isOver || hasOutput(block)
  if (sent.input !== block.arguments && isInputKnown && !sent.isContinued) {
    sent.input = block.arguments
    yield { type: 'tool-input-available', toolName, input: block.arguments, ...call, toolMetadata: placeOf(block) }
  }
  if (block.approvalRequest && !sent.isRequested) {
    sent.isRequested = true
    yield { type: 'tool-approval-request', approvalId: block.approvalRequest.tool_call_id, toolCallId: sent.id }
  }
  if (block.approvalRequest && progress !== 'stopped') return
  if (sent.isOver && block.approvalResponse?.approved === false) {
    yield { type: 'tool-output-denied', toolCallId: sent.id }
    return
  }
  if (sent.isOver && failureOf(block) !== undefined) yield failureChunk(block, sent)
  else if (sent.isOver || hasNews(block, sent))
    yield { type: 'tool-output-available', output: outputOf(block), preliminary: !sent.isOver, ...call }
}

const callOf = ({ toolName }: ToolBlock, { id }: SentCall) =>
  ({ toolCallId: id, dynamic: !builtIn.has(toolName), providerExecuted: true }) as const

function failureChunk(block: ToolBlock, sent: SentCall): InlayChunk {
  sent.hasFailed = true
  return { type: 'tool-output-error', errorText: failureOf(block) ?? '', ...callOf(block, sent) }
}

/** Groups the steps of parallel calls and of research agents. */
function placeOf({ placement: { turn_index: turn, tab_index: tab, sub_turn_index: step } }: ToolBlock): {
  turn: number
  tab: number
  step: number | null
} {
  return { turn, tab, step }
}

/** Emits the JSON of the arguments written so far; they are strings, in order. */
function* draftChunks(block: ToolBlock, sent: SentCall): Generator<InlayChunk> {
  const draft = (sent.draft ??= { name: '', lengths: {} })
  for (const [name, value] of Object.entries(block.arguments)) {
    const text = String(value)
    const length = draft.lengths[name] ?? 0
    if (text.length === length && name in draft.lengths) continue
    let piece = JSON.stringify(text.slice(length)).slice(1, -1)
    if (!(name in draft.lengths)) piece = `${draft.name === '' ? '{' : '",'}${JSON.stringify(name)}:"${piece}`
    // An argument that grows after the next one has started is sent with the complete call.
    else if (draft.name !== name) continue
    draft.name = name
    draft.lengths[name] = text.length
    yield { type: 'tool-input-delta', toolCallId: sent.id, inputTextDelta: piece }
  }
}

const hasOutput = ({ documents, images, output, errorOutput, data }: ToolBlock): boolean =>
  documents !== null || images !== null || data !== null || output !== '' || errorOutput !== ''

/** Whether the output has changed enough to be sent: long texts only after they grew by a tenth. */
function hasNews(block: ToolBlock, sent: SentCall): boolean {
  if (!hasOutput(block)) return false
  const known = block.documents ?? block.images ?? block.data
  const length = block.output.length + block.errorOutput.length
  if (known === sent.output && length < sent.outputLength * 1.1 + 1) return false
  sent.output = known
  sent.outputLength = length
  return true
}

function failureOf({ failure, credentialError, progress }: ToolBlock): string | undefined {
  if (failure !== null) return failure.exception
  if (credentialError !== null) return credentialError.message
  return progress === 'stopped' ? 'The answer ended before this was done.' : undefined
}

function outputOf({ toolName, documents, images, output, errorOutput, fileIds, data }: ToolBlock): unknown {
  if (images !== null) return { images }
  if (/_search$|^open_url$/.test(toolName)) return { documents: documents ?? [] }
  if (toolName === 'run_python' || toolName === 'bash')
    return { stdout: output, stderr: errorOutput, fileIds, ...(typeof data === 'object' ? data : {}) }
  return fileIds.length === 0 ? (data ?? output) : { data, fileIds }
}
