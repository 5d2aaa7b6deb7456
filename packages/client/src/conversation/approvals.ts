import { pendingApprovals, visibleText, type PacketOf, type SendMessageInput } from '@inlay/protocol'
import type { AskedAt } from './conversation.ts'
import type { Question, Turn } from './turn.ts'

export type ApprovalRequest = PacketOf<'tool_approval_request'>

/** The calls that wait in a turn; none unless it is the last one. */
export function waitingCallsOf(turn: Turn, isLast: boolean): readonly ApprovalRequest[] {
  return isLast && turn.columns === null && turn.phase === 'finished' ? pendingApprovals(turn.fold.state) : []
}

export const isExpired = ({ expires_at: end }: ApprovalRequest): boolean => Date.now() >= Date.parse(end)

/**
 * The question that approves or declines all calls of a turn.
 * @param words for people, in their language: what they decided about a call
 */
export function decisionOn(
  turn: Turn,
  requests: readonly ApprovalRequest[],
  approved: ReadonlyMap<string, boolean>,
  words: (request: ApprovalRequest, isApproved: boolean) => string,
): Question {
  const isApproved = ({ tool_call_id: id }: ApprovalRequest): boolean => approved.get(id) === true
  return {
    question: requests.map((request) => words(request, isApproved(request))).join('\n'),
    files: [],
    decision: {
      answerId: turn.fold.state.messageId ?? 0,
      approvals: requests.map((request) => ({ tool_call_id: request.tool_call_id, approved: isApproved(request) })),
    },
  }
}

/** Where a question stands, as fields of its message. Asked again, a decision is a question like any other. */
export function placeOf(
  { decision }: Question,
  { againId, parentId }: Pick<AskedAt, 'againId' | 'parentId'>,
): Pick<SendMessageInput, 'parent_message_id' | 'tool_approvals'> {
  if (decision && againId === null)
    return { parent_message_id: decision.answerId, tool_approvals: decision.approvals.slice() }
  const id = againId ?? parentId
  return id === undefined ? {} : { parent_message_id: id }
}

/** The tool of a call as text: a server chooses its title, the name tells which one runs. */
export function toolOf({ display_name: title, tool_name: name }: ApprovalRequest): string {
  return title === name ? name : `${visibleText(title)} · ${name}`
}

/** An argument of a call as text. Characters that cannot be seen, or change what is seen, are shown by their code. */
export function argumentTexts({
  arguments: given,
}: ApprovalRequest): { readonly name: string; readonly text: string }[] {
  return Object.entries(given).map(([name, value]) => {
    return {
      name: visibleText(name),
      text: visibleText(typeof value === 'string' ? value : JSON.stringify(value, null, 2)),
    }
  })
}
