import { InlayError } from '@inlay/protocol'
import type { StreamLine, ToolCallDetail } from '@inlay/protocol'
import type { RunStore, SendRecord, StoredAnswer } from '../contracts/run-store.ts'
import { toCallDetail } from '../tool-calls/call-detail.ts'
import { createRun, type LiveRun } from './live-runs.ts'
import { streamedLines } from './recorded-lines.ts'

/** From the lines of its answers, else from the stored answer. @throws CONFLICT while another process is running it */
export async function readStoredRun(store: RunStore, record: SendRecord, maxBytes: number): Promise<LiveRun> {
  const { messageId, sessionId } = record
  const run = createRun({ sessionId, messageId }, maxBytes)
  const answer = await store.answer(messageId)
  for (const call of toCallDetails(answer)) run.tellCall(call)
  const lines = answer.lines ? streamedLines(answer.lines) : shortLines(record, answer)
  const several = lines.find((line) => 'responses' in line)
  for (const { message_id: id } of several?.responses.slice(1) ?? [])
    lines.push(...streamedLines((await store.answer(id)).lines ?? []))
  // Each stopped answer ends with the stop of all models, which ends the run.
  for (const line of lines) if (!isStopOfAll(line)) run.write(line)
  const stop = lines.find(isStopOfAll)
  if (stop) run.write(stop)
  run.end()
  return run
}

const isStopOfAll = (line: StreamLine): boolean =>
  'obj' in line && line.obj.type === 'stop' && line.placement.model_index === null

/** Details of an answer's calls that its lines do not contain. */
export const toCallDetails = ({ toolCalls }: StoredAnswer): ToolCallDetail[] => toolCalls.map(toCallDetail)

function shortLines(record: SendRecord, { parentId, status, text, documents, error }: StoredAnswer): StreamLine[] {
  if (status === 'running') {
    throw new InlayError('CONFLICT', {
      message: 'A message with this Idempotency-Key is being answered: repeat the request once it is done.',
      retryable: true,
    })
  }
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
  const lines: StreamLine[] = [{ user_message_id: parentId, reserved_assistant_message_id: record.messageId }]
  if (record.openedSession) lines.unshift({ chat_session_id: record.sessionId, incognito: false })
  if (text !== '') {
    lines.push(
      { placement, obj: { type: 'message_start', final_documents: documents, pre_answer_processing_seconds: null } },
      { placement, obj: { type: 'message_delta', content: text } },
    )
  }
  if (error === null) {
    const reason = status === 'cancelled' ? 'user_cancelled' : null
    lines.push({ placement, obj: { type: 'stop', stop_reason: reason } })
    return lines
  }
  lines.push(
    { placement, obj: { type: 'error', exception: error.message, error_code: error.code, is_retryable: true } },
    { error: error.message, stack_trace: null, error_code: error.code, is_retryable: true, details: null },
  )
  return lines
}
