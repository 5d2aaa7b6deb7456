import { limitNames, scopes, type CallerLimits, type Scope, type StreamFormat } from '@inlay/protocol'
import type { ApiKey } from '@inlay/server'
import { misuse, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { readsOnly, withInlay } from './with-inlay.ts'

/** Administers API keys. */
export const keys: Command = {
  ...commandTable.keys,
  details: [
    'create prints the key on standard output, once: only a hash of it is stored.',
    `Scopes: ${scopes.join(', ')}. chat implies search, admin implies all.`,
  ],
  words: [1, 2],
  needs: 'create, list, rotate or revoke',
  options: {
    name: { type: 'string', value: 'text', meaning: 'create: what the key is for' },
    scope: {
      type: 'string',
      value: 'scope',
      multiple: true,
      meaning: 'create: what it may do; repeat for several (default: chat)',
    },
    owner: {
      type: 'string',
      value: 'id',
      meaning: 'create: whom it acts for; keys of one owner share sessions (default: itself)',
    },
    expires: {
      type: 'string',
      value: 'days',
      meaning: 'create: how many days it is accepted (default: until it is revoked)',
    },
    limit: {
      type: 'string',
      value: 'name=number',
      multiple: true,
      meaning: `create: what may be used with it, repeated; names: ${limitNames.join(', ')}`,
    },
    'stream-format': {
      type: 'string',
      value: 'sse|lines',
      meaning: 'create: framing of its streams; clients of the reference service need lines',
    },
  },
  async run(context) {
    const [action, id] = context.words
    if (action === 'create' && id === undefined) return create(context)
    if (action === 'list' && id === undefined) return list(context)
    if (action === 'rotate' && id !== undefined) return rotate(context, id)
    if (action === 'revoke' && id !== undefined) return revoke(context, id)
    context.output.note(`Usage: inlay ${keys.usage}`)
    return 2
  },
}

async function create(context: CommandContext): Promise<number> {
  const given = [context.options['scope'] ?? 'chat'].flat()
  const unknown = given.find((scope) => !(scopes as readonly unknown[]).includes(scope))
  if (unknown !== undefined) throw misuse(`"${unknown}" is no scope: --scope takes ${scopes.join(', ')}.`)
  const created = await withInlay(
    context,
    (inlay) =>
      inlay.keys.create({
        name: textOption(context, 'name'),
        owner: textOption(context, 'owner'),
        streamFormat: streamFormatOf(context),
        expiresAt: expiryOf(context),
        limits: limitsOf(context),
        // Each was checked above.
        scopes: given as Scope[],
      }),
    readsOnly,
  )
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
  throw misuse(`"${given}" is no framing: --stream-format takes sse or lines.`)
}

function expiryOf(context: CommandContext): number | undefined {
  const given = textOption(context, 'expires')
  if (given === undefined) return undefined
  if (!/^[1-9]\d{0,4}$/.test(given)) throw misuse(`"${given}" is no number of days: --expires takes 1 to 99999.`)
  return Date.now() + Number(given) * 86_400_000
}

function limitsOf(context: CommandContext): CallerLimits | undefined {
  const given = [context.options['limit'] ?? []].flat().map(String)
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((limit) => {
      const [, name, most] = /^(\w+)=(\d{1,15})$/.exec(limit) ?? []
      if (limitNames.every((known) => known !== name))
        throw misuse(`"${limit}" is no limit: --limit takes <name>=<number>, with a name of ${limitNames.join(', ')}.`)
      return [name, Number(most)]
    }),
  )
}

async function list(context: CommandContext): Promise<number> {
  const { output } = context
  const records = await withInlay(context, (inlay) => inlay.keys.list(), readsOnly)
  if (output.isJson) output.json(records.map(described))
  else if (records.length === 0) output.note('There are no keys; make one with inlay keys create.')
  else for (const record of records) output.line(rowOf(record))
  return 0
}

function numberOf(id: string): number {
  if (/^\d+$/.test(id)) return Number(id)
  throw misuse('A key is named by its number, see inlay keys list.')
}

async function rotate(context: CommandContext, id: string): Promise<number> {
  const replaced = await withInlay(context, (inlay) => inlay.keys.regenerate(numberOf(id)), readsOnly)
  if (context.output.isJson) context.output.json({ key: replaced.key, ...described(replaced.record) })
  else {
    context.output.line(replaced.key)
    context.output.note(`It takes the place of key ${id}, which ends now. It is not shown again.`)
  }
  return 0
}

async function revoke(context: CommandContext, id: string): Promise<number> {
  await withInlay(context, (inlay) => inlay.keys.revoke(numberOf(id)), readsOnly)
  if (context.output.isJson) context.output.json({ id: Number(id), revoked: true })
  else context.output.note(`Key ${id} is revoked.`)
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
