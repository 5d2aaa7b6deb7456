import { postgres } from '@inlay/drivers/postgres'
import { dialectConformance } from '@inlay/conformance'
import { migrate, type MigrationPlan } from '@inlay/records'
import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newGate } from '../../gate.ts'
import { connectTo } from '../../knowledge/connect-to.ts'
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
    const open = (): Kysely<unknown> => connectTo(`${connectionString}?options=-c%20search_path%3D${path}`, 1)
    const gate = newGate()
    const planOf = (up: MigrationPlan['expand'][string]['up']): MigrationPlan => ({
      name: 'waiting',
      expand: { '1': { up } },
    })
    const plan = planOf(async (db) => {
      await gate.pass()
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
    await gate.reached
    steps.push(migrate(second, plan))
    const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted`
    await expect.poll(async () => (await waiting.execute(third)).rows).toHaveLength(1)
    gate.open()
    expect(await Promise.all(steps)).toMatchObject([[{ name: '1' }], []])
  },
)
