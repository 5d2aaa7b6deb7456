import * as v from 'valibot'
import { packetSchema } from '@inlay/protocol'
import type { Packet, Placement, SearchDoc, StreamLine } from '@inlay/protocol'

type Fault = (index: number, text: string) => void

const startOf = (type: string): boolean => type === 'search_tool_start' || type === 'open_url_start'
const ofCall = (type: string): boolean => /^(?:search_tool|open_url)_/.test(type)
const placeOf = ({ turn_index: turn, tab_index: tab, sub_turn_index: sub }: Placement): string =>
  `${turn}.${tab}.${sub}`

/**
 * Checks the lines of a deep research against the order rules of the stream.
 * @returns what is wrong, one sentence each; [] when nothing is
 */
export function researchFaults(lines: readonly StreamLine[]): string[] {
  const faults: string[] = []
  const fault: Fault = (index, text) => void faults.push(`packet ${index}: ${text}`)
  const packets = lines.filter((line): line is Packet => 'obj' in line && line.obj.type !== 'chat_heartbeat')
  const last = packets.at(-1)?.obj
  const hasFailed = 'error' in (lines.at(-1) ?? {})
  const stops = packets.filter(({ obj }) => obj.type === 'stop').length
  if (stops !== (hasFailed ? 0 : 1)) fault(0, 'stop is not there once')
  if (last?.type !== (hasFailed ? 'error' : 'stop')) fault(packets.length, 'a wrong end')
  for (const [index, packet] of packets.entries()) {
    if (v.safeParse(packetSchema, packet).issues) fault(index, `${packet.obj.type} does not fit its schema`)
  }
  const emitted = packets.filter(({ obj }) => obj.type !== 'stop')
  checkTurns(emitted, fault)
  checkBlocks(emitted, fault)
  checkAgents(emitted, fault)
  checkAnswer(emitted, fault)
  return faults
}

function checkTurns(packets: readonly Packet[], fault: Fault): void {
  let turn = 0
  for (const [index, { placement, obj }] of packets.entries()) {
    if (placement.turn_index < turn) fault(index, `${obj.type} goes back to turn ${placement.turn_index}`)
    turn = Math.max(turn, placement.turn_index)
    if (placement.model_index !== 0) fault(index, 'another model')
  }
}

/** Blocks open and close: plan, reasoning, calls. */
function checkBlocks(packets: readonly Packet[], fault: Fault): void {
  const open = new Map<string, string>()
  for (const [index, { placement, obj }] of packets.entries()) {
    const place = placeOf(placement)
    const now = open.get(place)
    if (obj.type === 'reasoning_start' || obj.type === 'deep_research_plan_start' || startOf(obj.type)) {
      if (now !== undefined) fault(index, `${obj.type} inside ${now}`)
      open.set(place, obj.type)
    } else if (obj.type === 'reasoning_delta' || obj.type === 'reasoning_done') {
      if (now !== 'reasoning_start') fault(index, `${obj.type} outside of reasoning`)
      if (obj.type === 'reasoning_done') open.delete(place)
    } else if (obj.type === 'deep_research_plan_delta') {
      if (now !== 'deep_research_plan_start') fault(index, 'a plan that has not begun')
      if (obj.content === '') fault(index, 'an empty delta')
    } else if (ofCall(obj.type)) {
      if (now === undefined || !startOf(now)) fault(index, `${obj.type} outside of its call`)
    } else if (obj.type === 'section_end') {
      if (now === 'reasoning_start') fault(index, 'a section ends inside reasoning')
      open.delete(place)
    } else if (now === 'reasoning_start') fault(index, `${obj.type} inside reasoning`)
  }
  for (const [place, what] of open) fault(packets.length, `${what} at ${place} never ends`)
}

interface AgentTrace {
  readonly turn: number
  readonly tab: number
  sub: number
  state: 'searching' | 'reporting' | 'cited' | 'ended'
}

function checkAgents(packets: readonly Packet[], fault: Fault): void {
  const agents = new Map<string, AgentTrace>()
  const branches = new Map<number, number>()
  for (const [index, { placement, obj }] of packets.entries()) {
    const { turn_index: turn, tab_index: tab, sub_turn_index: sub } = placement
    const key = `${turn}.${tab}`
    const agent = agents.get(key)
    if (obj.type === 'top_level_branching') {
      if (agents.has(`${turn}.0`) || branches.has(turn)) fault(index, 'branching comes late')
      branches.set(turn, obj.num_parallel_branches)
    } else if (obj.type === 'research_agent_start') {
      if (agent) fault(index, `a second agent at ${key}`)
      if (sub !== null) fault(index, 'an agent inside an agent')
      agents.set(key, { turn, tab, sub: 0, state: 'searching' })
    } else if (agent) {
      checkAgentPacket(agent, sub, obj.type, (text) => fault(index, `${obj.type} at ${key}: ${text}`))
    } else if (sub !== null || obj.type.startsWith('intermediate')) fault(index, `${obj.type} without its agent`)
    const open = [...agents.values()].find(({ turn: other, state }) => other < turn && state !== 'ended')
    if (open) fault(index, `turn ${turn} begins before agent ${open.turn}.${open.tab} has ended`)
  }
  for (const [turn, count] of branches) {
    const own = [...agents.values()].filter((agent) => agent.turn === turn).length
    if (own !== count || count < 2) fault(packets.length, `turn ${turn} has ${own} agents, announced were ${count}`)
  }
  for (const { turn, tab, state } of agents.values()) {
    if (state !== 'ended') fault(packets.length, `agent ${turn}.${tab} never ends`)
    if (tab > 0 && !branches.has(turn)) fault(packets.length, `turn ${turn} branches unannounced`)
  }
}

function checkAgentPacket(agent: AgentTrace, sub: number | null, type: string, fault: (text: string) => void): void {
  if (agent.state === 'ended') return fault('the agent has ended')
  if (sub !== null) {
    if (agent.state !== 'searching') fault('a step after the report has begun')
    if (sub < agent.sub) fault(`goes back to step ${sub}`)
    agent.sub = Math.max(agent.sub, sub)
  } else if (type === 'intermediate_report_start') {
    if (agent.state !== 'searching') fault('a second report')
    agent.state = 'reporting'
  } else if (type === 'intermediate_report_delta') {
    if (agent.state !== 'reporting') fault('outside of its report')
  } else if (type === 'intermediate_report_cited_docs') {
    if (agent.state !== 'reporting') fault('sources of no report')
    agent.state = 'cited'
  } else if (type === 'section_end' || type === 'error') agent.state = 'ended'
}

/** Citations of all agents, numbered by turn, then tab, each document once. */
function citedByAgents(packets: readonly Packet[]): string[] {
  const cited = packets
    .flatMap(({ placement, obj }) =>
      obj.type === 'intermediate_report_cited_docs' ? [{ placement, documents: obj.cited_docs ?? [] }] : [],
    )
    .toSorted(
      (left, right) =>
        left.placement.turn_index - right.placement.turn_index || left.placement.tab_index - right.placement.tab_index,
    )
  return [...new Set(cited.flatMap(({ documents }) => documents.map((document) => document.document_id)))]
}

function checkAnswer(packets: readonly Packet[], fault: Fault): void {
  const start = packets.findIndex(({ obj }) => obj.type === 'message_start')
  const first = packets[start]?.obj
  if (first?.type !== 'message_start') return
  const documents: readonly SearchDoc[] = first.final_documents ?? []
  const ids = documents.map(({ document_id: id }) => id)
  if (first.final_documents !== null && ids.join() !== citedByAgents(packets).join()) {
    fault(start, 'the final documents are not those cited by agents, in their order')
  }
  let text = ''
  const emitted = new Set<string>()
  for (const [index, { placement, obj }] of packets.entries()) {
    if (index <= start) continue
    if (placement.turn_index !== packets[start]?.placement.turn_index) fault(index, `${obj.type} leaves the answer`)
    if (obj.type === 'message_delta') text += obj.content
    else if (obj.type === 'citation_info') {
      if (ids[obj.citation_number - 1] !== obj.document_id) fault(index, 'a number of another document')
      if (emitted.has(obj.document_id)) fault(index, 'a document told twice')
      emitted.add(obj.document_id)
    } else if (obj.type !== 'error') fault(index, `${obj.type} inside the answer`)
  }
  for (const [, number, link] of text.matchAll(/\[\[(\d+)\]\]\(((?:[^()]|\([^()]*\))*)\)/g)) {
    const document = documents[Number(number) - 1]
    if (!document) fault(start, `[${number}] names nothing`)
    else if (link !== encodeURI(decodeURI(document.link ?? '')) && link !== (document.link ?? ''))
      fault(start, `[${number}] leads elsewhere`)
    if (document && !emitted.has(document.document_id)) fault(start, `[${number}] was not told`)
  }
}
