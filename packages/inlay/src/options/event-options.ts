import type { OutgoingEvent } from '@inlay/records'
import * as v from 'valibot'
import { address, isHttp, listOf, only, textLike } from './kinds.ts'
import { option, type Row } from './rows.ts'

const types = [
  'document.indexed',
  'document.failed',
  'answer.finished',
  'feedback.given',
  'approval.requested',
] as const satisfies readonly OutgoingEvent['type'][]

/** An event as webhooks get it. */
export type InlayEvent = OutgoingEvent & {
  /** The same when the event comes again; the `webhook-id` of webhooks. */
  readonly id: string
  /** ISO time. */
  readonly timestamp: string
}

/** Callback of the host for events. */
export interface EventHooks {
  /**
   * Called with each event that webhooks get, at least once, in one of the processes that have this hook. If it throws or
   * takes longer than 20 seconds, the error goes to `onError`, and the event comes again later.
   */
  readonly onEvent?: ((event: InlayEvent) => Promise<void> | void) | undefined
}

/** An address that gets events, signed as Standard Webhooks asks. */
export interface WebhookOptions {
  /** Must be on the public internet, or among the hosts of `egress.allowHosts`. */
  readonly url: string
  /** `whsec_` and 24 to 64 bytes in base64. Several while the secret changes: each signs. */
  readonly secrets: readonly string[]
  /** Types that are sent. Default: all. */
  readonly events?: readonly InlayEvent['type'][] | undefined
}

/** The key of a secret; undefined if it is none. */
export function webhookKey(secret: string): Buffer | undefined {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return undefined
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

const secretForm = 'whsec_ followed by 24 to 64 random bytes in base64, such as of `openssl rand -base64 32`'
const isSecret = (value: unknown): boolean => typeof value === 'string' && webhookKey(value) !== undefined
const secretCheck = v.custom(isSecret, `must be ${secretForm}`)
const typeCheck = v.picklist(types, `must be among ${types.join(', ')}`)

export const webhooksRow: Row<readonly WebhookOptions[]> = {
  check: v.array(
    only(
      '{ url, secrets, events }',
      { url: address, secrets: v.pipe(v.array(secretCheck), v.nonEmpty('needs a secret')), events: v.array(typeCheck) },
      ['url', 'secrets'],
    ),
    'must be a list of { url, secrets, events }',
  ),
  fields: {
    url: option(textLike('an http or https address, such as https://app.example/events', isHttp), 'INLAY_WEBHOOK_URL', {
      isSecret: true,
    }),
    secrets: option(
      listOf(`${secretForm}; two, separated by a comma, while it changes`, isSecret),
      'INLAY_WEBHOOK_SECRET',
      { isSecret: true },
    ),
  },
}
