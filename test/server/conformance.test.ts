import { authenticatorConformance, type ConformanceTest, type MakeAuthenticator } from '@inlay/server/conformance'
import { createKeys, migrateServer, type Authenticator, type KeyTable } from '@inlay/server'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { Principal } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { describe, expect, it, test } from 'vitest'
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
      unknown: [{ 'x-session': 'session-of-eve' }],
    }))
  let last: Principal | null | undefined

  it('unless it breaks none', async () => {
    expect(await brokenBy(tests(sound))).toEqual([])
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
      expect(await brokenBy(tests(fault))).not.toEqual([])
    })
})

/** Titles of the tests that are broken. */
async function brokenBy(tests: readonly ConformanceTest[]): Promise<string[]> {
  const broken: string[] = []
  for (const [title, run] of tests) await run().catch(() => broken.push(title))
  return broken
}
