import { limitNames, scopes, type CallerLimits, type Scope, type StreamFormat } from '@inlay/protocol'
import type { ApiKey } from '@inlay/server'
import { actionOf } from './action-of.ts'
import { misuse, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { withKeys } from './with-keys.ts'
import { option } from './shared-options.ts'

export const keys: Command = {
  ...commandTable.keys,
  details: [
    'Use the number shown by list for rotate <id> and revoke <id>.',
    'create prints the key on standard output, once: only a hash of it is stored.',
    `Scopes: ${scopes.join(', ')}. chat implies search, admin implies all.`,
  ],
  words: [0, Number.POSITIVE_INFINITY],
  options: {
    name: option('text', 'what the key is for', { action: 'create' }),
    scope: option('scope', 'scope of the key; repeat for several (default: chat)', {
      action: 'create',
      multiple: true,
    }),
    owner: option('id', 'owner of the key; keys of one owner share sessions (default: the key itself)', {
      action: 'create',
    }),
    expires: option('days', 'days until the key expires (default: never)', { action: 'create' }),
    limit: option('name=number', `limit of the key, can be repeated; names: ${limitNames.join(', ')}`, {
      action: 'create',
      multiple: true,
    }),
    'stream-format': option('sse|lines', 'stream format; some existing clients need lines', { action: 'create' }),
  },
  async run(context) {
    const {
      action,
      given: [id = ''],
    } = actionOf(context, keys, { list: '', create: '', rotate: '<id>', revoke: '<id>' })
    if (action === 'create') return create(context)
    if (action === 'rotate') return rotate(context, id)
    return action === 'revoke' ? revoke(context, id) : list(context)
  },
}

async function create(context: CommandContext): Promise<number> {
  const given = [context.options['scope'] ?? 'chat'].flat()
  const unknown = given.find((scope) => !(scopes as readonly unknown[]).includes(scope))
  if (unknown !== undefined) throw misuse(`"${unknown}" is not a scope: use ${scopes.join(', ')}.`)
  const wanted = {
    name: textOption(context, 'name'),
    owner: textOption(context, 'owner'),
    streamFormat: streamFormatOf(context),
    expiresAt: expiryOf(context),
    limits: limitsOf(context),
    // Each value was checked above.
    scopes: given as Scope[],
  }
  const created = await withKeys(context, (keys) => keys.create(wanted), { creates: true })
  if (context.output.isJson) context.output.json({ key: created.key, ...described(created.record) })
  else {
    context.output.line(created.key)
    context.output.note(`Key ${created.record.id} may ${created.record.scopes.join(', ')}. It is not shown again.`)
  }
  return 0
}

function streamFormatOf(context: CommandContext): StreamFormat | undefined {
  const given = textOption(context, 'stream-format')
  if (given === undefined || given === 'sse' || given === 'lines') return given
  throw misuse(`"${given}" is not a stream format: use sse or lines.`)
}

function expiryOf(context: CommandContext): number | undefined {
  const given = textOption(context, 'expires')
  if (given === undefined) return undefined
  if (!/^[1-9]\d{0,4}$/.test(given)) throw misuse(`"${given}" is not a number of days: use 1 to 99999.`)
  return Date.now() + Number(given) * 86_400_000
}

function limitsOf(context: CommandContext): CallerLimits | undefined {
  const given = [context.options['limit'] ?? []].flat().map(String)
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((limit) => {
      const [, name, most] = /^(\w+)=(\d{1,15})$/.exec(limit) ?? []
      if (limitNames.every((known) => known !== name))
        throw misuse(`"${limit}" is not a limit: use <name>=<number>, with one of the names ${limitNames.join(', ')}.`)
      return [name, Number(most)]
    }),
  )
}

async function list(context: CommandContext): Promise<number> {
  const { output } = context
  const records = await withKeys(context, (keys) => keys.list())
  if (output.isJson) output.json(records.map(described))
  else if (records.length === 0) output.note('There are no keys; create one with inlay keys create.')
  else for (const record of records) output.line(rowOf(record))
  return 0
}

function numberOf(id: string): number {
  if (/^\d+$/.test(id)) return Number(id)
  throw misuse('Specify a key by its number, see inlay keys list.')
}

async function rotate(context: CommandContext, id: string): Promise<number> {
  const number = numberOf(id)
  const replaced = await withKeys(context, (keys) => keys.regenerate(number))
  if (context.output.isJson) context.output.json({ key: replaced.key, ...described(replaced.record) })
  else {
    context.output.line(replaced.key)
    context.output.note(`It replaces key ${id}, which is now invalid. It is not shown again.`)
  }
  return 0
}

async function revoke(context: CommandContext, id: string): Promise<number> {
  const number = numberOf(id)
  await withKeys(context, (keys) => keys.revoke(number))
  if (context.output.isJson) context.output.json({ id: number, revoked: true })
  else context.output.note(`Key ${id} was revoked.`)
  return 0
}

function rowOf(record: ApiKey): string {
  const used =
    record.lastUsedAt === null ? 'never used' : `used ${new Date(record.lastUsedAt).toISOString().slice(0, 10)}`
  const expiry = record.expiresAt === null ? [] : [`expires ${new Date(record.expiresAt).toISOString().slice(0, 10)}`]
  const columns = [String(record.id).padStart(3), record.display, record.scopes.join(','), record.name ?? '', used]
  return [...columns, ...expiry].join('  ')
}

function described(record: ApiKey): Record<string, unknown> {
  return {
    id: record.id,
    name: record.name,
    display: record.display,
    owner: record.owner,
    scopes: record.scopes,
    stream_format: record.streamFormat,
    created_at: new Date(record.createdAt).toISOString(),
    last_used_at: record.lastUsedAt === null ? null : new Date(record.lastUsedAt).toISOString(),
    expires_at: record.expiresAt === null ? null : new Date(record.expiresAt).toISOString(),
    limits: record.limits,
  }
}
