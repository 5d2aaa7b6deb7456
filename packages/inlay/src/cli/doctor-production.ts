import { stat } from 'node:fs/promises'
import { isLoopbackName } from '../page.ts'
import { engineAddresses, indexPlaceOf, usesDataFolder } from '../options/engines.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import type { CommandContext } from './command.ts'
import { databaseRows } from './doctor-locks.ts'
import { ok, warning, type Finding } from './finding.ts'
import { dataFolderOf } from './with-inlay.ts'

/** Passwords and keys of examples and of containers. */
const knownSecret = /^$|change|example|password|secret|postgres|inlay$|test|admin|1234/i

/** What to look at before others can reach an installation. It reads the settings, the data folder and the database. */
export async function checkProduction(context: CommandContext): Promise<readonly Finding[]> {
  const { host, options } = context.settings
  return [
    ...checkAccess(host, options),
    ...checkAddresses(options),
    ...(await checkRole(options)),
    ...(usesDataFolder(options) ? await checkPermissions(dataFolderOf(context)) : []),
  ]
}

function checkAccess(host: string, options: InlayOptions): readonly Finding[] {
  const { apiKey, corsOrigins, secretKey, callerLimits, tenantLimits, retention } = options
  return [
    isLoopbackName(host)
      ? ok('Network', 'only this machine reaches it: let the proxy in front of it end TLS')
      : warning('Network', `${host} takes plain HTTP from the network`, 'Let only a proxy that ends TLS reach it.'),
    apiKey === undefined
      ? ok('Keys', 'INLAY_API_KEY is not set: each key has scopes and an owner of its own')
      : knownSecret.test(apiKey) || apiKey.length < 24
        ? warning(
            'Keys',
            'INLAY_API_KEY is short or a known word',
            'Set 24 random characters or more: openssl rand -hex 24.',
          )
        : warning(
            'Keys',
            'INLAY_API_KEY has all scopes',
            'Give programs keys of their own (inlay keys create), then remove this setting.',
          ),
    corsOrigins === '*'
      ? warning('Origins', 'pages of all origins may call the API', 'List their origins in INLAY_CORS_ORIGINS.')
      : ok('Origins', corsOrigins?.length ? `pages of ${corsOrigins.join(', ')}` : 'no pages of other origins'),
    callerLimits || tenantLimits
      ? ok('Limits', 'callers have limits')
      : warning('Limits', 'callers have no limits', 'Set INLAY_CALLER_LIMITS, such as tokensPerDay=200000.'),
    secretKey === undefined
      ? warning('Added keys', 'administrators cannot add models with keys', 'Set INLAY_SECRET_KEY to a random text.')
      : ok('Added keys', 'encrypted with INLAY_SECRET_KEY'),
    ok('Metrics', 'only for keys with the scope admin'),
    ok('Egress', `addresses that users, documents and models choose must be public${allowed(options)}`),
    ok('Audit', `on, kept ${retention?.maxAuditDays ? `for ${retention.maxAuditDays} days` : 'for good'}`),
  ]
}

const allowed = ({ egress }: InlayOptions): string =>
  egress?.allowHosts?.length ? `, or ${egress.allowHosts.join(', ')}` : ''

/** Passwords and TLS of the engines that have an address. */
function checkAddresses(options: InlayOptions): readonly Finding[] {
  const { database, index = '', sharedRuns: redis } = engineAddresses(options)
  const place = indexPlaceOf(index)
  const nodes = place?.engine === 'opensearch' ? place.nodes : place?.engine === 'pgvector' ? [place.address] : []
  const addresses = Object.entries({
    INLAY_DATABASE_URL: [database],
    INLAY_INDEX_URL: nodes,
    INLAY_REDIS_URL: [redis],
    INLAY_S3_ENDPOINT: [options.s3?.endpoint],
  }).flatMap(([name, given]) => given.flatMap((text) => (text === undefined ? [] : [{ name, url: new URL(text) }])))
  return addresses.flatMap(({ name, url }) => {
    const { password, username, protocol, searchParams } = url
    // Of a database it may be a parameter, as `pg` reads it.
    const host = decodeURIComponent(searchParams.get('host') ?? url.host) || 'localhost'
    if (host.startsWith('/')) return [ok(name, 'a socket of this machine')]
    const hasTls = /^(rediss|https):$/.test(protocol) || /^(require|verify)/.test(searchParams.get('sslmode') ?? '')
    const tls = protocol.startsWith('postgres') ? 'Add ?sslmode=verify-full.' : `Use ${protocol.replace(':', 's://')}.`
    const isKnown = knownSecret.test(password) || password === username
    return [
      ...(name === 'INLAY_S3_ENDPOINT'
        ? []
        : isKnown
          ? [warning(name, 'the password is absent or a known word', 'Set a random one: openssl rand -hex 24.')]
          : [ok(name, 'has a password')]),
      hasTls || isLoopbackName(host)
        ? ok(name, 'protected on the way')
        : warning(name, `goes to ${host} without TLS`, tls),
    ]
  })
}

async function checkRole(options: InlayOptions): Promise<readonly Finding[]> {
  const [role] = await databaseRows<{ readonly super: boolean; readonly creates: boolean }>(
    options,
    `select rolsuper as super, has_schema_privilege(current_schema(), 'create') as creates
     from pg_roles where rolname = current_user`,
  )
  if (!role) return []
  const advice = 'Serve with a role that only reads and writes rows, and migrate with another one: docs, Security.'
  if (role.super) return [warning('Role', 'the role of the database is a superuser', advice)]
  return [
    role.creates ? warning('Role', 'the role may change tables', advice) : ok('Role', 'only reads and writes rows'),
  ]
}

async function checkPermissions(folder: string): Promise<readonly Finding[]> {
  if (process.platform === 'win32') return []
  const mode = (await stat(folder).catch(() => undefined))?.mode ?? 0
  if ((mode & 0o077) === 0) return [ok('Permissions', `only its owner opens ${folder}`)]
  return [warning('Permissions', `others may open ${folder}`, `Run chmod -R go= ${folder}.`)]
}
