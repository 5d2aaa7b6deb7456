import { postgres } from '@inlay/drivers/postgres'
import { Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'

/** A database whose pool fails to connect, or whose queries fail. */
function failing(part: 'connect' | 'query', error: Error) {
  const client = { query: () => Promise.reject(error), release: () => {} }
  class Pool {
    readonly options = {}
    readonly connect = async () => (part === 'connect' ? Promise.reject(error) : client)
    readonly end = async () => {}
  }
  // What Kysely uses of a pool.
  const lib = { Pool } as unknown as NonNullable<Parameters<typeof postgres>[0]['lib']>
  return new Kysely<unknown>({ dialect: postgres({ connectionString: 'postgres://unused', lib }) })
}

const withCode = (code: string): Error => Object.assign(new Error(`${code} at 10.0.0.9`), { code })

test.each([
  ['connect', withCode('ECONNREFUSED')],
  ['connect', withCode('57P03')],
  ['connect', new Error('timeout exceeded when trying to connect')],
  ['query', withCode('57P01')],
  ['query', new Error('Connection terminated unexpectedly')],
] as const)('%s: an outage is told as one that passes, without its words', async (part, error) => {
  const failed = await sql`select 1`.execute(failing(part, error)).catch((caught: unknown) => caught)
  expect(failed).toMatchObject({ code: 'SERVICE_UNAVAILABLE', data: { retryAfterSeconds: 2 }, cause: error })
  expect((failed as Error).message).not.toContain('10.0.0.9')
})

test('any other error of the database stays what it is', async () => {
  const error = withCode('23505')
  await expect(sql`select 1`.execute(failing('query', error))).rejects.toBe(error)
})
