import { authenticatorLaws, type Law, type MakeAuthenticator } from '@inlay/server/conformance'
import { createKeys, migrateServer, type Authenticator, type KeyTable } from '@inlay/server'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { Principal } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { describe, expect, it, test } from 'vitest'
import { firstOf, fixedKey } from 'inlay/internal/callers'

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

const ofKeys: MakeAuthenticator = async () => {
  const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(db)
  const keys = createKeys({ db })
  const one = await keys.create({ scopes: ['chat'], owner: 'ana' })
  const other = await keys.create({ scopes: ['ingest'], owner: 'ben' })
  const gone = await keys.create({ scopes: ['admin'] })
  await keys.revoke(gone.record.id)
  return {
    authenticate: firstOf([fixedKey('a-key-of-the-settings'), keys.authenticate]),
    known: [bearer(one.key), bearer(other.key), bearer('a-key-of-the-settings')],
    unknown: [bearer(gone.key), bearer('sk-nobody')],
    close: async () => {
      await keys.close()
      await db.destroy()
    },
  }
}

describe('keys hold that', () => {
  for (const [title, run] of authenticatorLaws(ofKeys)) test(title, run)
})

describe('an authenticator that breaks a law is told', () => {
  const callers = new Map<string | null, Principal>([
    ['session-of-ana', { id: 'ana', scopes: ['chat'] }],
    ['session-of-ben', { id: 'ben', scopes: ['chat', 'ingest'] }],
  ])
  const sound: Authenticator = (request) => callers.get(request.headers.get('x-session'))
  const laws = (authenticate: Authenticator): Law[] =>
    authenticatorLaws(() => ({
      authenticate,
      known: [{ 'x-session': 'session-of-ana' }, { 'x-session': 'session-of-ben' }],
      unknown: [{ 'x-session': 'session-of-eve' }],
    }))
  let last: Principal | undefined

  it('unless it breaks none', async () => {
    expect(await brokenBy(laws(sound))).toEqual([])
  })

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
  }
  for (const [name, fault] of Object.entries(faults))
    it(`when it ${name}`, async () => {
      expect(await brokenBy(laws(fault))).not.toEqual([])
    })
})

/** Titles of the laws that are broken. */
async function brokenBy(laws: readonly Law[]): Promise<string[]> {
  const broken: string[] = []
  for (const [title, run] of laws) await run().catch(() => broken.push(title))
  return broken
}
