import * as v from 'valibot'
import { dictionary, integer, model, orNull, type WireSchema } from '../fields.ts'
import type {
  CustomToolError,
  Packet,
  PacketBody,
  PacketFields,
  PacketOf,
  PacketType,
  Placement,
  Usage,
} from './packet-types.ts'
import { exampleDoc, generatedImageSchema, searchDocSchema, timestamp } from './search-doc.ts'

/** What the table knows of one packet type. */
export interface PacketEntry<Type extends PacketType> {
  readonly schema: WireSchema<PacketOf<Type>>
  readonly example: PacketOf<Type>
  /** When it is sent and what it means. */
  readonly sentence: string
}

/** All packet types; everything else about packets is derived from it. */
export type PacketTable = { readonly [Type in PacketType]: PacketEntry<Type> }

type Entries<Type extends PacketType> = {
  [Field in keyof PacketFields[Type]]-?: WireSchema<PacketFields[Type][Field]>
}

function entry<Type extends PacketType>(
  type: Type,
  fields: Entries<Type>,
  example: PacketFields[Type],
  sentence: string,
): PacketEntry<Type> {
  // The fields are checked by `Entries`; valibot cannot infer an object of generic keys.
  const schema = model({ type: v.literal(type), ...fields }) as unknown as WireSchema<PacketOf<Type>>
  return { schema, example: { type, ...example } as PacketOf<Type>, sentence }
}

const string = v.string()
const strings = v.array(string)
const documents = v.array(searchDocSchema)
const anything = dictionary(v.unknown())
const count = integer

/** Schema of {@link Usage}. */
export const usageSchema: WireSchema<Usage> = model({
  input_tokens: orNull(count),
  output_tokens: orNull(count),
  reasoning_tokens: orNull(count),
  cached_input_tokens: orNull(count),
})

const customToolErrorSchema: WireSchema<CustomToolError> = model({
  is_auth_error: v.optional(v.boolean(), false),
  status_code: count,
  message: string,
})

/** Type → schema, example, sentence, for each of the 44 packet types. */
export const packetTable: PacketTable = {
  section_end: entry('section_end', {}, {}, 'Closes a tool call, a research plan or the report of a research agent.'),
  stop: entry(
    'stop',
    { stop_reason: orNull(string), usage: v.optional(usageSchema) },
    { stop_reason: null },
    'Ends a run that succeeded (`stop_reason` null) or was stopped (`user_cancelled`). `usage` only when asked for by `include_usage`.',
  ),
  top_level_branching: entry(
    'top_level_branching',
    { num_parallel_branches: count },
    { num_parallel_branches: 2 },
    'Announces that a step asked for several tool calls or research agents, before the first of them starts.',
  ),
  error: entry(
    'error',
    {
      exception: v.optional(string, ''),
      error_code: orNull(string),
      is_retryable: v.optional(v.boolean(), true),
    },
    { exception: 'The image model did not answer.', error_code: 'SERVICE_UNAVAILABLE', is_retryable: true },
    'Something failed: at the place of a tool call or research agent the run goes on; of a failed run it comes before the error line.',
  ),
  chat_heartbeat: entry('chat_heartbeat', {}, {}, 'Keeps the connection open after 15 s of silence; has no number.'),

  message_start: entry(
    'message_start',
    { final_documents: orNull(documents), pre_answer_processing_seconds: orNull(v.number()) },
    { final_documents: [exampleDoc], pre_answer_processing_seconds: 1.25 },
    'Begins the text of a model step, with every document gathered so far and the seconds since the run began.',
  ),
  message_delta: entry(
    'message_delta',
    { content: string },
    { content: 'Badges open the lab ' },
    'Text to append to the answer.',
  ),
  citation_info: entry(
    'citation_info',
    { citation_number: count, document_id: string },
    { citation_number: 1, document_id: 'handbook/lab-access' },
    'Tells which document a number in the answer names; once per document, just before the text that holds the link.',
  ),

  reasoning_start: entry('reasoning_start', {}, {}, 'Begins the reasoning of a step.'),
  reasoning_delta: entry(
    'reasoning_delta',
    { reasoning: string },
    { reasoning: 'The question is about opening hours.' },
    'Text to append to the reasoning.',
  ),
  reasoning_done: entry('reasoning_done', {}, {}, 'Ends the reasoning of a step.'),

  search_tool_start: entry(
    'search_tool_start',
    { is_internet_search: v.optional(v.boolean(), false) },
    { is_internet_search: false },
    'Begins a search in the indexed documents or, when `is_internet_search`, on the web.',
  ),
  search_tool_queries_delta: entry(
    'search_tool_queries_delta',
    { queries: strings },
    { queries: ['lab opening hours', 'when is the lab open'] },
    'The queries that are run, weightiest first.',
  ),
  search_tool_filter_delta: entry(
    'search_tool_filter_delta',
    {
      sources: v.optional(strings, () => []),
      time_filter_start: orNull(timestamp),
      time_filter_end: orNull(timestamp),
    },
    { sources: ['confluence'], time_filter_start: '2026-01-01T00:00:00Z', time_filter_end: null },
    'What the search was narrowed to; before its queries, and only when it was.',
  ),
  search_tool_documents_delta: entry(
    'search_tool_documents_delta',
    { documents },
    { documents: [exampleDoc] },
    'The documents chosen for display; none is sent when nothing was found.',
  ),

  open_url_start: entry('open_url_start', {}, {}, 'Begins the reading of pages.'),
  open_url_urls: entry(
    'open_url_urls',
    { urls: strings },
    { urls: ['https://lab.example/hours'] },
    'The addresses that are read.',
  ),
  open_url_documents: entry(
    'open_url_documents',
    { documents },
    { documents: [exampleDoc] },
    'What could be read; none is sent when nothing could.',
  ),

  image_generation_start: entry('image_generation_start', {}, {}, 'Begins the making of images.'),
  image_generation_heartbeat: entry('image_generation_heartbeat', {}, {}, 'The image model is still at work.'),
  image_generation_final: entry(
    'image_generation_final',
    { images: v.array(generatedImageSchema) },
    {
      images: [
        {
          file_id: '5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10',
          url: '/api/chat/file/5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10',
          revised_prompt: 'A microscope drawn in blue ink',
          shape: 'square',
        },
      ],
    },
    'The finished images.',
  ),

  python_tool_start: entry(
    'python_tool_start',
    { code: string },
    { code: 'print(2 ** 10)' },
    'Begins a run of Python code.',
  ),
  python_tool_delta: entry(
    'python_tool_delta',
    { stdout: v.optional(string, ''), stderr: v.optional(string, ''), file_ids: v.optional(strings, () => []) },
    { stdout: '1024\n', stderr: '', file_ids: [] },
    'Output to append, and the files the code made.',
  ),
  bash_tool_start: entry(
    'bash_tool_start',
    { cmd: string },
    { cmd: 'ls' },
    'Begins a shell command of a coding agent; read, never sent.',
  ),
  bash_tool_delta: entry(
    'bash_tool_delta',
    {
      stdout: v.optional(string, ''),
      stderr: v.optional(string, ''),
      exit_code: orNull(count),
      timed_out: v.optional(v.boolean(), false),
    },
    { stdout: 'notes.md\n', stderr: '', exit_code: 0, timed_out: false },
    'Output and end of a shell command; read, never sent.',
  ),

  custom_tool_start: entry(
    'custom_tool_start',
    { tool_name: string, tool_id: orNull(count) },
    { tool_name: 'findBooking', tool_id: 31 },
    'Begins the call of a custom action; `tool_id` is null for actions of an MCP server.',
  ),
  custom_tool_args: entry(
    'custom_tool_args',
    { tool_name: string, tool_args: anything },
    { tool_name: 'findBooking', tool_args: { room: 'Lab 2' } },
    'Path and query arguments of the call; never its body.',
  ),
  custom_tool_delta: entry(
    'custom_tool_delta',
    {
      tool_name: string,
      tool_id: orNull(count),
      response_type: string,
      data: v.nullish(v.unknown(), null),
      file_ids: orNull(strings),
      error: orNull(customToolErrorSchema),
    },
    {
      tool_name: 'findBooking',
      tool_id: 31,
      response_type: 'json',
      data: { booked: false },
      file_ids: null,
      error: null,
    },
    'What the action answered: `data` for json and text, `file_ids` for csv and image, `error` when its credentials were refused.',
  ),

  file_reader_start: entry('file_reader_start', {}, {}, 'Begins the reading of an attached file.'),
  file_reader_result: entry(
    'file_reader_result',
    {
      file_name: string,
      file_id: string,
      start_char: count,
      end_char: count,
      total_chars: count,
      preview_start: v.optional(string, ''),
      preview_end: v.optional(string, ''),
    },
    {
      file_name: 'minutes.txt',
      file_id: '0c7b8a52-5d38-4e8b-8c53-2a3f0b7d9e11',
      start_char: 0,
      end_char: 64,
      total_chars: 9120,
      preview_start: 'Minutes of the safety board, 4 March. Present: all four members.',
      preview_end: '',
    },
    'Which characters were read (`end_char` exclusive), with the first and last 500 of them.',
  ),
  memory_tool_start: entry('memory_tool_start', {}, {}, 'Begins a change of what is remembered about the person.'),
  memory_tool_delta: entry(
    'memory_tool_delta',
    { memory_text: string, operation: v.picklist(['add', 'update']), memory_id: orNull(count), index: orNull(count) },
    { memory_text: 'Works in the optics group.', operation: 'add', memory_id: null, index: null },
    'What is remembered; `index` names the memory an update replaces.',
  ),
  memory_tool_no_access: entry('memory_tool_no_access', {}, {}, 'Memory may not be used; read, never sent.'),
  tool_call_argument_delta: entry(
    'tool_call_argument_delta',
    { tool_type: string, argument_deltas: anything },
    { tool_type: 'run_python', argument_deltas: { code: 'print(' } },
    'Text of an argument as the model writes it, by argument name; append it.',
  ),
  tool_call_debug: entry(
    'tool_call_debug',
    { tool_call_id: string, tool_name: string, tool_args: anything },
    { tool_call_id: 'call_1', tool_name: 'internal_search', tool_args: { queries: ['lab hours'] } },
    'A call as the model asked for it; read, never sent.',
  ),

  deep_research_plan_start: entry('deep_research_plan_start', {}, {}, 'Begins the plan of a deep research.'),
  deep_research_plan_delta: entry(
    'deep_research_plan_delta',
    { content: string },
    { content: '1. Rules of the lab\n' },
    'Text to append to the plan.',
  ),
  research_agent_start: entry(
    'research_agent_start',
    { research_task: string },
    { research_task: 'Find who may enter the lab at night.' },
    'Begins the work of a research agent; its steps carry a `sub_turn_index`.',
  ),
  intermediate_report_start: entry('intermediate_report_start', {}, {}, 'Begins the report of a research agent.'),
  intermediate_report_delta: entry(
    'intermediate_report_delta',
    { content: string },
    { content: 'At night only two groups may enter [1].' },
    'Text to append to the report; its numbers are those of this agent alone.',
  ),
  intermediate_report_cited_docs: entry(
    'intermediate_report_cited_docs',
    { cited_docs: orNull(documents) },
    { cited_docs: [exampleDoc] },
    'The documents the report cites; empty when it cites none.',
  ),

  coding_agent_start: entry(
    'coding_agent_start',
    { query: string, repo: string },
    { query: 'Where is the booking checked?', repo: 'bookings' },
    'Begins the work of a coding agent; read, never sent.',
  ),
  coding_agent_thinking_delta: entry(
    'coding_agent_thinking_delta',
    { content: string },
    { content: 'Looking at the tests first.' },
    'What a coding agent thinks; read, never sent.',
  ),
  coding_agent_final: entry(
    'coding_agent_final',
    { answer: string },
    { answer: 'In the reservation module.' },
    'What a coding agent found; read, never sent.',
  ),
}

/** Names of all packet types, in the order of the table. */
// The keys of a mapped type over PacketType are exactly its members.
export const packetTypes: readonly PacketType[] = Object.keys(packetTable) as PacketType[]

/** Schema of {@link Placement}. */
export const placementSchema: WireSchema<Placement> = model({
  turn_index: count,
  tab_index: v.optional(count, 0),
  sub_turn_index: orNull(count),
  model_index: orNull(count),
})

// `variant` wants its options inferred one by one; the table already ties each to its type.
const bodyOptions = packetTypes.map((type) => packetTable[type].schema) as unknown as [
  v.ObjectSchema<{ type: v.LiteralSchema<string, undefined> }, undefined>,
]

/** Schema of a packet's `obj`, by its `type`. */
export const packetBodySchema: WireSchema<PacketBody> = v.variant(
  'type',
  bodyOptions,
) as unknown as WireSchema<PacketBody>

/** Schema of {@link Packet}. */
export const packetSchema: WireSchema<Packet> = model({ placement: placementSchema, obj: packetBodySchema })
