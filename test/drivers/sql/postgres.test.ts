import { hostname } from 'node:os'
import { postgres, postgresPool } from '@inlay/drivers/postgres'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'

/** A database whose pool fails to connect, or whose queries fail. */
function failing(part: 'connect' | 'query', error: Error) {
  const client = { query: () => Promise.reject(error), release: () => {} }
  class Pool {
    readonly options = {}
    readonly connect = async () => (part === 'connect' ? Promise.reject(error) : client)
    readonly end = async () => {}
  }
  // The members of a pool that Kysely uses.
  const lib = { Pool } as unknown as NonNullable<Parameters<typeof postgres>[0]['lib']>
  return new Kysely<unknown>({ dialect: postgres({ connectionString: 'postgres://unused', lib }) })
}

const withCode = (code: string): Error => Object.assign(new Error(`${code} at 10.0.0.9`), { code })

test.each([
  ['connect', withCode('ECONNREFUSED')],
  ['connect', withCode('57P03')],
  ['connect', new Error('timeout exceeded when trying to connect')],
  ['connect', new Error('timeout expired')],
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

/** A pool whose connections hear what is sent, or nothing, as behind a pooler between transactions. */
function listening(passesOn: boolean) {
  const listeners = new Set<(message: object) => void>()
  let open = 0
  const connect = async () => {
    open++
    const own = new Set<(message: object) => void>()
    return {
      query: async (text: string, values: readonly string[] = []) => {
        if (text.startsWith('listen')) for (const each of own) listeners.add(each)
        if (!text.includes('pg_notify') || !passesOn) return
        const [channel, payload] = values
        for (const each of listeners) each({ channel, payload })
      },
      on: (event: string, listener: (message: object) => void) => {
        if (event === 'notification') own.add(listener)
      },
      release: () => {
        open--
        for (const each of own) listeners.delete(each)
      },
    }
  }
  const send = (channel: string, payload: string): void => {
    for (const each of listeners) each({ channel, payload })
  }
  // The members of a pool that are used.
  const pool = { connect, end: async () => {}, options: {} } as unknown as Parameters<typeof postgres>[0]['pool'] & {}
  return { records: postgres({ pool }), send, open: () => open }
}

test('notifications are told, those that only try the connection are not', async () => {
  const { records, send, open } = listening(true)
  const payloads: (string | undefined)[] = []
  const end = await records.listen('inlay_runs', (payload) => payloads.push(payload))
  send('inlay_runs', '7,8')
  send('another', '9')
  expect(payloads).toEqual([undefined, '7,8'])
  expect(open()).toBe(1)
  await end?.()
  expect(open()).toBe(0)
})

test('behind a pooler that passes no notification on, this is found out and the connection given back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { records, open } = listening(false)
  const ending = records.listen('inlay_runs', () => {})
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await ending).toBeUndefined()
  expect(open()).toBe(0)
})

test('the server sees which process a connection belongs to', async () => {
  const opened: object[] = []
  class Pool {
    constructor(options: object) {
      opened.push(options)
    }
  }
  await postgresPool({ lib: { Pool } as never })
  expect(opened).toMatchObject([{ fallback_application_name: `inlay ${hostname()}:${process.pid}` }])
})
