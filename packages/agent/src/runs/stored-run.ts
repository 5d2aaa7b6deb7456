import { InlayError } from '@inlay/protocol'
import type { StreamLine } from '@inlay/protocol'
import type { AgentDatabase } from '../records/tables.ts'
import { createRun, type LiveRun } from '../run/registry.ts'
import type { SendKeyRecord } from './send-keys.ts'

/**
 * Makes a finished run out of what is stored of it: its lines when they were kept, else the answer in short.
 * @throws CONFLICT while the run is made by another process
 */
export async function readStoredRun(db: AgentDatabase, record: SendKeyRecord, limitBytes: number): Promise<LiveRun> {
  const { messageId, sessionId } = record
  const run = createRun({ sessionId, messageId }, limitBytes)
  const calls = await db
    .selectFrom('inlay_chat_tool_calls')
    .selectAll()
    .where('message_id', '=', messageId)
    .orderBy('id')
    .execute()
  for (const call of calls) {
    run.tellCall({
      turn_index: call.turn_index,
      tab_index: call.tab_index,
      sub_turn_index: call.sub_turn_index,
      tool_name: call.name,
      // Written by us.
      tool_arguments: JSON.parse(call.arguments) as Record<string, unknown>,
      tool_result: call.result,
      search_docs: call.documents === null ? null : JSON.parse(call.documents),
      generated_images: call.images === null ? null : JSON.parse(call.images),
    })
  }
  // Lines were encoded by us from lines of this type.
  const lines = record.lines?.map((json) => JSON.parse(json) as StreamLine) ?? (await shortLines(db, record))
  for (const line of lines) run.write(line)
  run.end()
  return run
}

async function shortLines(db: AgentDatabase, record: SendKeyRecord): Promise<StreamLine[]> {
  const answer = await db
    .selectFrom('inlay_chat_messages')
    .select(['parent_id', 'status', 'text', 'error', 'error_code', 'documents'])
    .where('id', '=', record.messageId)
    .executeTakeFirst()
  if (!answer) throw new InlayError('SESSION_NOT_FOUND')
  if (answer.status === 'running') {
    throw new InlayError('CONFLICT', {
      message: 'A message with this Idempotency-Key is being answered: repeat the request once it is done.',
      retryable: true,
    })
  }
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
  const lines: StreamLine[] = [{ user_message_id: answer.parent_id, reserved_assistant_message_id: record.messageId }]
  if (record.openedSession) lines.unshift({ chat_session_id: record.sessionId, incognito: false })
  if (answer.text !== '') {
    const documents = answer.documents === null ? null : JSON.parse(answer.documents)
    lines.push(
      { placement, obj: { type: 'message_start', final_documents: documents, pre_answer_processing_seconds: null } },
      { placement, obj: { type: 'message_delta', content: answer.text } },
    )
  }
  if (answer.error === null) {
    const reason = answer.status === 'cancelled' ? 'user_cancelled' : null
    lines.push({ placement, obj: { type: 'stop', stop_reason: reason } })
    return lines
  }
  const { error, error_code: code } = answer
  lines.push(
    { placement, obj: { type: 'error', exception: error, error_code: code, is_retryable: true } },
    { error, stack_trace: null, error_code: code, is_retryable: true, details: null },
  )
  return lines
}
