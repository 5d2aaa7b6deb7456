import { InlayError } from '@inlay/protocol'
import { apiKeyDescriptorSchema, fromLimitSet, toLimitSet, type ApiKeyDescriptor } from '@inlay/protocol/administration'
import type { ApiKey, Keys } from '@inlay/server'
import * as v from 'valibot'
import type { CommandContext } from './command.ts'
import { jsonOf, remoteOf, withService, type Service } from './service.ts'
import { needData, noteErrors } from './with-inlay.ts'

export type KeyAdministration = Pick<Keys, 'create' | 'list' | 'regenerate' | 'revoke'>

/** On the server given by `--url`, otherwise on the data folder. @param options.creates whether it may create that */
export async function withKeys<Result>(
  context: CommandContext,
  work: (keys: KeyAdministration) => Promise<Result>,
  { creates = false }: { readonly creates?: boolean } = {},
): Promise<Result> {
  if (remoteOf(context)) return withService(context, (service) => work(remoteKeys(service)))
  if (!creates) await needData(context)
  const { openKeys } = await import('../parts/open-keys.ts')
  const { keys, close } = await openKeys(context.settings.options, noteErrors(context))
  try {
    return await work(keys)
  } finally {
    await close()
  }
}

function remoteKeys(service: Service): KeyAdministration {
  const path = '/admin/api-key'
  const withKey = async (below: string, body?: unknown): Promise<{ key: string; record: ApiKey }> => {
    const init = { method: 'POST', ...(body !== undefined && { body: JSON.stringify(body) }) }
    const descriptor = await jsonOf(service, `${path}${below}`, apiKeyDescriptorSchema, init)
    if (descriptor.api_key === null)
      throw new InlayError('BAD_GATEWAY', { message: 'The service did not return the key.' })
    return { key: descriptor.api_key, record: toRecord(descriptor) }
  }
  return {
    list: async () => (await jsonOf(service, path, v.array(apiKeyDescriptorSchema))).map(toRecord),
    create: ({ name, owner, streamFormat, expiresAt, limits, scopes }) =>
      withKey('', {
        name: name ?? null,
        owner: owner ?? null,
        stream_format: streamFormat ?? null,
        expires_at: expiresAt === undefined || expiresAt === null ? null : new Date(expiresAt).toISOString(),
        limits: limits === undefined || limits === null ? null : toLimitSet(limits),
        scopes,
      }),
    regenerate: (id) => withKey(`/${id}/regenerate`),
    revoke: async (id) => void (await jsonOf(service, `${path}/${id}`, v.unknown(), { method: 'DELETE' })),
  }
}

function toRecord(descriptor: ApiKeyDescriptor): ApiKey {
  const timeOf = (time: string | null): number | null => (time === null ? null : Date.parse(time))
  return {
    id: descriptor.api_key_id,
    display: descriptor.api_key_display,
    name: descriptor.api_key_name,
    owner: descriptor.user_id,
    email: descriptor.email,
    groups: descriptor.groups,
    scopes: descriptor.scopes,
    streamFormat: descriptor.stream_format,
    createdAt: Date.parse(descriptor.created_at),
    lastUsedAt: timeOf(descriptor.last_used_at),
    expiresAt: timeOf(descriptor.expires_at),
    limits: descriptor.limits && fromLimitSet(descriptor.limits),
  }
}
