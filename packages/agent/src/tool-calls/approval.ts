import { InlayError, isJsonObject, type PacketBody, type PacketOf, type ToolApproval } from '@inlay/protocol'
import type { Action, ToolApprovalPolicy } from '../contracts/action.ts'
import type { ToolCallRecord } from '../contracts/conversation-store.ts'
import { notMade } from '../prompt/model-steps.ts'

/** A call that waited for a person, with what that person decided. */
export interface DecidedCall extends ToolCallRecord {
  readonly decision: Required<ToolApproval>
}

const policies: readonly ToolApprovalPolicy[] = ['never', 'writes', 'always']

export function stricterPolicy(
  policy: ToolApprovalPolicy,
  other: ToolApprovalPolicy | null | undefined,
): ToolApprovalPolicy {
  return policies[Math.max(policies.indexOf(policy), policies.indexOf(other ?? 'never'))] ?? 'always'
}

/** Whether a person has to approve the calls of an action, or by which arguments. */
export function approvalRule(
  { needsApproval: own = false, builtIn, isReadOnly }: Action,
  policy: ToolApprovalPolicy,
): NonNullable<Action['needsApproval']> {
  return (policy === 'always' && builtIn === null) || (policy === 'writes' && isReadOnly === false) || own
}

/** Whether a person has to approve a call; also when its action fails to tell. */
export async function needsApproval(
  action: Action,
  input: unknown,
  { approval, onError }: { readonly approval: ToolApprovalPolicy; readonly onError: (error: unknown) => void },
): Promise<boolean> {
  const rule = approvalRule(action, approval)
  if (typeof rule !== 'function') return rule
  try {
    return await rule(input)
  } catch (error) {
    onError(error)
    return true
  }
}

/** The request for a call that was asked for at a place of an answer, and the call as it is stored with that answer. */
export function waitingCall(
  { displayName, serverName, start, id: actionId, name }: Action,
  call: Pick<ToolCallRecord, 'step' | 'turnIndex' | 'tabIndex' | 'reasoning' | 'callId' | 'arguments'>,
  expiresAt: number,
): { readonly request: PacketOf<'tool_approval_request'>; readonly record: ToolCallRecord } {
  const request = {
    type: 'tool_approval_request',
    tool_call_id: call.callId,
    tool_name: name,
    // Operations of one OpenAPI document share its name.
    display_name: displayName === serverName ? name : displayName,
    server_name: serverName ?? null,
    arguments: call.arguments,
    expires_at: new Date(expiresAt).toISOString(),
  } as const
  const started = start?.()
  const packets: PacketBody[] = [...(started ? [started] : []), request]
  const ended = { failed: false, result: notMade, packets, documents: null, images: null }
  return { request, record: { ...call, actionId, name, ...ended } }
}

/** Until when a call of an answer can be approved, in milliseconds since 1970 UTC; undefined unless it waits. */
export function approvableUntil({ packets }: ToolCallRecord): number | undefined {
  const request = packets.find((packet) => packet.type === 'tool_approval_request')
  return request && Date.parse(request.expires_at)
}

/** @throws VALIDATION_ERROR unless there is one decision about each call */
export function decideCalls(waiting: readonly ToolCallRecord[], decisions: readonly ToolApproval[]): DecidedCall[] {
  const byId = new Map(decisions.map((decision) => [decision.tool_call_id, decision]))
  const decided = waiting.flatMap((call): DecidedCall[] => {
    const decision = byId.get(call.callId)
    return decision ? [{ ...call, decision: { ...decision, reason: decision.reason ?? null } }] : []
  })
  if (decided.length === waiting.length && decided.length === decisions.length) return decided
  const ids = waiting.map(({ callId }) => callId).join(', ')
  throw new InlayError('VALIDATION_ERROR', {
    message: `tool_approvals takes one decision about each call that waits: ${ids}.`,
  })
}

export function declinedText({ reason }: ToolApproval): string {
  return reason?.trim() ? `The user declined: ${reason}` : 'The user declined this call.'
}

/** Arguments of a call for people and records. */
export const toArguments = (input: unknown): Readonly<Record<string, unknown>> => (isJsonObject(input) ? input : {})
