import { InlayError, type SendMessageRequest } from '@inlay/protocol'
import type { OwnedSending } from '../contracts/agent.ts'
import type { LiveRun } from '../run/live-runs.ts'
import type { ToolCallRecord } from '../contracts/conversation-store.ts'
import { approvableUntil, decideCalls, type DecidedCall } from '../tool-calls/approval.ts'
import { startRun } from './start-run.ts'
import type { TurnParts } from './turn-parts.ts'

/**
 * Sends a message that approves or declines the calls of the newest answer. Each answer has one such message: its id is
 * the idempotency key, so the same decisions get the same run, in any process, and others are a CONFLICT.
 */
export async function sendApprovals(
  parts: TurnParts,
  request: SendMessageRequest,
  decisions: NonNullable<SendMessageRequest['tool_approvals']>,
  sending: OwnedSending,
): Promise<LiveRun> {
  const { chat_session_id: sessionId, parent_message_id: messageId } = request
  if (sessionId === null || messageId === null || messageId < 0)
    throw new InlayError('VALIDATION_ERROR', {
      message: 'tool_approvals needs chat_session_id and, as parent_message_id, the answer whose calls wait.',
    })
  const sorted = decisions.toSorted((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1))
  const { caller } = sending
  return parts.keyedSends.once(`tool-approval-${messageId}`, { tool_approvals: sorted }, caller, async (key, retry) => {
    const { replaces: failedId } = key
    const mayRun = decisions.some(({ approved }) => approved)
    if (failedId !== undefined && mayRun) await checkNotBegun(parts, failedId, decisions.length)
    const waiting = await readWaiting(parts, { sessionId, messageId, failedId }, sending)
    const decided = decideCalls(waiting, decisions)
    const message = request.message.trim() === '' ? wordsFor(decided) : request.message
    const run = await startRun(parts, { ...request, message }, sending, { key, retry, decided })
    for (const { name: toolName, decision } of retry ? [] : decided) {
      const kind = decision.approved ? 'approved' : 'declined'
      parts.onApproval({ kind, caller, sessionId, messageId, toolCallId: decision.tool_call_id, toolName })
    }
    return run
  })
}

const wordsFor = (decided: readonly DecidedCall[]): string =>
  decided.map(({ name, decision }) => `${decision.approved ? 'Approved' : 'Declined'}: ${name}`).join('\n')

/** @throws CONFLICT unless it is certain that an answer failed before it made any approved call: none is made twice */
async function checkNotBegun({ runStore }: TurnParts, failedId: number, count: number): Promise<void> {
  const { lines, toolCalls } = await runStore.answer(failedId)
  if (lines?.every((line) => !line.includes('"tool_approval_response"'))) return
  const verb = toolCalls.filter(({ step }) => step === 0).length === count ? 'were' : 'may have been'
  throw noLonger(`These calls ${verb} made, and the answer to them failed.`)
}

/** @throws SESSION_NOT_FOUND, CONFLICT when the chat went on or the time is over */
async function readWaiting(
  { conversations, runStore, now, onApproval }: TurnParts,
  { sessionId, messageId, failedId }: { sessionId: string; messageId: number; failedId: number | undefined },
  { caller }: OwnedSending,
): Promise<readonly ToolCallRecord[]> {
  await conversations.session(sessionId, caller.id)
  const { messages } = await conversations.branch(sessionId, null, { chars: 1, withoutCallsOf: [] })
  const last = messages.at(-1)
  const isNewest = failedId === undefined ? last?.id === messageId && last.status === 'done' : last?.id === failedId
  const { toolCalls } = isNewest ? await runStore.answer(messageId) : { toolCalls: [] }
  const waiting = toolCalls.filter((call) => approvableUntil(call) !== undefined)
  if (waiting.length === 0) throw noLonger('No call of this answer waits for approval.')
  const expired = waiting.filter((call) => now() >= (approvableUntil(call) ?? 0))
  for (const { callId: toolCallId, name: toolName } of expired)
    onApproval({ kind: 'expired', caller, sessionId, messageId, toolCallId, toolName })
  if (expired.length > 0) throw noLonger('The time to approve these calls is over.')
  return waiting
}

const noLonger = (reason: string): InlayError =>
  new InlayError('CONFLICT', { message: `${reason} Send a message without tool_approvals to go on.` })
