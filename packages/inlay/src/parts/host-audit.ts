import type { ToolApprovalEvent } from '@inlay/agent'
import { isInlayError } from '@inlay/protocol'
import type { Holds } from '@inlay/records'
import type { AuditLog, Keys } from '@inlay/server'

/** Key management whose changes are audited without a caller, with the same operation names as over HTTP. */
export function auditedKeys(keys: Keys, audit: AuditLog): Keys {
  return {
    ...keys,
    create: async (wanted) => {
      const created = await keys.create(wanted)
      await note(audit, 'createKey', { id: String(created.record.id) })
      return created
    },
    change: (id, change) => audited(audit, 'changeKey', { api_key_id: String(id) }, () => keys.change(id, change)),
    regenerate: (id) => audited(audit, 'regenerateKey', { api_key_id: String(id) }, () => keys.regenerate(id)),
    revoke: (id) => audited(audit, 'revokeKey', { api_key_id: String(id) }, () => keys.revoke(id)),
  }
}

export function auditedHolds(holds: Holds, audit: AuditLog): Holds {
  return {
    ...holds,
    place: (hold) =>
      audited(audit, 'placeHold', hold.person === null ? {} : { person: hold.person }, () => holds.place(hold)),
    lift: (id) => audited(audit, 'liftHold', { hold_id: String(id) }, () => holds.lift(id)),
  }
}

/** Runs work and audits it without a caller, even if it fails. */
export async function audited<Result>(
  audit: AuditLog,
  operation: string,
  target: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work()
    await note(audit, operation, target)
    return result
  } catch (error) {
    await note(audit, operation, target, isInlayError(error) ? error.status : 500).catch(() => {})
    throw error
  }
}

/** Audits that a call was to be approved, and what became of it; never its arguments. */
export async function auditApproval(audit: AuditLog, event: ToolApprovalEvent): Promise<void> {
  const { kind, caller, sessionId, messageId, toolCallId, toolName } = event
  const target = { session_id: sessionId, message_id: String(messageId), tool_call_id: toolCallId, tool: toolName }
  const operation = `toolCall.${kind}`
  await audit.add({ operation, callerId: caller.id, target, status: 200, requestId: '' })
}

function note(
  audit: AuditLog,
  operation: string,
  target: Readonly<Record<string, string>>,
  status = 200,
): Promise<void> {
  return audit.add({ operation, callerId: null, target, status, requestId: '' })
}
