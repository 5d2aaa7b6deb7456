import { postgres } from '@inlay/drivers/postgres'
import { createInlay, type Inlay } from 'inlay'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../knowledge/postgres-server.ts'
import { testFolder } from '../life/harness.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server.stop())

/** An assistant with records and index in PostgreSQL. */
function open(database: string): Inlay {
  const inlay = createInlay({ dataFolder: testFolder(), database, onError: () => {} })
  onTestFinished(() => inlay.close())
  return inlay
}

const as = (address: string, role: string, password = 'a-password'): string => {
  const url = new URL(address)
  return Object.assign(url, { username: role, password }).href
}

async function administer(address: string, ...statements: readonly string[]): Promise<void> {
  const db = new Kysely<unknown>({ dialect: postgres({ connectionString: address, maxConnections: 1 }) })
  for (const statement of statements) await sql.raw(statement).execute(db)
  await db.destroy()
}

test('a role that may make no tables starts, takes documents and searches where all is made', async () => {
  const address = await server.takeDatabase()
  const owner = open(address)
  await owner.knowledge.accept({
    document: { id: 'a', semantic_identifier: 'A', metadata: {}, sections: [{ text: 'heron' }] },
  })
  await owner.knowledge.whenIdle()
  await owner.close()
  await administer(
    address,
    'revoke create on schema public from public',
    "create role app login password 'a-password'",
    'grant usage on schema public to app',
    'grant select, insert, update, delete on all tables in schema public to app',
    'grant usage on all sequences in schema public to app',
  )
  const app = open(as(address, 'app'))
  await app.start()
  await app.knowledge.accept({
    document: { id: 'b', semantic_identifier: 'B', metadata: {}, sections: [{ text: 'heron' }] },
  })
  await app.knowledge.whenIdle()
  const passages = await app.knowledge.search({ text: 'heron' })
  expect(passages.map(({ document }) => document.document_id).toSorted()).toEqual(['a', 'b'])
})

test('a role without a schema, with a wrong password, or without rights is told what to change', async () => {
  const address = await server.takeDatabase()
  await administer(
    address,
    'revoke all on schema public from public',
    "create role outsider login password 'a-password'",
    "create role guest login password 'a-password'",
    'grant usage on schema public to guest',
  )
  const failing = (database: string) => open(database).start()
  await expect(failing(as(address, 'outsider'))).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringMatching(/role may not use any.*INLAY_DATABASE_URL/),
  })
  await expect(failing(as(address, 'guest'))).rejects.toThrow(/lacks a privilege.*INLAY_DATABASE_URL/)
  // Tests begin with a server that asks for passwords.
  await expect(failing(as(address, 'nobody'))).rejects.toThrow(/refused the role.*INLAY_DATABASE_URL/)
})
