import { idList, isAmong, isAmongIds, prepared } from '@inlay/records'
import type { BranchHistory, HistoryLimits, PastMessage, PastToolCall } from '@inlay/agent'
import type { FileDescriptor } from '@inlay/protocol'
import type { ConversationDatabase } from '../tables/database.ts'

/**
 * Reads a branch: the newest summary on it and what was said since.
 * @param ids the messages of the branch, oldest first, without the root
 */
export async function readBranch(
  records: ConversationDatabase,
  ids: readonly number[],
  limits: HistoryLimits,
): Promise<BranchHistory> {
  const [summary] = await newestSummary(records, { of: idList(records, ids) })
  const from = summary ? ids.indexOf(summary.messageId) + 1 : 0
  return {
    summary: summary?.text ?? null,
    summaryFiles: await readFiles(records, ids.slice(0, from)),
    messages: await readPast(records, ids.slice(from), limits),
  }
}

async function readFiles(records: ConversationDatabase, ids: readonly number[]): Promise<FileDescriptor[]> {
  if (ids.length === 0) return []
  const rows = await records
    .selectFrom('inlay_chat_messages')
    .select('files')
    .where(isAmong(records, 'id', ids))
    .where('files', 'is not', null)
    .orderBy('id')
    .execute()
  // Written by us from checked descriptors.
  return rows.flatMap((row) => JSON.parse(row.files ?? '[]') as FileDescriptor[])
}

interface OfMessages {
  /** Ids of messages, see `idList`. */
  readonly of: string
}

/** Ids rise along a branch. */
const newestSummary = prepared((db: ConversationDatabase, { of }: OfMessages) =>
  db
    .selectFrom('inlay_chat_summaries')
    .select(['message_id as messageId', 'text'])
    .where(isAmongIds(db, 'message_id', of))
    .orderBy('message_id', 'desc')
    .limit(1),
)

const batch = 40

/**
 * Reads the newest messages of a branch until they hold as many characters as the limits say.
 * @param ids the messages of the branch, oldest first, without the root
 * @returns oldest first, beginning with a question
 */
export async function readPast(
  records: ConversationDatabase,
  ids: readonly number[],
  limits: HistoryLimits,
): Promise<PastMessage[]> {
  const past: PastMessage[] = []
  const { withoutCallsOf, shorten = (result: string) => result } = limits
  let chars = 0
  for (let end = ids.length; end > 0 && chars < limits.chars; end -= batch) {
    const idsOfBatch = ids.slice(Math.max(0, end - batch), end)
    const rows = await textsOf(records, { of: idList(records, idsOfBatch) })
    const calls = await readCalls(records, idsOfBatch)
    // Ids rise along a branch, so that falling ids are the way back from its end.
    for (const row of rows) {
      if (chars >= limits.chars) break
      const allCalls = calls.get(row.id) ?? []
      const toolCalls = allCalls
        .filter(({ name }) => !withoutCallsOf.includes(name))
        .map((call) => ({ ...call, result: shorten(call.result) }))
      chars += row.text.length + toolCalls.reduce((sum, call) => sum + call.result.length, 0)
      past.push({
        id: row.id,
        role: row.role === 'assistant' ? 'assistant' : 'user',
        status: row.status,
        text: row.text,
        // Written by us from checked descriptors.
        files: row.files === null ? [] : (JSON.parse(row.files) as FileDescriptor[]),
        toolCalls,
        callCount: allCalls.length,
        // Written by us from such a record.
        params: row.request_params === null ? null : (JSON.parse(row.request_params) as PastMessage['params']),
        modelSteps: row.model_steps,
      })
    }
  }
  const oldestFirst = past.toReversed()
  // A branch begins with a question; an answer without its own is left out with it.
  return oldestFirst.slice(
    Math.max(
      0,
      oldestFirst.findIndex(({ role }) => role === 'user'),
    ),
  )
}

const textsOf = prepared((db: ConversationDatabase, { of }: OfMessages) =>
  db
    .selectFrom('inlay_chat_messages')
    .select(['id', 'role', 'status', 'text', 'files', 'request_params', 'model_steps'])
    .where(isAmongIds(db, 'id', of))
    .orderBy('id', 'desc'),
)

const callsOf = prepared((db: ConversationDatabase, { of }: OfMessages) =>
  db
    .selectFrom('inlay_chat_tool_calls')
    .select(['message_id', 'step', 'call_id', 'name', 'arguments', 'result'])
    .where(isAmongIds(db, 'message_id', of))
    .where('parent_call_id', 'is', null)
    .orderBy('id'),
)

async function readCalls(
  records: ConversationDatabase,
  messageIds: readonly number[],
): Promise<Map<number, PastToolCall[]>> {
  const rows = await callsOf(records, { of: idList(records, messageIds) })
  const byMessage = new Map<number, PastToolCall[]>()
  for (const row of rows) {
    const calls = byMessage.get(row.message_id) ?? []
    calls.push({
      step: row.step,
      callId: row.call_id,
      name: row.name,
      arguments: JSON.parse(row.arguments),
      result: row.result,
    })
    byMessage.set(row.message_id, calls)
  }
  return byMessage
}
