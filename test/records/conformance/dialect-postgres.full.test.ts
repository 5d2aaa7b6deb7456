import { postgres } from '@inlay/drivers/postgres'
import { dialectConformance } from '@inlay/conformance'
import { migrate, type MigrationPlan } from '@inlay/records'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'

let server: PostgresServer
let connectionString: string
beforeAll(async () => {
  server = await startPostgres()
  connectionString = await server.takeDatabase()
})
afterAll(() => server.stop())

for (const [title, run] of dialectConformance(() => postgres({ connectionString }))) test(title, run)

test.each(['public', 'a_new_one'])(
  'a session that waits for another notices what it made in schema %s',
  async (path) => {
    const open = (): Kysely<Record<string, never>> => {
      const address = `${connectionString}?options=-c%20search_path%3D${path}`
      const db = new Kysely<Record<string, never>>({
        dialect: postgres({ connectionString: address, maxConnections: 1 }),
      })
      onTestFinished(() => db.destroy())
      return db
    }
    const { promise: isMaking, resolve: noteMaking } = Promise.withResolvers<void>()
    const { promise: mayMake, resolve: letMake } = Promise.withResolvers<void>()
    const planOf = (up: MigrationPlan['expand'][string]['up']): MigrationPlan => ({
      name: 'waiting',
      expand: { '1': { up } },
    })
    const plan = planOf(async (db) => {
      noteMaking()
      await mayMake
      await db.schema.createTable('made_once').addColumn('id', 'integer').execute()
    })
    const [first, second, third] = [open(), open(), open()]
    // It knows what the functions of a migration answer without reading the catalog.
    await expect(
      migrate(
        second,
        planOf(() => Promise.reject(new Error('refused'))),
      ),
    ).rejects.toThrow('refused')
    const steps = [migrate(first, plan)]
    await isMaking
    steps.push(migrate(second, plan))
    const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted`
    await expect.poll(async () => (await waiting.execute(third)).rows).toHaveLength(1)
    letMake()
    expect(await Promise.all(steps)).toMatchObject([[{ name: '1' }], []])
  },
)
