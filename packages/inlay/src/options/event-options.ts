import * as v from 'valibot'
import { address, only } from './kinds.ts'
import type { Row } from './rows.ts'

const types = [
  'document.indexed',
  'document.failed',
  'answer.finished',
  'feedback.given',
  'approval.requested',
] as const

/** An address that gets events, signed as Standard Webhooks asks. */
export interface WebhookOptions {
  /** Must be on the public internet, or among the hosts of `egress.allowHosts`. */
  readonly url: string
  /** `whsec_` and 24 to 64 bytes in base64. Several while the secret changes: each signs. */
  readonly secrets: readonly string[]
  /** Types that are sent. Default: all. */
  readonly events?: readonly (typeof types)[number][] | undefined
}

/** The key of a secret; undefined if it is none. */
export function webhookKey(secret: string): Buffer | undefined {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return undefined
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

const secretCheck = v.custom(
  (value) => typeof value === 'string' && webhookKey(value) !== undefined,
  'must be whsec_ followed by 24 to 64 random bytes in base64, such as of `openssl rand -base64 32`',
)
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
}
