import { isJsonObject, type Packet, type SearchDoc } from '@inlay/protocol'
import type { Selectable } from 'kysely'
import { idsOf, type ConversationDatabase } from '../tables/database.ts'
import type { MessageTable, SessionTable } from '../tables/chat-tables.ts'
import { byScore, recordedPackets, replayPackets, type ToolCallRecord } from '@inlay/agent'
import { createSlices, mapInSlices } from '@inlay/scheduling'
import type { FailedCall, StoredMessage, StoredSession } from './stored-session.ts'
import { toListing, toIsoTime } from './listing.ts'
import { isAmong } from '@inlay/records'
import { toCallRecord, toLines } from './store-answer.ts'

/** Rows read in one go: others get their turn while a long session is read. */
const pageRows = 100

export async function readSession(
  db: ConversationDatabase,
  row: Selectable<SessionTable>,
  currentRunId: number | null,
): Promise<StoredSession> {
  const ordered = await readMessages(db, row.id)
  const ids = idsOf(ordered)
  const calls = await readCalls(db, ids)
  const answers = ordered.filter(({ role }) => role === 'assistant')
  return {
    ...toListing(row),
    ownerId: row.owner_id,
    isDeleted: row.deleted_at !== null,
    messages: await mapInSlices(ordered, (message) => toMessage(message, calls.get(message.id) ?? [])),
    packets: await mapInSlices(answers, (message) =>
      message.status === 'running' ? [] : toPackets(message, calls.get(message.id) ?? []),
    ),
    currentRunId,
  }
}

/** The messages of a session, in the order of {@link StoredSession.messages}. */
export async function readMessages(
  db: ConversationDatabase,
  sessionId: string,
): Promise<readonly Selectable<MessageTable>[]> {
  const slices = createSlices({ isAwaited: true })
  const rows: Selectable<MessageTable>[] = []
  for (let isMore = true; isMore;) {
    if (slices.isOver()) await slices.next()
    const page = await db
      .selectFrom('inlay_chat_messages')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('id', '>', rows.at(-1)?.id ?? 0)
      .orderBy('id')
      .limit(pageRows)
      .execute()
    rows.push(...page)
    isMore = page.length === pageRows
  }
  return rows.toSorted((a, b) => (a.parent_id ?? 0) - (b.parent_id ?? 0) || a.id - b.id)
}

export async function readCalls(
  db: ConversationDatabase,
  messageIds: readonly number[],
): Promise<Map<number, ToolCallRecord[]>> {
  const slices = createSlices({ isAwaited: true })
  const byMessage = new Map<number, ToolCallRecord[]>()
  for (let from = 0; from < messageIds.length; from += pageRows) {
    const rows = await db
      .selectFrom('inlay_chat_tool_calls')
      .selectAll()
      .where(isAmong(db, 'message_id', messageIds.slice(from, from + pageRows)))
      .orderBy('id')
      .execute()
    for (const row of rows) {
      if (slices.isOver()) await slices.next()
      byMessage.set(row.message_id, [...(byMessage.get(row.message_id) ?? []), toCallRecord(row)])
    }
  }
  return byMessage
}

type Citations = readonly { readonly number: number; readonly documentId: string }[]

// Both are written by us from values of these types.
const documentsOf = (row: Selectable<MessageTable>): readonly SearchDoc[] | null =>
  parse(row.documents) as readonly SearchDoc[] | null
const citationsOf = (row: Selectable<MessageTable>): Citations => (parse(row.citations) ?? []) as Citations

/** Packets that show an answer again as it was streamed, from its lines or, where none were kept, from its tool calls. */
export function toPackets(row: Selectable<MessageTable>, calls: readonly ToolCallRecord[]): Packet[] {
  const lines = toLines(row)
  if (lines) return recordedPackets(lines)
  return replayPackets({
    text: row.text,
    reasoning: row.reasoning,
    documents: documentsOf(row),
    citations: citationsOf(row),
    wasCancelled: row.status === 'cancelled',
    // The steps of research agents are not shown again.
    calls: calls.filter(({ parentCallId }) => parentCallId === undefined),
  })
}

export function toMessage(row: Selectable<MessageTable>, calls: readonly ToolCallRecord[]): StoredMessage {
  const documents = documentsOf(row)
  const citations = citationsOf(row).map(({ number, documentId }) => [String(number), documentId])
  return {
    id: row.id,
    parentId: row.parent_id,
    latestChildId: row.latest_child_id,
    role: row.role,
    text: row.text,
    reasoning: row.reasoning,
    documents: documents === null ? null : byScore(documents),
    citations: citations.length === 0 ? null : Object.fromEntries(citations),
    timeSent: toIsoTime(row.created_at),
    // Written by us from checked descriptors.
    files: (parse(row.files) ?? []) as StoredMessage['files'],
    error: row.error,
    feedback: row.feedback === 'like' || row.feedback === 'dislike' ? row.feedback : null,
    durationSeconds: row.duration_ms === null ? null : Number(row.duration_ms) / 1000,
    preferredResponseId: row.preferred_response_id,
    modelDisplayName: row.model_display_name,
    requestParams: toRecord(row.request_params),
    failedCalls: calls.filter(({ failed }) => failed).map(toFailedCall),
  }
}

function toFailedCall({ turnIndex, tabIndex, subTurnIndex, name, result }: ToolCallRecord): FailedCall {
  const reason = result.replace(/^(?:Tool failed with error|The research agent failed): /, '')
  return { turnIndex, tabIndex, subTurnIndex: subTurnIndex ?? null, name, reason }
}

function toRecord(json: string | null): Record<string, unknown> | null {
  const value = parse(json)
  return isJsonObject(value) ? value : null
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}
