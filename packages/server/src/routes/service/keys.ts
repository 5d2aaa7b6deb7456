import { InlayError, queryInteger, toUserId, type Principal, type StreamFormat } from '@inlay/protocol'
import {
  apiKeyCreationSchema,
  apiKeyDescriptorSchema,
  apiKeyUpdateSchema,
  fromLimitSet,
  toLimitSet,
  type ApiKeyDescriptor,
  type LimitSet,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { needed } from '../../administration/workspace-of.ts'
import type { ApiKey } from '../../auth/key-records.ts'
import type { Keys, NewApiKey } from '../../auth/keys.ts'
import { toDate } from '../../http/dates.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'

const route = routesOf('API keys', { scope: 'admin', owner: 'any' })
const keyPath = v.object({ api_key_id: queryInteger({ least: 1 }) })
export const keyRoutes: readonly Route[] = [
  route('GET /admin/api-key', 'listKeys', 'List keys', {
    answer: { description: 'The keys in force, oldest first.', schema: v.array(apiKeyDescriptorSchema) },
    handle: async ({ parts }) => (await keysOf(parts).list()).map((record) => toDescriptor(record)),
  }),
  route('POST /admin/api-key', 'createKey', 'Make a key', {
    description: 'Only this answer contains the key itself.',
    input: { body: apiKeyCreationSchema },
    answer: { description: 'The new key.', schema: apiKeyDescriptorSchema },
    errors: ['INVALID_INPUT'],
    async handle({ body, caller, parts }) {
      refuseGroupIds(body.group_ids)
      const keys = keysOf(parts)
      const owner = await ownerOf(body.owner, caller, keys)
      const created = await keys.create({ ...toKey(body), owner })
      return toDescriptor(created.record, created.key)
    },
  }),
  route('PATCH /admin/api-key/{api_key_id}', 'changeKey', 'Change a key', {
    input: { path: keyPath, body: apiKeyUpdateSchema },
    answer: { description: 'The changed key.', schema: apiKeyDescriptorSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path, body, parts }) {
      refuseGroupIds(body.group_ids)
      return toDescriptor(await keysOf(parts).change(path.api_key_id, toKey(body)))
    },
  }),
  route('POST /admin/api-key/{api_key_id}/regenerate', 'regenerateKey', 'Replace a key', {
    description: 'Keeps owner, scopes and name; the old key becomes invalid.',
    input: { path: keyPath },
    answer: { description: 'The key with its new secret.', schema: apiKeyDescriptorSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, parts }) {
      const created = await keysOf(parts).regenerate(path.api_key_id)
      return toDescriptor(created.record, created.key)
    },
  }),
  route('DELETE /admin/api-key/{api_key_id}', 'revokeKey', 'Revoke a key', {
    input: { path: keyPath },
    answer: { description: 'Revoked.', schema: v.null() },
    errors: ['NOT_FOUND'],
    handle: ({ path, parts }) => keysOf(parts).revoke(path.api_key_id),
  }),
]

const keysOf = ({ keys }: ServerParts): Keys => needed(keys, 'This deployment does not manage API keys.')

/** Groups give a key no permissions here: ignoring them could create one with too few or too many. */
function refuseGroupIds(ids: readonly number[] | null | undefined): void {
  if (ids === null || ids === undefined || ids.length === 0) return
  throw new InlayError('INVALID_INPUT', {
    message:
      'Groups have no numeric ids: put the permissions of the key into "scopes" and the names of its ' +
      'groups into "groups".',
  })
}

/** The owner in a request: a `user_id` from a response is mapped back to the id it was derived from. */
async function ownerOf(given: string | null, caller: Principal, keys: Keys): Promise<string | undefined> {
  if (given === null) return undefined
  const known = [caller.id, ...(await keys.list()).map(({ owner }) => owner)]
  return known.find((id) => toUserId(id) === given) ?? given
}

interface TravellingParts {
  readonly stream_format?: StreamFormat | null
  readonly expires_at?: string | null
  readonly limits?: LimitSet | null
}

/** Converts a request body; absent fields stay absent. */
function toKey<Body extends TravellingParts>({
  stream_format: streamFormat,
  expires_at: end,
  limits,
  ...rest
}: Body): Omit<Body, keyof TravellingParts> & Pick<NewApiKey, 'streamFormat' | 'expiresAt' | 'limits'> {
  return {
    ...rest,
    streamFormat,
    ...(end !== undefined && { expiresAt: end === null ? null : Date.parse(end) }),
    ...(limits !== undefined && { limits: limits && fromLimitSet(limits) }),
  }
}

function toDescriptor(record: ApiKey, key: string | null = null): ApiKeyDescriptor {
  return {
    api_key_id: record.id,
    api_key_display: record.display,
    api_key: key,
    api_key_name: record.name,
    user_id: toUserId(record.owner),
    email: record.email,
    groups: [...record.groups],
    scopes: [...record.scopes],
    stream_format: record.streamFormat,
    created_at: new Date(record.createdAt).toISOString(),
    last_used_at: toDate(record.lastUsedAt),
    expires_at: toDate(record.expiresAt),
    limits: record.limits && toLimitSet(record.limits),
  }
}
