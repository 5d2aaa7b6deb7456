import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type Wire } from '../fields.ts'
import { packetFamily, type PacketFieldsOf } from './packet-entry.ts'
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
  image_generation_start: { sentence: 'Begins the making of images.', fields: {}, example: {} },
  image_generation_heartbeat: { sentence: 'The image model is still at work.', fields: {}, example: {} },
  image_generation_final: {
    sentence: 'The finished images.',
    fields: {
      /** The images. */
      images: v.array(generatedImageSchema),
    },
    example: {
      images: [
        {
          file_id: '5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10',
          url: '/api/chat/file/5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10',
          revised_prompt: 'A microscope drawn in blue ink',
          shape: 'square',
        },
      ],
    },
  },
  python_tool_start: {
    sentence: 'Starts running Python code.',
    fields: {
      /** The code. */
      code: v.string(),
    },
    example: { code: 'print(2 ** 10)' },
  },
  python_tool_delta: {
    sentence: 'Output to append, and files the code created.',
    fields: {
      /** Standard output. */
      stdout: v.optional(v.string(), ''),
      /** Standard error. */
      stderr: v.optional(v.string(), ''),
      /** Ids of the files the code wrote. */
      file_ids: v.optional(v.array(v.string()), () => []),
    },
    example: { stdout: '1024\n', stderr: '', file_ids: [] },
  },
  bash_tool_start: {
    sentence: 'Starts a shell command of a coding agent. Accepted by clients, never sent.',
    fields: {
      /** The command. */
      cmd: v.string(),
    },
    example: { cmd: 'ls' },
  },
  bash_tool_delta: {
    sentence: 'Output and exit code of a shell command. Accepted by clients, never sent.',
    fields: {
      /** Standard output. */
      stdout: v.optional(v.string(), ''),
      /** Standard error. */
      stderr: v.optional(v.string(), ''),
      /** Exit code; null while the command runs. */
      exit_code: orNull(integer),
      /** Whether the command timed out. */
      timed_out: v.optional(boolean, false),
    },
    example: { stdout: 'notes.md\n', stderr: '', exit_code: 0, timed_out: false },
  },
  custom_tool_start: {
    sentence: 'Starts a call of a custom action; `tool_id` is null for actions of an MCP server.',
    fields: {
      /** Name of the tool as the model sees it. */
      tool_name: v.string(),
      /** Number of the action. */
      tool_id: orNull(integer),
    },
    example: { tool_name: 'findBooking', tool_id: 31 },
  },
  custom_tool_args: {
    sentence: 'Path and query arguments of the call; never its body.',
    fields: {
      /** Name of the tool as the model sees it. */
      tool_name: v.string(),
      /** The arguments, by name. */
      tool_args: dictionary(v.unknown()),
    },
    example: { tool_name: 'findBooking', tool_args: { room: 'Lab 2' } },
  },
  custom_tool_delta: {
    sentence:
      'Response of the action: `data` for json and text, `file_ids` for csv and image, `error` when its credentials were rejected.',
    fields: {
      /** Name of the tool as the model sees it. */
      tool_name: v.string(),
      /** Number of the action. */
      tool_id: orNull(integer),
      /** `json`, `text`, `csv`, `image` or `error`. */
      response_type: v.string(),
      /** Any JSON value. */
      data: v.nullish(v.unknown(), null),
      /** Ids of the returned files. */
      file_ids: orNull(v.array(v.string())),
      /** Set when the credentials were rejected. */
      error: orNull(customToolErrorSchema),
    },
    example: {
      tool_name: 'findBooking',
      tool_id: 31,
      response_type: 'json',
      data: { booked: false },
      file_ids: null,
      error: null,
    },
  },
  file_reader_start: { sentence: 'Begins the reading of an attached file.', fields: {}, example: {} },
  file_reader_result: {
    sentence: 'Range of characters that were read (`end_char` exclusive), with the first and last 500 of them.',
    fields: {
      /** Name of the file. */
      file_name: v.string(),
      /** Id of the file. */
      file_id: v.string(),
      /** Index of the first character read, from 0. */
      start_char: integer,
      /** Index after the last character read. */
      end_char: integer,
      /** Length of the file in characters. */
      total_chars: integer,
      /** Beginning of the text that was read. */
      preview_start: v.optional(v.string(), ''),
      /** End of the text that was read. */
      preview_end: v.optional(v.string(), ''),
    },
    example: {
      file_name: 'minutes.txt',
      file_id: '0c7b8a52-5d38-4e8b-8c53-2a3f0b7d9e11',
      start_char: 0,
      end_char: 64,
      total_chars: 9120,
      preview_start: 'Minutes of the safety board, 4 March. Present: all four members.',
      preview_end: '',
    },
  },
  memory_tool_start: { sentence: 'Begins a change of what is remembered about the person.', fields: {}, example: {} },
  memory_tool_delta: {
    sentence: 'A saved memory; `index` is the position of the memory that an update replaces.',
    fields: {
      /** Text of the memory. */
      memory_text: v.string(),
      /** Whether a memory is added or replaced. */
      operation: v.picklist(['add', 'update']),
      /** Number of the memory. */
      memory_id: orNull(integer),
      /** Position of the replaced memory. */
      index: orNull(integer),
    },
    example: { memory_text: 'Works in the optics group.', operation: 'add', memory_id: null, index: null },
  },
  memory_tool_no_access: { sentence: 'Memory may not be used; read, never sent.', fields: {}, example: {} },
  tool_call_argument_delta: {
    sentence: 'Argument text to append, by argument name, streamed as the model writes it.',
    fields: {
      /** Name of the action. */
      tool_type: v.string(),
      /** Text to append, by argument name. */
      argument_deltas: dictionary(v.unknown()),
    },
    example: { tool_type: 'run_python', argument_deltas: { code: 'print(' } },
  },
  tool_approval_request: {
    sentence:
      'A call that a person has to approve before it runs. The answer ends, and goes on with a message that has `tool_approvals`; any other message declines.',
    fields: {
      /** Id of the call. */
      tool_call_id: v.string(),
      /** Name of the tool as the model sees it. */
      tool_name: v.string(),
      /** Name of the tool for people. */
      display_name: v.string(),
      /** Name of the MCP server or custom tool. */
      server_name: orNull(v.string()),
      /** The arguments, by name. The call runs with these or not at all. */
      arguments: dictionary(v.unknown()),
      /** Until when it can be approved; ISO 8601, UTC. */
      expires_at: answeredTime,
    },
    example: {
      tool_call_id: 'call_1',
      tool_name: 'deleteBooking',
      display_name: 'deleteBooking',
      server_name: 'rooms.example.com',
      arguments: { id: 4711 },
      expires_at: '2026-01-13T09:30:00.000Z',
    },
  },
  tool_approval_response: {
    sentence: 'What a person decided about a `tool_approval_request` of the answer before. An approved call runs next.',
    fields: {
      /** Id of the call in that request. */
      tool_call_id: v.string(),
      /** Whether the call may run. */
      approved: boolean,
      /** What the person gave as a reason. */
      reason: orNull(v.string()),
    },
    example: { tool_call_id: 'call_1', approved: true, reason: null },
  },
  client_tool_call: {
    sentence:
      'A call of a tool that the client itself runs, sent only to clients that gave such tools. The answer ends behind the calls of one step.',
    fields: {
      /** Id of the call, which the client sends back with its result. */
      tool_call_id: v.string(),
      /** Name of the tool. */
      tool_name: v.string(),
      /** The arguments, as JSON. */
      arguments: v.string(),
    },
    example: { tool_call_id: 'call_1', tool_name: 'get_weather', arguments: '{"city":"Bern"}' },
  },
  tool_call_debug: {
    sentence: 'A tool call as requested by the model. Accepted by clients, never sent.',
    fields: {
      /** Id of the call. */
      tool_call_id: v.string(),
      /** Name of the tool as the model sees it. */
      tool_name: v.string(),
      /** The arguments, by name. */
      tool_args: dictionary(v.unknown()),
    },
    example: { tool_call_id: 'call_1', tool_name: 'internal_search', tool_args: { queries: ['lab hours'] } },
  },
})

/** Images, code, custom actions, files and memories: the fields of each packet type besides `type`. */
export type ToolPackets = PacketFieldsOf<typeof toolPackets>
