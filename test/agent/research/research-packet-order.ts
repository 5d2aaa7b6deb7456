import * as v from 'valibot'
import { packetSchema } from '@inlay/protocol'
import type { Packet, PacketType, StreamLine } from '@inlay/protocol'

/** The order of the packets of an agent at one place, besides the calls and thoughts inside it. */
const agentOrder =
  /^research_agent_start (?:intermediate_report_start (?:intermediate_report_delta )*intermediate_report_cited_docs section_end |error )$/
/** The order of the packets at one place inside an agent: a thought, or a call from start to end. */
const innerOrder =
  /^(?:reasoning_start (?:reasoning_delta )*reasoning_done |(?:search_tool|open_url)_start (?:(?:search_tool_|open_url_|error)\w* )*section_end )+$/
const planOrder = /^deep_research_plan_start (?:deep_research_plan_delta )+section_end $/
const answerOrder = /^message_start (?:(?:citation_info )*message_delta )+$/

/**
 * Checks the lines of a deep research that ended well against the order rules of its stream.
 * @returns what is wrong, one sentence each; [] when nothing is
 */
export function researchFaults(lines: readonly StreamLine[]): string[] {
  const packets = lines.filter((line): line is Packet => 'obj' in line)
  const faults = packets
    .filter((packet) => v.safeParse(packetSchema, packet).issues)
    .map(({ obj }) => `${obj.type} does not fit its schema`)
  const fault = (text: string, holds: boolean): void => void (holds || faults.push(text))
  fault('a stop is last, and there once', typesOf(packets).indexOf('stop') === packets.length - 1)

  const turns = packets.map(({ placement }) => placement.turn_index)
  fault(
    'no turn goes back',
    turns.every((turn, at) => turn >= (turns[at - 1] ?? 0)),
  )

  const plan = packets.filter(isOfPlan(packets))
  fault('the plan is told whole, at one place', planOrder.test(said(plan)) && placesOf(plan).size === 1)
  const answer = packets.slice(
    packets.findIndex(({ obj }) => obj.type === 'message_start'),
    -1,
  )
  fault('the report is told as an answer', answerOrder.test(said(answer)) && placesOf(answer).size === 1)

  const branches = Map.groupBy(
    packets.filter(({ obj }) => obj.type === 'research_agent_start'),
    ({ placement }) => placement.turn_index,
  )
  for (const [turn, starts] of branches) {
    const emitted = packets.filter(({ placement }) => placement.turn_index === turn)
    const announced = emitted.flatMap(({ obj }) =>
      obj.type === 'top_level_branching' ? [obj.num_parallel_branches] : [],
    )
    const expected = starts.length > 1 ? [starts.length] : []
    fault(`turn ${turn} announces its agents`, JSON.stringify(announced) === JSON.stringify(expected))
    for (const { placement } of starts) {
      const own = emitted.filter((packet) => packet.placement.tab_index === placement.tab_index)
      for (const text of agentFaults(own)) faults.push(`turn ${turn}, tab ${placement.tab_index}: ${text}`)
    }
  }
  return faults
}

function agentFaults(emitted: readonly Packet[]): string[] {
  const outer = emitted.filter(
    ({ placement, obj }) => placement.sub_turn_index === null && !/^(?:top_level_branching|reasoning_)/.test(obj.type),
  )
  const inner = emitted.filter(({ placement }) => placement.sub_turn_index !== null)
  const subs = inner.map(({ placement }) => placement.sub_turn_index ?? 0)
  const faults = agentOrder.test(said(outer)) ? [] : [`the agent tells ${said(outer)}`]
  if (subs.some((sub, at) => sub < (subs[at - 1] ?? 0))) faults.push('a step inside goes back')
  for (const [sub, own] of Map.groupBy(inner, ({ placement }) => placement.sub_turn_index))
    if (!innerOrder.test(said(own))) faults.push(`step ${sub} tells ${said(own)}`)
  const report = emitted.findIndex(({ obj }) => obj.type === 'intermediate_report_start')
  if (emitted.slice(report).some(({ placement }) => report >= 0 && placement.sub_turn_index !== null))
    faults.push('a step inside comes after the report has begun')
  return faults
}

/** The plan and its end: of all ends the first. */
function isOfPlan(packets: readonly Packet[]): (packet: Packet) => boolean {
  const end = packets.find(({ obj }) => obj.type === 'section_end')
  return (packet) => packet.obj.type.startsWith('deep_research_plan') || packet === end
}

const typesOf = (packets: readonly Packet[]): PacketType[] => packets.map(({ obj }) => obj.type)
const said = (packets: readonly Packet[]): string =>
  typesOf(packets)
    .map((type) => `${type} `)
    .join('')
const placesOf = (packets: readonly Packet[]): Set<string> =>
  new Set(packets.map(({ placement }) => JSON.stringify(placement)))
