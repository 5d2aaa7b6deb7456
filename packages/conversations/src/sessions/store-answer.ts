import type { AnswerOutcome, ToolCallRecord } from '@inlay/agent'
import { InlayError, storable } from '@inlay/protocol'
import { hasRowLocks, prepared, type RecordEvents } from '@inlay/records'
import { sql, type Transaction, type Insertable, type RawBuilder, type Selectable } from 'kysely'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import { addText, indexText } from './search-index.ts'
import type { MessageTable, ToolCallTable } from '../tables/chat-tables.ts'

export interface FinishOptions {
  readonly time: number
  /** Names a session without a name by the question of the answer; "" leaves it as it is. */
  readonly nameOf: ((question: string) => string) | undefined
  readonly recordEvents?: RecordEvents | undefined
}

/**
 * Stores a finished answer, unless it was cut off and has ended otherwise. SESSION_NOT_FOUND when its session is gone.
 * @returns the session and the name that it got; undefined when it got none
 */
export async function finishAnswer(
  records: Transaction<ConversationTables>,
  answerId: number,
  outcome: AnswerOutcome,
  { time, nameOf, recordEvents }: FinishOptions,
): Promise<{ readonly sessionId: string; readonly name: string } | undefined> {
  const [session] = await sessionOf(records, { answerId })
  if (!session) throw new InlayError('SESSION_NOT_FOUND')
  const { sessionId, ownerId, status, question } = session
  const documents = outcome.documents === null ? null : JSON.stringify(outcome.documents)
  if (outcome.status === 'terminated' && status !== 'running') return undefined
  await storeOutcome(records, {
    id: answerId,
    status: outcome.status,
    text: storable(outcome.text),
    // Model output may contain characters that databases cannot store.
    reasoning: outcome.reasoning === null ? null : storable(outcome.reasoning),
    error: outcome.error && storable(outcome.error.message),
    error_code: outcome.error?.code ?? null,
    citations: outcome.citations.length === 0 ? null : JSON.stringify(outcome.citations),
    documents,
    duration_ms: Math.round(outcome.durationMs),
    input_tokens: outcome.usage?.input_tokens ?? null,
    output_tokens: outcome.usage?.output_tokens ?? null,
    lines: outcome.lines ? toLinesColumn(outcome.lines, documents) : null,
    model_steps: outcome.modelSteps ?? null,
  })
  const text = { sessionId, ownerId, messageId: answerId, text: outcome.text }
  // Only an answer that had ended before can be in the index.
  await (status === 'running' ? addText(records, text) : indexText(records, text))
  await recordEvents?.(records, [
    {
      type: 'answer.finished',
      data: {
        chat_session_id: sessionId,
        message_id: answerId,
        user_id: ownerId,
        status: outcome.status,
        error_code: outcome.error?.code ?? null,
      },
    },
  ])
  if (outcome.toolCalls.length > 0) {
    const calls = outcome.lines ? outcome.toolCalls.map(withoutReplay) : outcome.toolCalls
    const values = calls.map((call) => toCallColumns(call, answerId))
    await records.insertInto('inlay_chat_tool_calls').values(values).execute()
  }
  const move = toMove(sessionId, ownerId, time)
  const name = question === null ? '' : (nameOf?.(question) ?? '')
  // Searches find the words of a name in the question.
  await (name === '' ? touch(records, move) : touchAndName(records, { ...move, name }))
  return name === '' ? undefined : { sessionId, name }
}

/** A call whose packets are in the lines of its answer. Those that rows are looked for by stay. */
function withoutReplay(call: ToolCallRecord): ToolCallRecord {
  const packets = call.packets.filter((packet) => 'file_ids' in packet || packet.type === 'tool_approval_request')
  return { ...call, packets }
}

const textStart = '"obj":{"type":"message_start",'

/** Lines without the documents that their row has in a column of its own: they are two thirds of an answer. */
function toLinesColumn(lines: readonly string[], documents: string | null): string {
  const text = lines.join('\n')
  return documents === null ? text : text.replaceAll(`${textStart}"final_documents":${documents},`, textStart)
}

/** The lines of an answer; null if none were kept. */
export function toLines({ lines, documents }: Pick<Selectable<MessageTable>, 'lines' | 'documents'>): string[] | null {
  const start = `${textStart}"pre_answer`
  const whole = `${textStart}"final_documents":${documents},"pre_answer`
  return lines?.replaceAll(start, () => whole).split('\n') ?? null
}

const touchAndName = prepared((db: ConversationDatabase, move: Move & { readonly name: string }) =>
  db
    .updateTable('inlay_chat_sessions')
    .set({ updated_at: timeInFront(db, move), name: move.name })
    .where('id', '=', move.id),
)

/** The beginning of a question is enough for a name. */
const questionChars = 10_000

const sessionOf = prepared((db: ConversationDatabase, { answerId }: { readonly answerId: number }) =>
  db
    .selectFrom('inlay_chat_messages as message')
    .innerJoin('inlay_chat_sessions as session', 'session.id', 'message.session_id')
    .leftJoin('inlay_chat_messages as parent', 'parent.id', 'message.parent_id')
    .select(['session.id as sessionId', 'session.owner_id as ownerId', 'message.status'])
    // Null when the session has a name.
    .select(
      sql<string | null>`case when session.name = '' then substr(parent.text, 1, ${sql.lit(questionChars)}) end`.as(
        'question',
      ),
    )
    .where('message.id', '=', answerId)
    // The session first, as erasing does. The message too, or its status might be from before another process ended it.
    .$if(hasRowLocks(db), (query) => query.forUpdate(['session', 'message'])),
)

const outcomeColumns = [
  'status',
  'text',
  'reasoning',
  'error',
  'error_code',
  'citations',
  'documents',
  'duration_ms',
  'input_tokens',
  'output_tokens',
  'lines',
  'model_steps',
] as const

type StoredOutcome = Pick<Selectable<MessageTable>, 'id' | (typeof outcomeColumns)[number]>

const storeOutcome = prepared((db: ConversationDatabase, outcome: StoredOutcome) =>
  db
    .updateTable('inlay_chat_messages')
    .set(Object.fromEntries(outcomeColumns.map((column) => [column, outcome[column]])))
    .where('id', '=', outcome.id),
)

// More sessions than this are not touched within one millisecond.
const nearMs = 1_000

/**
 * Moves a session to the front of its owner's listing: to a time that none of the owner's other sessions has, so that
 * pages cut by it lose none.
 * @param time milliseconds since 1970 UTC
 */
export async function touchSession(
  records: ConversationDatabase,
  id: string,
  ownerId: string,
  time: number,
): Promise<void> {
  await touch(records, toMove(id, ownerId, time))
}

export interface Move {
  readonly id: string
  readonly ownerId: string
  readonly time: number
  /** Times from here on do not count. */
  readonly end: number
}

export function toMove(id: string, ownerId: string, time: number): Move {
  return { id, ownerId, time, end: time + nearMs }
}

const touch = prepared((db: ConversationDatabase, move: Move) =>
  db
    .updateTable('inlay_chat_sessions')
    .set({ updated_at: timeInFront(db, move) })
    .where('id', '=', move.id),
)

/** The time of a session that is moved, for the statement that moves it. */
export function timeInFront(db: ConversationDatabase, { id, ownerId, time, end }: Move): RawBuilder<number> {
  const newest = db
    .selectFrom('inlay_chat_sessions')
    .select('updated_at as newest')
    .where('owner_id', '=', ownerId)
    .where('id', '<>', id)
    .orderBy('updated_at', 'desc')
    .limit(1)
  const next = db
    .selectFrom(newest.as('other'))
    .where('newest', '>=', time)
    .where('newest', '<', end)
    .select(sql<number>`newest + 1`.as('next'))
  return sql<number>`coalesce(${next}, ${time})`
}

/** The row of a call. What models write may hold what no database takes. */
export function toCallColumns(call: ToolCallRecord, messageId: number): Insertable<ToolCallTable> {
  return {
    message_id: messageId,
    step: call.step,
    turn_index: call.turnIndex,
    tab_index: call.tabIndex,
    call_id: storable(call.callId),
    action_id: call.actionId,
    name: call.name,
    failed: call.failed ? 1 : 0,
    arguments: JSON.stringify(call.arguments),
    result: storable(call.result),
    reasoning: call.reasoning === null ? null : storable(call.reasoning),
    packets: JSON.stringify(call.packets),
    documents: call.documents === null ? null : JSON.stringify(call.documents),
    images: call.images === null ? null : JSON.stringify(call.images),
    parent_call_id: call.parentCallId ?? null,
    sub_turn_index: call.subTurnIndex ?? null,
  }
}

export function toCallRecord(row: Selectable<ToolCallTable>): ToolCallRecord {
  // All JSON here was written by `toCallColumns`.
  const parse = <Value>(json: string): Value => JSON.parse(json) as Value
  return {
    step: row.step,
    turnIndex: row.turn_index,
    tabIndex: row.tab_index,
    callId: row.call_id,
    actionId: row.action_id,
    name: row.name,
    failed: row.failed === 1,
    arguments: parse(row.arguments),
    result: row.result,
    reasoning: row.reasoning,
    packets: row.packets === null ? [] : parse(row.packets),
    documents: row.documents === null ? null : parse(row.documents),
    images: row.images === null ? null : parse(row.images),
    ...(row.parent_call_id !== null && { parentCallId: row.parent_call_id }),
    ...(row.sub_turn_index !== null && { subTurnIndex: row.sub_turn_index }),
  }
}
