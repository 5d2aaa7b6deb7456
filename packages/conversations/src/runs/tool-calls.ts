import type { ToolCallRecord } from '@inlay/agent'
import { storable } from '@inlay/protocol'
import type { Insertable, Selectable } from 'kysely'
import type { ToolCallTable } from '../tables/chat-tables.ts'

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

/** A stored call. */
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
