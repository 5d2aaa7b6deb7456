import * as v from 'valibot'
import { packetSchema } from '@inlay/protocol'
import type { Packet, SearchDoc, StreamLine } from '@inlay/protocol'

const startTypes = /^(search_tool|open_url|image_generation|custom_tool|file_reader|memory_tool)_start$/
const callTypes =
  /^(search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool)_|^section_end$/

/**
 * Checks the lines of one run of one model against the order rules of the stream.
 * @returns what is wrong, one sentence each; [] when nothing is
 */
export function orderFaults(lines: readonly StreamLine[]): string[] {
  const faults: string[] = []
  const fault = (index: number, text: string): void => void faults.push(`line ${index}: ${text}`)
  const kinds = lines.map((line) => ('obj' in line ? 'packet' : 'error' in line ? 'error' : 'head'))
  const heads = kinds.lastIndexOf('head') + 1
  if (heads !== kinds.filter((kind) => kind === 'head').length || heads < 1) fault(0, 'head lines are not first')
  if (kinds.slice(0, -1).includes('error')) fault(0, 'an error line is not last')

  const packets = lines.filter((line): line is Packet => 'obj' in line)
  const last = packets.at(-1)?.obj
  const failed = kinds.at(-1) === 'error'
  if (failed && last?.type !== 'error') fault(packets.length, 'no error packet before the error line')
  if (!failed && last?.type !== 'stop') fault(packets.length, 'no stop at the end')
  if (packets.filter(({ obj }) => obj.type === 'stop').length !== (failed ? 0 : 1)) fault(0, 'stop is not there once')

  for (const [index, packet] of packets.entries()) {
    if (v.safeParse(packetSchema, packet).issues) fault(index, `${packet.obj.type} does not fit its schema`)
  }
  const isCancelled = last?.type === 'stop' && last.stop_reason === 'user_cancelled'
  const emitted = isCancelled ? packets.slice(0, -1) : packets
  checkTurns(emitted, fault)
  checkReasoning(emitted, fault)
  checkText(emitted, fault)
  checkCalls(emitted, fault)
  return faults
}

type Fault = (index: number, text: string) => void

function checkTurns(packets: readonly Packet[], fault: Fault): void {
  let turn = 0
  for (const [index, { placement, obj }] of packets.entries()) {
    if (placement.turn_index < turn) fault(index, `${obj.type} goes back to turn ${placement.turn_index}`)
    turn = Math.max(turn, placement.turn_index)
    if (placement.sub_turn_index !== null || placement.model_index !== 0) fault(index, 'placement of another kind')
  }
}

function checkReasoning(packets: readonly Packet[], fault: Fault): void {
  let open: number | undefined
  const turns = new Set<number>()
  for (const [index, { placement, obj }] of packets.entries()) {
    const { turn_index: turn, tab_index: tab } = placement
    if (obj.type === 'reasoning_start') {
      if (open !== undefined || turns.has(turn) || tab !== 0) fault(index, 'a second reasoning in its turn')
      open = turn
      turns.add(turn)
    } else if (obj.type === 'reasoning_delta') {
      if (open !== turn) fault(index, 'reasoning outside of its block')
    } else if (obj.type === 'reasoning_done') {
      if (open !== turn) fault(index, 'reasoning ends that is not open')
      open = undefined
    } else {
      if (open !== undefined) fault(index, `${obj.type} inside reasoning`)
      if (turns.has(turn)) fault(index, `${obj.type} shares the turn of reasoning`)
    }
  }
  if (open !== undefined) fault(packets.length, 'reasoning is never done')
}

function checkText(packets: readonly Packet[], fault: Fault): void {
  let turn: number | undefined
  let documents: readonly SearchDoc[] = []
  const cited = new Set<string>()
  const started = new Set<number>()
  for (const [index, { placement, obj }] of packets.entries()) {
    const next = packets[index + 1]
    if (obj.type === 'message_start') {
      if (started.has(placement.turn_index)) fault(index, 'a second message in its turn')
      started.add(placement.turn_index)
      turn = placement.turn_index
      documents = obj.final_documents ?? []
      if (next?.obj.type !== 'message_delta' && next?.obj.type !== 'citation_info')
        fault(index, 'a message without text')
    } else if (obj.type === 'message_delta') {
      if (placement.turn_index !== turn || placement.tab_index !== 0) fault(index, 'text outside of its message')
      if (obj.content === '') fault(index, 'an empty delta')
    } else if (obj.type === 'citation_info') {
      if (cited.has(obj.document_id)) fault(index, `${obj.document_id} is announced twice`)
      cited.add(obj.document_id)
      if (!documents.some((document) => document.document_id === obj.document_id))
        fault(index, 'cites an unknown document')
      const text = next?.obj.type === 'message_delta' ? next.obj.content : next?.obj.type
      const isRendered =
        text !== undefined && (text.includes(`[[${obj.citation_number}]](`) || text === 'citation_info')
      if (!isRendered) fault(index, 'a citation without its link')
    }
  }
}

function checkCalls(packets: readonly Packet[], fault: Fault): void {
  const state = new Map<string, 'open' | 'ended'>()
  const running = new Set<number>()
  const branching = new Map<number, number>()
  for (const [index, { placement, obj }] of packets.entries()) {
    const { turn_index: turn, tab_index: tab } = placement
    const place = `${turn}.${tab}`
    if (obj.type === 'top_level_branching') {
      if (branching.has(turn) || tab !== 0 || obj.num_parallel_branches < 2) fault(index, 'a wrong branching')
      if ([...state.keys()].some((key) => key.startsWith(`${turn}.`))) fault(index, 'a branching after its calls')
      branching.set(turn, obj.num_parallel_branches)
      continue
    }
    if (!callTypes.test(obj.type)) continue
    if (startTypes.test(obj.type)) {
      if (state.has(place)) fault(index, `a second start at ${place}`)
      if (running.has(turn)) fault(index, 'a start after packets of calls')
      state.set(place, 'open')
      continue
    }
    running.add(turn)
    // Needs the code, and so starts from inside the call.
    if (obj.type === 'python_tool_start' && !state.has(place)) state.set(place, 'open')
    if (state.get(place) !== 'open') fault(index, `${obj.type} at ${place}, which is not open`)
    if (obj.type === 'section_end') state.set(place, 'ended')
  }
  for (const [place, how] of state) if (how === 'open') fault(packets.length, `${place} never ends`)
  for (const [turn, count] of branching) {
    const calls = [...state.keys()].filter((key) => key.startsWith(`${turn}.`))
    if (calls.length > count) fault(packets.length, `turn ${turn} has more calls than branches`)
  }
  const turns = new Set([...state.keys()].map((key) => Number(key.split('.')[0])))
  for (const turn of turns) {
    const calls = [...state.keys()].filter((key) => key.startsWith(`${turn}.`))
    if (calls.length > 1 && !branching.has(turn)) fault(packets.length, `turn ${turn} branches unannounced`)
    const hasText = packets.some(({ placement, obj }) => placement.turn_index === turn && obj.type === 'message_start')
    if (hasText && calls.includes(`${turn}.0`))
      fault(packets.length, `a call holds the tab of the text in turn ${turn}`)
  }
}
