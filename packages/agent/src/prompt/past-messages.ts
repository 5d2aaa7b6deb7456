import type { FileDescriptor } from '@inlay/protocol'
import { removeCitations } from '@inlay/protocol'
import type { PastText } from '../contracts.ts'
import type { AgentDatabase } from '../records/tables.ts'
import { researchToolNames } from '../research/tools.ts'

/** A message of the branch that leads to the new answer, with the calls that led to it. */
export interface PastMessage {
  readonly id: number
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly files: readonly FileDescriptor[]
  readonly toolCalls: readonly PastToolCall[]
}

/** A call as a later turn may remind the model of it. */
export interface PastToolCall {
  readonly step: number
  readonly callId: string
  readonly name: string
  /** JSON of the arguments. */
  readonly arguments: string
  readonly result: string
}

const batch = 40

/**
 * Reads the newest messages of a branch until they hold `limitChars` characters.
 * @param ids the messages of the branch, oldest first, without the root
 * @returns oldest first, beginning with a question
 */
export async function readPast(
  records: AgentDatabase,
  ids: readonly number[],
  limitChars: number,
): Promise<PastMessage[]> {
  const past: PastMessage[] = []
  let chars = 0
  for (let end = ids.length; end > 0 && chars < limitChars; end -= batch) {
    const some = ids.slice(Math.max(0, end - batch), end)
    const rows = await records
      .selectFrom('inlay_chat_messages')
      .select(['id', 'role', 'text', 'files'])
      .where('id', 'in', some)
      .orderBy('id', 'desc')
      .execute()
    const calls = await readCalls(records, some)
    // Ids rise along a branch, so that falling ids are the way back from its end.
    for (const row of rows) {
      if (chars >= limitChars) break
      const toolCalls = calls.get(row.id) ?? []
      chars += row.text.length + toolCalls.reduce((sum, call) => sum + call.result.length, 0)
      past.push({
        id: row.id,
        role: row.role === 'assistant' ? 'assistant' : 'user',
        text: row.text,
        // Written by us from checked descriptors.
        files: row.files === null ? [] : (JSON.parse(row.files) as FileDescriptor[]),
        toolCalls,
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

const mostTextChars = 2_000
const mostPastTexts = 10

/** The newest messages as text for actions, oldest first: ten at most, each cut to 2000 characters. */
export function toPastTexts(messages: readonly PastMessage[]): PastText[] {
  return messages.slice(-mostPastTexts).map(({ role, text }) => ({
    role,
    text: (role === 'assistant' ? removeCitations(text) : text).slice(0, mostTextChars).toWellFormed(),
  }))
}

async function readCalls(records: AgentDatabase, messageIds: readonly number[]): Promise<Map<number, PastToolCall[]>> {
  const rows = await records
    .selectFrom('inlay_chat_tool_calls')
    .select(['message_id', 'step', 'call_id', 'name', 'arguments', 'result'])
    .where('message_id', 'in', messageIds)
    // What research agents did and reported is in the answer; all of it would fill the prompts that follow.
    .where('parent_call_id', 'is', null)
    .where('name', '!=', researchToolNames.agent)
    .orderBy('id')
    .execute()
  const byMessage = new Map<number, PastToolCall[]>()
  for (const row of rows) {
    const calls = byMessage.get(row.message_id) ?? []
    calls.push({ step: row.step, callId: row.call_id, name: row.name, arguments: row.arguments, result: row.result })
    byMessage.set(row.message_id, calls)
  }
  return byMessage
}
