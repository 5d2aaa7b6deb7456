import type { ToolCallDetail } from '@inlay/protocol'
import type { ToolCallRecord } from '../contracts/conversation-store.ts'

export function toCallDetail(call: ToolCallRecord): ToolCallDetail {
  return {
    turn_index: call.turnIndex,
    tab_index: call.tabIndex,
    sub_turn_index: call.subTurnIndex,
    tool_name: call.name,
    tool_arguments: call.arguments,
    tool_result: call.result,
    search_docs: call.documents,
    generated_images: call.images,
  }
}
