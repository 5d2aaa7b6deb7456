import * as v from 'valibot'
import { orNull } from '../fields.ts'
import { packetFamily, type PacketFieldsOf } from './packet-entry.ts'
import { exampleDoc, searchDocSchema } from './search-doc.ts'

export const researchPackets = packetFamily({
  deep_research_plan_start: { sentence: 'Begins the plan of a deep research.', fields: {}, example: {} },
  deep_research_plan_delta: {
    sentence: 'Text to append to the plan.',
    fields: {
      /** The text. */
      content: v.string(),
    },
    example: { content: '1. Rules of the lab\n' },
  },
  research_agent_start: {
    sentence: 'Starts a research agent; its steps have a `sub_turn_index`.',
    fields: {
      /** Task of the research agent. */
      research_task: v.string(),
    },
    example: { research_task: 'Find who may enter the lab at night.' },
  },
  intermediate_report_start: { sentence: 'Begins the report of a research agent.', fields: {}, example: {} },
  intermediate_report_delta: {
    sentence: 'Text to append to the report; its citation numbers are local to this agent.',
    fields: {
      /** The text. */
      content: v.string(),
    },
    example: { content: 'At night only two groups may enter [1].' },
  },
  intermediate_report_cited_docs: {
    sentence: 'Documents cited in the report; empty if none.',
    fields: {
      /** The documents. */
      cited_docs: orNull(v.array(searchDocSchema)),
    },
    example: { cited_docs: [exampleDoc] },
  },
  coding_agent_start: {
    sentence: 'Starts a coding agent. Accepted by clients, never sent.',
    fields: {
      /** Task of the coding agent. */
      query: v.string(),
      /** Repository the agent works in. */
      repo: v.string(),
    },
    example: { query: 'Where is the booking checked?', repo: 'bookings' },
  },
  coding_agent_thinking_delta: {
    sentence: 'Thoughts of a coding agent. Accepted by clients, never sent.',
    fields: {
      /** The text. */
      content: v.string(),
    },
    example: { content: 'Looking at the tests first.' },
  },
  coding_agent_final: {
    sentence: 'Result of a coding agent. Accepted by clients, never sent.',
    fields: {
      /** The answer. */
      answer: v.string(),
    },
    example: { answer: 'In the reservation module.' },
  },
})

/** Deep research and coding agents: the fields of each packet type besides `type`. */
export type ResearchPackets = PacketFieldsOf<typeof researchPackets>
