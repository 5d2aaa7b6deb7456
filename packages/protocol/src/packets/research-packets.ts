import * as v from 'valibot'
import { orNull } from '../fields.ts'
import { entriesOf, type NoFields, type PacketFamily } from './packet-entry.ts'
import { exampleDoc, searchDocSchema, type SearchDoc } from './search-doc.ts'

/** Deep research and coding agents: the fields of each packet type besides `type`. */
export interface ResearchPackets {
  readonly deep_research_plan_start: NoFields
  readonly deep_research_plan_delta: {
    /** The text. */
    readonly content: string
  }
  readonly research_agent_start: {
    /** Task of the research agent. */
    readonly research_task: string
  }
  readonly intermediate_report_start: NoFields
  readonly intermediate_report_delta: {
    /** The text. */
    readonly content: string
  }
  readonly intermediate_report_cited_docs: {
    /** The documents. */
    readonly cited_docs: readonly SearchDoc[] | null
  }
  readonly coding_agent_start: {
    /** Task of the coding agent. */
    readonly query: string
    /** Repository the agent works in. */
    readonly repo: string
  }
  readonly coding_agent_thinking_delta: {
    /** The text. */
    readonly content: string
  }
  readonly coding_agent_final: {
    /** The answer. */
    readonly answer: string
  }
}

const entry = entriesOf<ResearchPackets>()

/** Deep research and coding agents: schema, example and sentence of each packet type. */
export const researchPackets: PacketFamily<ResearchPackets> = {
  deep_research_plan_start: entry('deep_research_plan_start', {}, {}, 'Begins the plan of a deep research.'),
  deep_research_plan_delta: entry(
    'deep_research_plan_delta',
    { content: v.string() },
    { content: '1. Rules of the lab\n' },
    'Text to append to the plan.',
  ),
  research_agent_start: entry(
    'research_agent_start',
    { research_task: v.string() },
    { research_task: 'Find who may enter the lab at night.' },
    'Starts a research agent; its steps have a `sub_turn_index`.',
  ),
  intermediate_report_start: entry('intermediate_report_start', {}, {}, 'Begins the report of a research agent.'),
  intermediate_report_delta: entry(
    'intermediate_report_delta',
    { content: v.string() },
    { content: 'At night only two groups may enter [1].' },
    'Text to append to the report; its citation numbers are local to this agent.',
  ),
  intermediate_report_cited_docs: entry(
    'intermediate_report_cited_docs',
    { cited_docs: orNull(v.array(searchDocSchema)) },
    { cited_docs: [exampleDoc] },
    'Documents cited in the report; empty if none.',
  ),
  coding_agent_start: entry(
    'coding_agent_start',
    { query: v.string(), repo: v.string() },
    { query: 'Where is the booking checked?', repo: 'bookings' },
    'Starts a coding agent. Accepted by clients, never sent.',
  ),
  coding_agent_thinking_delta: entry(
    'coding_agent_thinking_delta',
    { content: v.string() },
    { content: 'Looking at the tests first.' },
    'Thoughts of a coding agent. Accepted by clients, never sent.',
  ),
  coding_agent_final: entry(
    'coding_agent_final',
    { answer: v.string() },
    { answer: 'In the reservation module.' },
    'Result of a coding agent. Accepted by clients, never sent.',
  ),
}
