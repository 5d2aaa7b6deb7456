import type { BlockProgress, ChangingBlock, ChangingBlockOf, ChangingState } from './fold-state.ts'
import type { FailedToolCall } from '../resources/sessions.ts'
import type { Packet, PacketOf, PacketType, Placement } from '../packets/packet-types.ts'

type Apply<Type extends PacketType> = (state: ChangingState, packet: PacketOf<Type>, placement: Placement) => void

export function isSamePlace(left: Placement, right: Placement): boolean {
  return (
    left.turn_index === right.turn_index &&
    left.tab_index === right.tab_index &&
    left.sub_turn_index === right.sub_turn_index
  )
}

const isRunning = (block: ChangingBlock): boolean =>
  'progress' in block ? block.progress === 'running' || block.progress === 'writing' : !block.isDone

/** The latest open block of a kind at a place. Deltas are appended to it. */
function openBlock<Kind extends ChangingBlock['kind']>(
  state: ChangingState,
  kind: Kind,
  placement: Placement,
): ChangingBlockOf<Kind> | undefined {
  for (let at = state.blocks.length - 1; at >= 0; at--) {
    const block = state.blocks[at]
    // The compiler does not narrow a generic kind by this comparison.
    if (block?.kind === kind && isRunning(block) && isSamePlace(block.placement, placement))
      return block as ChangingBlockOf<Kind>
  }
  return undefined
}

function added<Value extends ChangingBlock>(state: ChangingState, block: Value): Value {
  state.blocks.push(block)
  return block
}

const textAt = (state: ChangingState, placement: Placement): ChangingBlockOf<'text'> =>
  openBlock(state, 'text', placement) ??
  added(state, { kind: 'text', placement, text: '', isDone: false, preAnswerSeconds: null })

const reasoningAt = (state: ChangingState, placement: Placement): ChangingBlockOf<'reasoning'> =>
  openBlock(state, 'reasoning', placement) ?? added(state, { kind: 'reasoning', placement, text: '', isDone: false })

const planAt = (state: ChangingState, placement: Placement): ChangingBlockOf<'plan'> =>
  openBlock(state, 'plan', placement) ?? added(state, { kind: 'plan', placement, text: '', isDone: false })

const researchAt = (state: ChangingState, placement: Placement): ChangingBlockOf<'research'> =>
  openBlock(state, 'research', placement) ??
  added(state, {
    kind: 'research',
    placement,
    progress: 'running',
    task: '',
    report: '',
    citedDocuments: null,
    failure: null,
  })

function newTool(placement: Placement, toolName: string, progress: BlockProgress): ChangingBlockOf<'tool'> {
  return {
    kind: 'tool',
    placement,
    progress,
    toolName,
    toolId: null,
    arguments: {},
    filter: null,
    documents: null,
    images: null,
    output: '',
    errorOutput: '',
    fileIds: [],
    data: null,
    credentialError: null,
    failure: null,
    approvalRequest: null,
    approvalResponse: null,
  }
}

/** The tool call at a place. Starts one if its start packet is missing. */
const toolAt = (state: ChangingState, placement: Placement, toolName: string): ChangingBlockOf<'tool'> =>
  openBlock(state, 'tool', placement) ?? added(state, newTool(placement, toolName, 'running'))

/** Starts a tool call. If its arguments were already streamed, the existing block takes the new placement. */
function startTool(state: ChangingState, placement: Placement, toolName: string): ChangingBlockOf<'tool'> {
  const drafted = state.blocks.find(
    (block) =>
      block.kind === 'tool' &&
      block.progress === 'writing' &&
      block.toolName === toolName &&
      block.placement.turn_index === placement.turn_index &&
      block.placement.sub_turn_index === placement.sub_turn_index,
  )
  if (drafted?.kind !== 'tool') return added(state, newTool(placement, toolName, 'running'))
  drafted.progress = 'running'
  drafted.placement = placement
  return drafted
}

function endBlock(block: ChangingBlock, progress: BlockProgress): void {
  if ('progress' in block) block.progress = progress
  else block.isDone = true
}

/** Closes all open blocks at the end of a run. */
export function endBlocks(state: ChangingState, progress: BlockProgress): void {
  for (const block of state.blocks) if (isRunning(block)) endBlock(block, progress)
}

const endSection: Apply<'section_end'> = (state, _packet, placement) => {
  const open = state.blocks.findLast((block) => isRunning(block) && isSamePlace(block.placement, placement))
  if (open) endBlock(open, 'done')
}

const stop: Apply<'stop'> = (state, packet) => {
  const wasStopped = packet.stop_reason === 'user_cancelled'
  state.phase = wasStopped ? 'stopped' : 'done'
  state.usage = packet.usage ?? null
  endBlocks(state, wasStopped ? 'stopped' : 'done')
  if (wasStopped) for (const block of state.blocks) if (wasCut(block, state.blocks)) endBlock(block, 'stopped')
}

/** Whether a call of a stopped run ended without its result: its section is closed as if it had found nothing. */
function wasCut(block: ChangingBlock, blocks: readonly ChangingBlock[]): boolean {
  if (block.kind === 'research') return block.progress === 'done' && block.report === ''
  if (
    block.kind !== 'tool' ||
    block.progress !== 'done' ||
    block.documents !== null ||
    !block.toolName.endsWith('_search')
  )
    return false
  const { turn_index: turn, tab_index: tab } = block.placement
  const later = blocks.slice(blocks.indexOf(block) + 1)
  return !later.some(({ placement: at }) => at.turn_index > turn || at.tab_index === tab)
}

const fail: Apply<'error'> = (state, packet, placement) => {
  const failure = { exception: packet.exception, errorCode: packet.error_code, isRetryable: packet.is_retryable }
  const open = openBlock(state, 'tool', placement) ?? openBlock(state, 'research', placement)
  if (!open) {
    state.failures.push(failure)
    return
  }
  open.failure = failure
  open.progress = 'failed'
}

/** Marks the blocks of failed calls. @returns whether any block was marked */
export function markFailures(state: ChangingState, calls: readonly FailedToolCall[]): boolean {
  let hasMarked = false
  for (const { reason, ...place } of calls) {
    const placement = { ...place, model_index: null }
    const block = state.blocks.findLast(
      (each) => (each.kind === 'tool' || each.kind === 'research') && isSamePlace(each.placement, placement),
    )
    // A block that is still running is marked when it ends.
    if ((block?.kind !== 'tool' && block?.kind !== 'research') || block.progress !== 'done') continue
    block.failure = { exception: reason, errorCode: null, isRetryable: false }
    block.progress = 'failed'
    hasMarked = true
  }
  return hasMarked
}

const startText: Apply<'message_start'> = (state, packet, placement) => {
  added(state, {
    kind: 'text',
    placement,
    text: '',
    isDone: false,
    preAnswerSeconds: packet.pre_answer_processing_seconds,
  })
  if (packet.final_documents?.length) state.documents = packet.final_documents
}

const writeArguments: Apply<'tool_call_argument_delta'> = (state, packet, placement) => {
  const tool = openBlock(state, 'tool', placement) ?? added(state, newTool(placement, packet.tool_type, 'writing'))
  const grown = Object.entries(packet.argument_deltas).map(([name, delta]) => {
    const before = Object.hasOwn(tool.arguments, name) ? tool.arguments[name] : ''
    return [name, `${String(before)}${String(delta)}`]
  })
  tool.arguments = { ...tool.arguments, ...Object.fromEntries(grown) }
}

const nothing = (): void => {}

/* @__NO_SIDE_EFFECTS__ */
const starting =
  (toolName: string): Apply<PacketType> =>
  (state, _packet, placement) =>
    void startTool(state, placement, toolName)

const runOutput: Apply<'python_tool_delta' | 'bash_tool_delta'> = (state, packet, placement) => {
  const tool = toolAt(state, placement, packet.type === 'bash_tool_delta' ? 'bash' : 'run_python')
  tool.output += packet.stdout
  tool.errorOutput += packet.stderr
  if ('file_ids' in packet) tool.fileIds = [...tool.fileIds, ...packet.file_ids]
  else tool.data = { exit_code: packet.exit_code, timed_out: packet.timed_out }
}

const customAnswer: Apply<'custom_tool_delta'> = (state, packet, placement) => {
  const tool = toolAt(state, placement, packet.tool_name)
  tool.data = packet.data
  tool.fileIds = [...tool.fileIds, ...(packet.file_ids ?? [])]
  tool.credentialError = packet.error
}

/** State change by packet type. Typed so that a new packet type without an entry does not compile. */
const changes: { readonly [Type in PacketType]: Apply<Type> } = {
  section_end: endSection,
  stop,
  top_level_branching: nothing,
  error: fail,
  chat_heartbeat: nothing,

  message_start: startText,
  message_delta: (state, packet, placement) => {
    textAt(state, placement).text += packet.content
  },
  citation_info: (state, packet) => {
    state.citations.push(packet)
  },

  reasoning_start: (state, _packet, placement) => {
    added(state, { kind: 'reasoning', placement, text: '', isDone: false })
  },
  reasoning_delta: (state, packet, placement) => {
    reasoningAt(state, placement).text += packet.reasoning
  },
  reasoning_done: (state, _packet, placement) => {
    reasoningAt(state, placement).isDone = true
  },

  search_tool_start: (state, packet, placement) => {
    startTool(state, placement, packet.is_internet_search ? 'web_search' : 'internal_search')
  },
  search_tool_queries_delta: (state, packet, placement) => {
    const tool = toolAt(state, placement, 'internal_search')
    tool.arguments = { ...tool.arguments, queries: packet.queries }
  },
  search_tool_filter_delta: (state, packet, placement) => {
    const { type: _, ...filter } = packet
    toolAt(state, placement, 'internal_search').filter = filter
  },
  search_tool_documents_delta: (state, packet, placement) => {
    const tool = toolAt(state, placement, 'internal_search')
    tool.documents = [...(tool.documents ?? []), ...packet.documents]
  },

  open_url_start: starting('open_url'),
  open_url_urls: (state, packet, placement) => {
    const tool = toolAt(state, placement, 'open_url')
    tool.arguments = { ...tool.arguments, urls: packet.urls }
  },
  open_url_documents: (state, packet, placement) => {
    const tool = toolAt(state, placement, 'open_url')
    tool.documents = [...(tool.documents ?? []), ...packet.documents]
  },

  image_generation_start: starting('generate_image'),
  image_generation_heartbeat: nothing,
  image_generation_final: (state, packet, placement) => {
    toolAt(state, placement, 'generate_image').images = packet.images
  },

  python_tool_start: (state, packet, placement) => {
    startTool(state, placement, 'run_python').arguments = { code: packet.code }
  },
  python_tool_delta: runOutput,
  bash_tool_start: (state, packet, placement) => {
    startTool(state, placement, 'bash').arguments = { cmd: packet.cmd }
  },
  bash_tool_delta: runOutput,

  custom_tool_start: (state, packet, placement) => {
    startTool(state, placement, packet.tool_name).toolId = packet.tool_id
  },
  custom_tool_args: (state, packet, placement) => {
    toolAt(state, placement, packet.tool_name).arguments = packet.tool_args
  },
  custom_tool_delta: customAnswer,

  file_reader_start: starting('read_file'),
  file_reader_result: (state, packet, placement) => {
    const { type: _, ...part } = packet
    toolAt(state, placement, 'read_file').data = part
  },
  memory_tool_start: starting('add_memory'),
  memory_tool_delta: (state, packet, placement) => {
    const { type: _, ...memory } = packet
    toolAt(state, placement, 'add_memory').data = memory
  },
  memory_tool_no_access: nothing,
  tool_call_argument_delta: writeArguments,
  tool_approval_request: (state, packet, placement) => {
    const tool = toolAt(state, placement, packet.tool_name)
    tool.arguments = packet.arguments
    tool.approvalRequest = packet
  },
  tool_approval_response: (state, packet, placement) => {
    const tool = openBlock(state, 'tool', placement)
    if (tool) tool.approvalResponse = packet
  },
  client_tool_call: nothing,
  tool_call_debug: nothing,

  deep_research_plan_start: (state, _packet, placement) => {
    planAt(state, placement)
  },
  deep_research_plan_delta: (state, packet, placement) => {
    planAt(state, placement).text += packet.content
  },
  research_agent_start: (state, packet, placement) => {
    researchAt(state, placement).task = packet.research_task
  },
  intermediate_report_start: nothing,
  intermediate_report_delta: (state, packet, placement) => {
    researchAt(state, placement).report += packet.content
  },
  intermediate_report_cited_docs: (state, packet, placement) => {
    researchAt(state, placement).citedDocuments = packet.cited_docs
  },

  coding_agent_start: (state, packet, placement) => {
    startTool(state, placement, 'coding_agent').arguments = { query: packet.query, repo: packet.repo }
  },
  coding_agent_thinking_delta: (state, packet, placement) => {
    toolAt(state, { ...placement, sub_turn_index: null }, 'coding_agent').output += packet.content
  },
  coding_agent_final: (state, packet, placement) => {
    toolAt(state, placement, 'coding_agent').data = packet.answer
  },
}

export function applyPacket(state: ChangingState, packet: Packet): void {
  // The table has one entry per type, so the entry for this type accepts this body.
  const change = changes[packet.obj.type] as Apply<PacketType>
  change(state, packet.obj, packet.placement)
}
