import type { AnswerOutcome } from '@inlay/agent'
import { InlayError, storable } from '@inlay/protocol'
import type { Transaction } from 'kysely'
import type { ConversationTables } from '../tables/database.ts'
import { touchSession } from './listing.ts'
import { toCallColumns } from '../runs/tool-calls.ts'

/** Stores what became of an answer. SESSION_NOT_FOUND when its session is gone. */
export async function finishAnswer(
  records: Transaction<ConversationTables>,
  answerId: number,
  outcome: AnswerOutcome,
  time: number,
): Promise<void> {
  const { sessionId } = await records
    .updateTable('inlay_chat_messages')
    .set({
      status: outcome.status,
      text: storable(outcome.text),
      // What models write may hold what no database takes.
      reasoning: outcome.reasoning === null ? null : storable(outcome.reasoning),
      error: outcome.error && storable(outcome.error.message),
      error_code: outcome.error?.code ?? null,
      citations: outcome.citations.length === 0 ? null : JSON.stringify(outcome.citations),
      documents: outcome.documents === null ? null : JSON.stringify(outcome.documents),
      duration_ms: Math.round(outcome.durationMs),
      seen_at: null,
    })
    .where('id', '=', answerId)
    .returning('session_id as sessionId')
    .executeTakeFirstOrThrow(() => new InlayError('SESSION_NOT_FOUND'))
  const { ownerId } = await records
    .selectFrom('inlay_chat_sessions')
    .select('owner_id as ownerId')
    .where('id', '=', sessionId)
    .executeTakeFirstOrThrow(() => new InlayError('SESSION_NOT_FOUND'))
  if (outcome.toolCalls.length > 0) {
    const values = outcome.toolCalls.map((call) => toCallColumns(call, answerId))
    await records.insertInto('inlay_chat_tool_calls').values(values).execute()
  }
  await touchSession(records, sessionId, ownerId, time)
}
