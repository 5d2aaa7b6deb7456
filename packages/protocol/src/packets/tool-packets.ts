import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type Wire } from '../fields.ts'
import { packetFamily, suchAs, type PacketFieldsOf } from './packet-entry.ts'
import { answeredTime } from '../timestamps.ts'
import { generatedImageSchema } from './search-doc.ts'

const customToolErrorSchema = model('CustomToolError', {
  /** Whether the credentials were rejected. */
  is_auth_error: v.optional(boolean, false),
  /** HTTP status of the action's response. */
  status_code: integer,
  /** Response of the action. */
  message: v.string(),
})

/** Details of a custom action that failed because its credentials were rejected. */
export type CustomToolError = Wire<typeof customToolErrorSchema>

export const toolPackets = packetFamily({
  /** Begins the making of images. */
  image_generation_start: {},
  /** The image model is still at work. */
  image_generation_heartbeat: {},
  /** The finished images. */
  image_generation_final: {
    /** The images. */
    images: suchAs(v.array(generatedImageSchema), [
      {
        file_id: '5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10',
        url: '/api/chat/file/5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10',
        revised_prompt: 'A microscope drawn in blue ink',
        shape: 'square',
      },
    ]),
  },
  /** Starts running Python code. */
  python_tool_start: {
    /** The code. */
    code: suchAs(v.string(), 'print(2 ** 10)'),
  },
  /** Output to append, and files the code created. */
  python_tool_delta: {
    /** Standard output. */
    stdout: suchAs(v.optional(v.string(), ''), '1024\n'),
    /** Standard error. */
    stderr: suchAs(v.optional(v.string(), ''), ''),
    /** Ids of the files the code wrote. */
    file_ids: suchAs(
      v.optional(v.array(v.string()), () => []),
      [],
    ),
  },
  /** Starts a shell command of a coding agent. Accepted by clients, never sent. */
  bash_tool_start: {
    /** The command. */
    cmd: suchAs(v.string(), 'ls'),
  },
  /** Output and exit code of a shell command. Accepted by clients, never sent. */
  bash_tool_delta: {
    /** Standard output. */
    stdout: suchAs(v.optional(v.string(), ''), 'notes.md\n'),
    /** Standard error. */
    stderr: suchAs(v.optional(v.string(), ''), ''),
    /** Exit code; null while the command runs. */
    exit_code: suchAs(orNull(integer), 0),
    /** Whether the command timed out. */
    timed_out: suchAs(v.optional(boolean, false), false),
  },
  /** Starts a call of a custom action; `tool_id` is null for actions of an MCP server. */
  custom_tool_start: {
    /** Name of the tool as the model sees it. */
    tool_name: suchAs(v.string(), 'findBooking'),
    /** Number of the action. */
    tool_id: suchAs(orNull(integer), 31),
  },
  /** Path and query arguments of the call; never its body. */
  custom_tool_args: {
    /** Name of the tool as the model sees it. */
    tool_name: suchAs(v.string(), 'findBooking'),
    /** The arguments, by name. */
    tool_args: suchAs(dictionary(v.unknown()), { room: 'Lab 2' }),
  },
  /**
   * Response of the action: `data` for json and text, `file_ids` for csv and image, `error` when its credentials were
   * rejected.
   */
  custom_tool_delta: {
    /** Name of the tool as the model sees it. */
    tool_name: suchAs(v.string(), 'findBooking'),
    /** Number of the action. */
    tool_id: suchAs(orNull(integer), 31),
    /** `json`, `text`, `csv`, `image` or `error`. */
    response_type: suchAs(v.string(), 'json'),
    /** Any JSON value. */
    data: suchAs(v.nullish(v.unknown(), null), { booked: false }),
    /** Ids of the returned files. */
    file_ids: suchAs(orNull(v.array(v.string())), null),
    /** Set when the credentials were rejected. */
    error: suchAs(orNull(customToolErrorSchema), null),
  },
  /** Begins the reading of an attached file. */
  file_reader_start: {},
  /** Range of characters that were read (`end_char` exclusive), with the first and last 500 of them. */
  file_reader_result: {
    /** Name of the file. */
    file_name: suchAs(v.string(), 'minutes.txt'),
    /** Id of the file. */
    file_id: suchAs(v.string(), '0c7b8a52-5d38-4e8b-8c53-2a3f0b7d9e11'),
    /** Index of the first character read, from 0. */
    start_char: suchAs(integer, 0),
    /** Index after the last character read. */
    end_char: suchAs(integer, 64),
    /** Length of the file in characters. */
    total_chars: suchAs(integer, 9120),
    /** Beginning of the text that was read. */
    preview_start: suchAs(
      v.optional(v.string(), ''),
      'Minutes of the safety board, 4 March. Present: all four members.',
    ),
    /** End of the text that was read. */
    preview_end: suchAs(v.optional(v.string(), ''), ''),
  },
  /** Begins a change of what is remembered about the person. */
  memory_tool_start: {},
  /** A saved memory; `index` is the position of the memory that an update replaces. */
  memory_tool_delta: {
    /** Text of the memory. */
    memory_text: suchAs(v.string(), 'Works in the optics group.'),
    /** Whether a memory is added or replaced. */
    operation: suchAs(v.picklist(['add', 'update']), 'add'),
    /** Number of the memory. */
    memory_id: suchAs(orNull(integer), null),
    /** Position of the replaced memory. */
    index: suchAs(orNull(integer), null),
  },
  /** Memory may not be used; read, never sent. */
  memory_tool_no_access: {},
  /** Argument text to append, by argument name, streamed as the model writes it. */
  tool_call_argument_delta: {
    /** Name of the action. */
    tool_type: suchAs(v.string(), 'run_python'),
    /** Text to append, by argument name. */
    argument_deltas: suchAs(dictionary(v.unknown()), { code: 'print(' }),
  },
  /**
   * A call that a person has to approve before it runs. The answer ends, and goes on with a message that has
   * `tool_approvals`; any other message declines.
   */
  tool_approval_request: {
    /** Id of the call. */
    tool_call_id: suchAs(v.string(), 'call_1'),
    /** Name of the tool as the model sees it. */
    tool_name: suchAs(v.string(), 'deleteBooking'),
    /** Name of the tool for people. */
    display_name: suchAs(v.string(), 'deleteBooking'),
    /** Name of the MCP server or custom tool. */
    server_name: suchAs(orNull(v.string()), 'rooms.example.com'),
    /** The arguments, by name. The call runs with these or not at all. */
    arguments: suchAs(dictionary(v.unknown()), { id: 4711 }),
    /** Until when it can be approved; ISO 8601, UTC. */
    expires_at: suchAs(answeredTime, '2026-01-13T09:30:00.000Z'),
  },
  /** What a person decided about a `tool_approval_request` of the answer before. An approved call runs next. */
  tool_approval_response: {
    /** Id of the call in that request. */
    tool_call_id: suchAs(v.string(), 'call_1'),
    /** Whether the call may run. */
    approved: suchAs(boolean, true),
    /** What the person gave as a reason. */
    reason: suchAs(orNull(v.string()), null),
  },
  /**
   * A call of a tool that the client itself runs, sent only to clients that gave such tools. The answer ends behind the
   * calls of one step.
   */
  client_tool_call: {
    /** Id of the call, which the client sends back with its result. */
    tool_call_id: suchAs(v.string(), 'call_1'),
    /** Name of the tool. */
    tool_name: suchAs(v.string(), 'get_weather'),
    /** The arguments, as JSON. */
    arguments: suchAs(v.string(), '{"city":"Bern"}'),
  },
  /** A tool call as requested by the model. Accepted by clients, never sent. */
  tool_call_debug: {
    /** Id of the call. */
    tool_call_id: suchAs(v.string(), 'call_1'),
    /** Name of the tool as the model sees it. */
    tool_name: suchAs(v.string(), 'internal_search'),
    /** The arguments, by name. */
    tool_args: suchAs(dictionary(v.unknown()), { queries: ['lab hours'] }),
  },
})

/** Images, code, custom actions, files and memories: the fields of each packet type besides `type`. */
export type ToolPackets = PacketFieldsOf<typeof toolPackets>
