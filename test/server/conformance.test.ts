import { authenticatorConformance, type ConformanceTest, type MakeAuthenticator } from '@inlay/conformance'
import { createKeys, migrateServer, type Authenticator, type KeyTable } from '@inlay/server'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { Principal } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { describe, test } from 'vitest'
import { testMutants } from '../mutants.ts'
import { firstOf, fixedKey } from 'inlay/internal/inlay'

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

const ofKeys: MakeAuthenticator = async () => {
  const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(db)
  const keys = createKeys({ db })
  const ana = await keys.create({ scopes: ['chat'], owner: 'ana' })
  const other = await keys.create({ scopes: ['ingest'], owner: 'ben' })
  const gone = await keys.create({ scopes: ['admin'] })
  await keys.revoke(gone.record.id)
  return {
    authenticate: firstOf([fixedKey('a-key-of-the-settings'), keys.authenticate]),
    known: [bearer(ana.key), bearer(other.key), bearer('a-key-of-the-settings')],
    unknown: [bearer(gone.key), bearer('sk-nobody')],
    close: async () => {
      await keys.close()
      await db.destroy()
    },
  }
}

describe('keys hold that', () => {
  for (const [title, run] of authenticatorConformance(ofKeys)) test(title, run)
})

describe('an authenticator that breaks a rule is noticed', () => {
  const callers = new Map<string | null, Principal>([
    ['session-of-ana', { id: 'ana', scopes: ['chat'] }],
    ['session-of-ben', { id: 'ben', scopes: ['chat', 'ingest'] }],
  ])
  const sound: Authenticator = (request) => callers.get(request.headers.get('x-session'))
  const tests = (authenticate: Authenticator): ConformanceTest[] =>
    authenticatorConformance(() => ({
      authenticate,
      known: [{ 'x-session': 'session-of-ana' }, { 'x-session': 'session-of-ben' }],
      principals: [...callers.values()],
      unknown: [{ 'x-session': 'session-of-eve' }],
    }))
  let last: Principal | null | undefined
  let first: Principal | undefined
  let latest: Principal | null | undefined
  const byPrefix = new Map<string, Principal>()
  const shared: Principal = { id: '', scopes: [] }
  const sharedScopes: Principal['scopes'][number][] = []

  const faults: Record<string, Authenticator> = {
    'takes everybody in': () => ({ id: 'all', scopes: ['chat'] }),
    'takes who is nearly right': (request) =>
      [...callers].find(([key]) => request.headers.get('x-session')?.startsWith(key!.slice(0, -1)))?.[1],
    'reads the body': async (request) => (await request.text(), sound(request)),
    'breaks on what it does not know': async (request) => {
      const caller = await sound(request)
      if (!caller) throw new TypeError('caller is undefined')
      return caller
    },
    'mixes callers up': async (request) => {
      last = await sound(request)
      await Promise.resolve()
      return last
    },
    'has callers without a scope': async (request) => {
      const caller = await sound(request)
      return caller && { ...caller, scopes: [] }
    },
    'knows nobody': () => undefined,
    'knows the first caller alone': async (request) => {
      const caller = await sound(request)
      return caller?.id === 'ana' ? caller : undefined
    },
    'has callers with a blank id': async (request) => {
      const caller = await sound(request)
      return caller && { ...caller, id: ' ' }
    },
    'makes up scopes': async (request) => {
      const caller = await sound(request)
      return caller && { ...caller, scopes: ['everything' as never] }
    },
    'takes who has no header for a guest': async (request) =>
      request.headers.has('x-session') ? sound(request) : { id: 'guest', scopes: ['chat'] },
    'throws a bare string': async (request) => (await sound(request)) ?? Promise.reject('401'),
    'takes everybody for the first caller': async (request) => {
      const caller = await sound(request)
      return caller && (first ??= caller)
    },
    'remembers callers by the first letters of their key': async (request) => {
      const caller = await sound(request)
      const prefix = request.headers.get('x-session')?.slice(0, 8) ?? ''
      if (caller && !byPrefix.has(prefix)) byPrefix.set(prefix, caller)
      return caller && byPrefix.get(prefix)
    },
    'writes each caller into the same object': async (request) => {
      const caller = await sound(request)
      return caller && Object.assign(shared, caller)
    },
    'gives one list of scopes to all': async (request) => {
      const caller = await sound(request)
      if (!caller) return caller
      sharedScopes.splice(0, sharedScopes.length, ...caller.scopes)
      return { ...caller, scopes: sharedScopes }
    },
    'takes who it does not know for the last caller': async (request) =>
      request.headers.has('x-session') ? (latest = (await sound(request)) ?? latest) : undefined,
    'ignores letter case': (request) => callers.get(request.headers.get('x-session')?.toLowerCase() ?? null),
    'reads a key up to a comma': (request) => callers.get(request.headers.get('x-session')?.split(',')[0] ?? null),
    'reads a key after a comma': (request) =>
      callers.get(request.headers.get('x-session')?.split(/, ?/).at(-1) ?? null),
    'finds a key anywhere in the header': (request) =>
      [...callers].find(([key]) => request.headers.get('x-session')?.endsWith(key!))?.[1],
    'takes callers for each other': async (request) => {
      const caller = await sound(request)
      return caller && [...callers.values()].find(({ id }) => id !== caller.id)
    },
    'gives every caller all scopes': async (request) => {
      const caller = await sound(request)
      return caller && { ...caller, scopes: ['chat', 'ingest', 'admin'] }
    },
    'takes who is longer': (request) => callers.get(request.headers.get('x-session')?.slice(0, 14) ?? null),
  }
  testMutants<Authenticator>('authenticator', tests, { sound, mutants: faults })
})
