import type { ChatMessageDetail, ChatSessionDetail, PacketBody } from '@inlay/protocol'

export const message = (fields: Partial<ChatMessageDetail> & { message_id: number }): ChatMessageDetail => ({
  chat_session_id: 's',
  parent_message: null,
  latest_child_message: null,
  message: '',
  reasoning_tokens: null,
  message_type: 'system',
  context_docs: null,
  citations: null,
  time_sent: '2026-01-01T00:00:00Z',
  files: [],
  error: null,
  current_feedback: null,
  processing_duration_seconds: null,
  preferred_response_id: null,
  model_display_name: null,
  request_params: null,
  failed_calls: [],
  ...fields,
})

const packets = (...bodies: PacketBody[]): ChatSessionDetail['packets'][number] =>
  bodies.map((obj) => ({
    placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
    obj,
  }))

export const said = (content: string, reason: 'user_cancelled' | null = null): ChatSessionDetail['packets'][number] =>
  packets(
    { type: 'message_start', final_documents: null, pre_answer_processing_seconds: null },
    { type: 'message_delta', content },
    { type: 'stop', stop_reason: reason },
  )

/** A stored session with its required fields. */
export const storedSession = (
  stored: Pick<ChatSessionDetail, 'messages' | 'packets'> & Partial<ChatSessionDetail>,
): ChatSessionDetail => ({
  chat_session_id: 's',
  description: '',
  persona_id: 0,
  persona_name: null,
  personal_icon_name: null,
  time_created: '2026-01-01T00:00:00Z',
  shared_status: 'private',
  current_alternate_model: null,
  current_temperature_override: null,
  current_reasoning_effort_override: null,
  deleted: false,
  owner_name: null,
  current_run: null,
  incognito: false,
  ...stored,
})

/** A session `s` with one question and its answer. */
export const storedAnswer = ({ isRunning = false } = {}): ChatSessionDetail =>
  storedSession({
    messages: [
      message({ message_id: 1, latest_child_message: 2 }),
      message({
        message_id: 2,
        parent_message: 1,
        latest_child_message: 3,
        message_type: 'user',
        message: 'One?',
      }),
      message({ message_id: 3, parent_message: 2, message_type: 'assistant' }),
    ],
    packets: [isRunning ? [] : said('Stored.')],
    current_run: isRunning ? { run_id: 3 } : null,
  })
