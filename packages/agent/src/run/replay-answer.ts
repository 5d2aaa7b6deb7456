import type { Packet, PacketBody, SearchDoc } from '@inlay/protocol'

export interface ReplayCall {
  readonly turnIndex: number
  readonly tabIndex: number
  readonly reasoning: string | null
  /** Arguments as the model gave them. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** The packets of the call as they were sent, without its `section_end`. */
  readonly packets: readonly PacketBody[]
}

export interface ReplayAnswer {
  readonly text: string
  readonly reasoning: string | null
  readonly documents: readonly SearchDoc[] | null
  /** In order of appearance. */
  readonly citations: readonly { readonly number: number; readonly documentId: string }[]
  readonly wasCancelled: boolean
  readonly calls: readonly ReplayCall[]
}

/**
 * Creates the packets of a stored answer: each turn of calls with the reasoning before it, the reasoning of the answer,
 * its text in one piece, its citations, and a stop. The original packets are not stored.
 */
export function replayPackets(answer: ReplayAnswer): Packet[] {
  const packets: Packet[] = []
  const add = (turn: number, tab: number, ...bodies: PacketBody[]): void => {
    const placement = { turn_index: turn, tab_index: tab, sub_turn_index: null, model_index: null }
    for (const obj of bodies) packets.push({ placement, obj })
  }
  const turns = [...new Set(answer.calls.map(({ turnIndex }) => turnIndex))].toSorted((a, b) => a - b)
  for (const turn of turns) {
    const calls = answer.calls.filter(({ turnIndex }) => turnIndex === turn)
    const reasoning = calls.find((call) => call.reasoning !== null)?.reasoning
    const isFree = turn > 0 && !turns.includes(turn - 1)
    if (reasoning) add(isFree ? turn - 1 : turn, 0, ...reasoningPackets(reasoning))
    const agents = calls.filter(({ packets: own }) => own.some(({ type }) => type === 'research_agent_start')).length
    if (agents > 1) add(turn, 0, { type: 'top_level_branching', num_parallel_branches: agents })
    for (const call of calls.toSorted((a, b) => a.tabIndex - b.tabIndex)) {
      add(turn, call.tabIndex, ...callPackets(call), { type: 'section_end' })
    }
  }
  let turn = turns.at(-1) ?? 0
  if (answer.reasoning) add(++turn, 0, ...reasoningPackets(answer.reasoning))
  if (answer.text !== '') {
    const documents = answer.documents === null ? null : byScore(answer.documents)
    add(
      ++turn,
      0,
      { type: 'message_start', final_documents: documents, pre_answer_processing_seconds: null },
      { type: 'message_delta', content: answer.text },
      { type: 'section_end' },
    )
  }
  if (answer.citations.length > 0) {
    const infos = answer.citations.map(({ number, documentId }): PacketBody => ({
      type: 'citation_info',
      citation_number: number,
      document_id: documentId,
    }))
    add(++turn, 0, ...infos, { type: 'section_end' })
  }
  add(turn, 0, { type: 'stop', stop_reason: answer.wasCancelled ? 'user_cancelled' : null })
  return packets
}

/** Documents by descending score; those without a score last, otherwise in the given order. */
export function byScore(documents: readonly SearchDoc[]): SearchDoc[] {
  return documents.toSorted((a, b) => (b.score ?? -1) - (a.score ?? -1))
}

function reasoningPackets(reasoning: string): PacketBody[] {
  return [{ type: 'reasoning_start' }, { type: 'reasoning_delta', reasoning }, { type: 'section_end' }]
}

function callPackets({ packets, arguments: given }: ReplayCall): PacketBody[] {
  const output = packets.filter(({ type }) => type === 'python_tool_delta')
  return packets.flatMap((packet): PacketBody[] => {
    switch (packet.type) {
      // Filters and progress matter only while the answer is streamed.
      case 'search_tool_filter_delta':
        return []
      case 'image_generation_heartbeat':
        return []
      case 'search_tool_queries_delta':
        return [{ ...packet, queries: isTexts(given['queries']) ? given['queries'] : packet.queries }]
      case 'search_tool_documents_delta':
        return [{ ...packet, documents: byScore(packet.documents) }]
      case 'python_tool_delta':
        return packet === output[0] ? [joined(output)] : []
      default:
        return [packet]
    }
  })
}

/** Output in one piece. */
function joined(output: readonly PacketBody[]): PacketBody {
  const deltas = output.filter((packet) => packet.type === 'python_tool_delta')
  return {
    type: 'python_tool_delta',
    stdout: deltas.map(({ stdout }) => stdout).join(''),
    stderr: deltas.map(({ stderr }) => stderr).join(''),
    file_ids: deltas.flatMap(({ file_ids: ids }) => ids),
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}
