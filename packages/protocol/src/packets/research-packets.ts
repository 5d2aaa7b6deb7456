import * as v from 'valibot'
import { orNull } from '../fields.ts'
import { packetFamily, suchAs, type PacketFieldsOf } from './packet-entry.ts'
import { exampleDoc, searchDocSchema } from './search-doc.ts'

export const researchPackets = packetFamily({
  /** Begins the plan of a deep research. */
  deep_research_plan_start: {},
  /** Text to append to the plan. */
  deep_research_plan_delta: {
    /** The text. */
    content: suchAs(v.string(), '1. Rules of the lab\n'),
  },
  /** Starts a research agent; its steps have a `sub_turn_index`. */
  research_agent_start: {
    /** Task of the research agent. */
    research_task: suchAs(v.string(), 'Find who may enter the lab at night.'),
  },
  /** Begins the report of a research agent. */
  intermediate_report_start: {},
  /** Text to append to the report; its citation numbers are local to this agent. */
  intermediate_report_delta: {
    /** The text. */
    content: suchAs(v.string(), 'At night only two groups may enter [1].'),
  },
  /** Documents cited in the report; empty if none. */
  intermediate_report_cited_docs: {
    /** The documents. */
    cited_docs: suchAs(orNull(v.array(searchDocSchema)), [exampleDoc]),
  },
  /** Starts a coding agent. Accepted by clients, never sent. */
  coding_agent_start: {
    /** Task of the coding agent. */
    query: suchAs(v.string(), 'Where is the booking checked?'),
    /** Repository the agent works in. */
    repo: suchAs(v.string(), 'bookings'),
  },
  /** Thoughts of a coding agent. Accepted by clients, never sent. */
  coding_agent_thinking_delta: {
    /** The text. */
    content: suchAs(v.string(), 'Looking at the tests first.'),
  },
  /** Result of a coding agent. Accepted by clients, never sent. */
  coding_agent_final: {
    /** The answer. */
    answer: suchAs(v.string(), 'In the reservation module.'),
  },
})

/** Deep research and coding agents: the fields of each packet type besides `type`. */
export type ResearchPackets = PacketFieldsOf<typeof researchPackets>
