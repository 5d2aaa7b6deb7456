import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type WireSchema } from '../fields.ts'
import { entriesOf, type NoFields, type PacketFamily } from './packet-entry.ts'
import { generatedImageSchema, type GeneratedImage } from './search-doc.ts'

/** Details of a custom action that failed because its credentials were rejected. */
export interface CustomToolError {
  /** Whether the credentials were rejected. */
  readonly is_auth_error: boolean
  /** HTTP status of the action's response. */
  readonly status_code: number
  /** Response of the action. */
  readonly message: string
}

const customToolErrorSchema: WireSchema<CustomToolError> = model('CustomToolError', {
  is_auth_error: v.optional(boolean, false),
  status_code: integer,
  message: v.string(),
})

/** Images, code, custom actions, files and memories: the fields of each packet type besides `type`. */
export interface ToolPackets {
  readonly image_generation_start: NoFields
  readonly image_generation_heartbeat: NoFields
  readonly image_generation_final: {
    /** The images. */
    readonly images: readonly GeneratedImage[]
  }
  readonly python_tool_start: {
    /** The code. */
    readonly code: string
  }
  readonly python_tool_delta: {
    /** Standard output. */
    readonly stdout: string
    /** Standard error. */
    readonly stderr: string
    /** Ids of the files the code wrote. */
    readonly file_ids: readonly string[]
  }
  readonly bash_tool_start: {
    /** The command. */
    readonly cmd: string
  }
  readonly bash_tool_delta: {
    /** Standard output. */
    readonly stdout: string
    /** Standard error. */
    readonly stderr: string
    /** Exit code; null while the command runs. */
    readonly exit_code: number | null
    /** Whether the command timed out. */
    readonly timed_out: boolean
  }
  readonly custom_tool_start: {
    /** Name of the tool as the model sees it. */
    readonly tool_name: string
    /** Number of the action. */
    readonly tool_id: number | null
  }
  readonly custom_tool_args: {
    /** Name of the tool as the model sees it. */
    readonly tool_name: string
    /** The arguments, by name. */
    readonly tool_args: Readonly<Record<string, unknown>>
  }
  readonly custom_tool_delta: {
    /** Name of the tool as the model sees it. */
    readonly tool_name: string
    /** Number of the action. */
    readonly tool_id: number | null
    /** `json`, `text`, `csv`, `image` or `error`. */
    readonly response_type: string
    /** Any JSON value. */
    readonly data: unknown
    /** Ids of the returned files. */
    readonly file_ids: readonly string[] | null
    /** Set when the credentials were rejected. */
    readonly error: CustomToolError | null
  }
  readonly file_reader_start: NoFields
  readonly file_reader_result: {
    /** Name of the file. */
    readonly file_name: string
    /** Id of the file. */
    readonly file_id: string
    /** Index of the first character read, from 0. */
    readonly start_char: number
    /** Index after the last character read. */
    readonly end_char: number
    /** Length of the file in characters. */
    readonly total_chars: number
    /** Beginning of the text that was read. */
    readonly preview_start: string
    /** End of the text that was read. */
    readonly preview_end: string
  }
  readonly memory_tool_start: NoFields
  readonly memory_tool_delta: {
    /** Text of the memory. */
    readonly memory_text: string
    /** Whether a memory is added or replaced. */
    readonly operation: 'add' | 'update'
    /** Number of the memory. */
    readonly memory_id: number | null
    /** Position of the replaced memory. */
    readonly index: number | null
  }
  readonly memory_tool_no_access: NoFields
  readonly tool_call_argument_delta: {
    /** Name of the action. */
    readonly tool_type: string
    /** Text to append, by argument name. */
    readonly argument_deltas: Readonly<Record<string, unknown>>
  }
  readonly tool_call_debug: {
    /** Id of the call. */
    readonly tool_call_id: string
    /** Name of the tool as the model sees it. */
    readonly tool_name: string
    /** The arguments, by name. */
    readonly tool_args: Readonly<Record<string, unknown>>
  }
}

const entry = entriesOf<ToolPackets>()

/** Images, code, custom actions, files and memories: schema, example and sentence of each packet type. */
export const toolPackets: PacketFamily<ToolPackets> = {
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
    { code: v.string() },
    { code: 'print(2 ** 10)' },
    'Starts running Python code.',
  ),
  python_tool_delta: entry(
    'python_tool_delta',
    {
      stdout: v.optional(v.string(), ''),
      stderr: v.optional(v.string(), ''),
      file_ids: v.optional(v.array(v.string()), () => []),
    },
    { stdout: '1024\n', stderr: '', file_ids: [] },
    'Output to append, and files the code created.',
  ),
  bash_tool_start: entry(
    'bash_tool_start',
    { cmd: v.string() },
    { cmd: 'ls' },
    'Starts a shell command of a coding agent. Accepted by clients, never sent.',
  ),
  bash_tool_delta: entry(
    'bash_tool_delta',
    {
      stdout: v.optional(v.string(), ''),
      stderr: v.optional(v.string(), ''),
      exit_code: orNull(integer),
      timed_out: v.optional(boolean, false),
    },
    { stdout: 'notes.md\n', stderr: '', exit_code: 0, timed_out: false },
    'Output and exit code of a shell command. Accepted by clients, never sent.',
  ),
  custom_tool_start: entry(
    'custom_tool_start',
    { tool_name: v.string(), tool_id: orNull(integer) },
    { tool_name: 'findBooking', tool_id: 31 },
    'Starts a call of a custom action; `tool_id` is null for actions of an MCP server.',
  ),
  custom_tool_args: entry(
    'custom_tool_args',
    { tool_name: v.string(), tool_args: dictionary(v.unknown()) },
    { tool_name: 'findBooking', tool_args: { room: 'Lab 2' } },
    'Path and query arguments of the call; never its body.',
  ),
  custom_tool_delta: entry(
    'custom_tool_delta',
    {
      tool_name: v.string(),
      tool_id: orNull(integer),
      response_type: v.string(),
      data: v.nullish(v.unknown(), null),
      file_ids: orNull(v.array(v.string())),
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
    'Response of the action: `data` for json and text, `file_ids` for csv and image, `error` when its credentials were rejected.',
  ),
  file_reader_start: entry('file_reader_start', {}, {}, 'Begins the reading of an attached file.'),
  file_reader_result: entry(
    'file_reader_result',
    {
      file_name: v.string(),
      file_id: v.string(),
      start_char: integer,
      end_char: integer,
      total_chars: integer,
      preview_start: v.optional(v.string(), ''),
      preview_end: v.optional(v.string(), ''),
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
    'Range of characters that were read (`end_char` exclusive), with the first and last 500 of them.',
  ),
  memory_tool_start: entry('memory_tool_start', {}, {}, 'Begins a change of what is remembered about the person.'),
  memory_tool_delta: entry(
    'memory_tool_delta',
    {
      memory_text: v.string(),
      operation: v.picklist(['add', 'update']),
      memory_id: orNull(integer),
      index: orNull(integer),
    },
    { memory_text: 'Works in the optics group.', operation: 'add', memory_id: null, index: null },
    'A saved memory; `index` is the position of the memory that an update replaces.',
  ),
  memory_tool_no_access: entry('memory_tool_no_access', {}, {}, 'Memory may not be used; read, never sent.'),
  tool_call_argument_delta: entry(
    'tool_call_argument_delta',
    { tool_type: v.string(), argument_deltas: dictionary(v.unknown()) },
    { tool_type: 'run_python', argument_deltas: { code: 'print(' } },
    'Argument text to append, by argument name, streamed as the model writes it.',
  ),
  tool_call_debug: entry(
    'tool_call_debug',
    { tool_call_id: v.string(), tool_name: v.string(), tool_args: dictionary(v.unknown()) },
    { tool_call_id: 'call_1', tool_name: 'internal_search', tool_args: { queries: ['lab hours'] } },
    'A tool call as requested by the model. Accepted by clients, never sent.',
  ),
}
