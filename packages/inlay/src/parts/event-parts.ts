import type { ToolApprovalEvent } from '@inlay/agent'
import type { Egress } from '@inlay/drivers/egress'
import { InlayError } from '@inlay/protocol'
import type { AnyDatabase } from '@inlay/records'
import { createHmac } from 'node:crypto'
import { webhookKey, type EventHooks, type WebhookOptions } from '../options/event-options.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { createEventDelivery, type Destination, type EventDelivery } from './event-delivery.ts'

const attemptMs = 20_000
/** What a receiver answers is not read. */
const maxAnswerBytes = 2 ** 20

/** Delivery of events to the hook and the webhooks of the options; undefined if there are none. */
export async function eventParts(
  { webhooks = [], hooks, egress: egressOptions }: InlayOptions,
  context: Omit<Parameters<typeof createEventDelivery>[0], 'destinations'>,
): Promise<EventDelivery | undefined> {
  const destinations = hooks?.onEvent ? [hookDestination(hooks, context.onError)] : []
  if (webhooks.length > 0) {
    const { egress } = await import('@inlay/drivers/egress')
    const fetchAddress = egress({ ...egressOptions, timeoutMs: attemptMs, maxRedirects: 0, maxBytes: maxAnswerBytes })
    destinations.push(...webhooks.map((webhook) => webhookDestination(webhook, fetchAddress, context.now)))
  }
  return destinations.length > 0 ? createEventDelivery({ ...context, destinations }) : undefined
}

/** Calls the hook of the host. Its name is no address, so no webhook has it. */
function hookDestination(hooks: EventHooks, onError: (error: unknown) => void): Destination {
  return {
    name: 'onEvent',
    label: 'The hook onEvent',
    takes: () => true,
    deliver: async ({ id, body }, signal) => {
      signal.throwIfAborted()
      const bounds = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)])
      const { promise: late, reject } = Promise.withResolvers<never>()
      bounds.addEventListener('abort', () => reject(bounds.reason))
      const call = async (): Promise<void> => hooks.onEvent?.({ id, ...JSON.parse(body) })
      try {
        await Promise.race([call(), late])
      } catch (error) {
        if (!signal.aborted) onError(error)
        throw new InlayError('HOOK_EXECUTION_FAILED', { cause: error })
      }
    },
  }
}

/** Sends events to a webhook, see https://www.standardwebhooks.com. */
function webhookDestination(
  { url, secrets, events }: WebhookOptions,
  fetchAddress: Egress,
  now: () => number,
): Destination {
  const keys = secrets.flatMap((secret) => webhookKey(secret) ?? [])
  const label = `The webhook at ${new URL(url).host}`
  return {
    name: url,
    label,
    takes: (type) => events?.some((each) => each === type) ?? true,
    deliver: async ({ id, body }, signal) => {
      const timestamp = String(Math.floor(now() / 1000))
      const signed = `${id}.${timestamp}.${body}`
      const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures.join(' '),
      }
      const answer = await fetchAddress(url, { method: 'POST', headers, body, signal })
      if (answer.status >= 200 && answer.status < 300) return
      const { retryAfter } = await import('@inlay/drivers/egress')
      throw new InlayError('BAD_GATEWAY', {
        message: `It answered with status ${answer.status}.`,
        data: { isGone: answer.status === 410, retryAfterSeconds: retryAfter(answer.headers) ?? 0 },
      })
    },
  }
}

export async function recordApproval(
  { recordEvents }: EventDelivery,
  db: AnyDatabase,
  { kind, caller, sessionId, messageId, toolCallId, toolName }: ToolApprovalEvent,
): Promise<void> {
  if (kind !== 'requested') return
  const ids = { chat_session_id: sessionId, message_id: messageId, user_id: caller.id }
  const data = { ...ids, tool_call_id: toolCallId, tool_name: toolName }
  await db.transaction().execute((records) => recordEvents(records, [{ type: 'approval.requested', data }]))
}
