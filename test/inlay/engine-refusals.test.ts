import { EventEmitter } from 'node:events'
import { transportOf } from '@inlay/drivers/internal/models/ai-sdk'
import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { postgres } from '@inlay/drivers/postgres'
import { redisRuns, type RedisModule } from '@inlay/drivers/redis'
import { createInlay } from 'inlay'
import { logEntry } from 'inlay/internal/error-report'
import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { testFolder } from '../life/harness.ts'

const secret = 'the-secret-of-the-test'
const withCode = (code: string, message = `it fails at 10.0.0.9 with ${secret}`): Error =>
  Object.assign(new Error(message), { code })

/** The error of a call, and its line in the log. */
async function failureOf(work: Promise<unknown>): Promise<{ readonly code: string; readonly line: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  const { code = '' } = Object(error) as { code?: string }
  return { code, line: logEntry(error, {}, (text) => text.replaceAll(secret, '***')).report }
}

function expectWords({ code, line }: { code: string; line: string }, words: RegExp): void {
  expect(line).toMatch(words)
  expect(line).not.toMatch(/failed unexpectedly|\n|secret-of-the-test/)
  expect(['SERVICE_UNAVAILABLE', 'UNSUPPORTED']).toContain(code)
}

function failingPool(error: Error): Parameters<typeof postgres>[0]['pool'] & {} {
  const client = { query: () => Promise.reject(error), release: () => {} }
  const pool = { connect: async () => client, end: async () => {}, options: {} }
  return pool as unknown as Parameters<typeof postgres>[0]['pool'] & {}
}

describe('an engine that refuses says in one line what to change', () => {
  test.each([
    ['53100', /disk of the database is full/],
    ['53200', /run out of memory/],
    ['25006', /read-only.*INLAY_DATABASE_URL/],
    ['28P01', /password.*INLAY_DATABASE_URL/],
    ['28000', /sslmode in INLAY_DATABASE_URL/],
    ['55P03', /pg_blocking_pids.*end it/],
    ['3D000', /does not exist.*INLAY_DATABASE_URL/],
    ['3F000', /schema.*INLAY_DATABASE_URL/],
    ['42501', /lacks a privilege.*INLAY_DATABASE_URL/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS.*INLAY_DATABASE_URL/],
  ])('PostgreSQL: %s', async (code, words) => {
    const db = new Kysely<unknown>({ dialect: postgres({ pool: failingPool(withCode(code)) }) })
    expectWords(await failureOf(sql`select 1`.execute(db)), words)
  })

  test.each([
    ['WRONGPASS invalid username-password pair or user is disabled.', /user or the password.*INLAY_REDIS_URL/],
    ['NOAUTH Authentication required.', /user or the password.*INLAY_REDIS_URL/],
    ['ERR DB index is out of range', /no database with this number.*INLAY_REDIS_URL/],
  ])('Redis at its connection: %s', async (said, words) => {
    const createClient = () => {
      const events = new EventEmitter()
      const on = events.on.bind(events)
      const connect = async () => events.emit('error', new Error(said))
      return { isReady: false, on, once: events.once.bind(events), connect, destroy: () => {} }
    }
    const runs = redisRuns({ url: 'redis://localhost', lib: { createClient } as unknown as RedisModule })
    expectWords(await failureOf(runs.ofSession('a')), words)
  })

  test.each([
    ["NOPERM User app has no permissions to run the 'zrange' command", /lacks a right.*INLAY_REDIS_URL/],
    ['OOM command not allowed when used memory > maxmemory.', /full/],
    ['Socket closed unexpectedly', /Redis cannot be reached/],
  ])('Redis at a command: %s', async (said, words) => {
    const createClient = () => {
      const events = new EventEmitter()
      const [on, once] = [events.on.bind(events), events.once.bind(events)]
      const client = { isReady: false, on, once, destroy: () => {}, ping: async () => 'PONG' }
      const connect = async () => (Object.assign(client, { isReady: true }), events.emit('ready'))
      return Object.assign(client, { connect, zRange: () => Promise.reject(new Error(said)) })
    }
    const runs = redisRuns({ url: 'redis://localhost', lib: { createClient } as unknown as RedisModule })
    expectWords(await failureOf(runs.ofSession('a')), words)
  })

  const elastic = { 'x-elastic-product': 'Elasticsearch' }
  test.each<readonly [string, () => Response, RegExp]>([
    ['401 in plain text', () => new Response('Unauthorized', { status: 401 }), /password.*INLAY_INDEX_URL/],
    [
      '403',
      () => Response.json({ error: { type: 'security_exception' } }, { status: 403 }),
      /permission.*INLAY_INDEX_URL/,
    ],
    [
      'Elasticsearch',
      () => Response.json({}, { headers: elastic }),
      /Elasticsearch.*OpenSearch 2\.13.*INLAY_INDEX_URL/,
    ],
    ['another web server', () => Response.json({ hello: 'world' }), /not OpenSearch.*INLAY_INDEX_URL/],
    [
      'a full disk',
      () => Response.json({ error: { type: 'cluster_block_exception' } }, { status: 403 }),
      /disks are full/,
    ],
    [
      'an unknown certificate',
      () => {
        throw new TypeError('fetch failed', { cause: withCode('DEPTH_ZERO_SELF_SIGNED_CERT') })
      },
      /NODE_EXTRA_CA_CERTS.*INLAY_INDEX_URL/,
    ],
  ])(
    'OpenSearch: %s',
    async (_, answer, words) => {
      const index = opensearchIndex({ nodes: 'https://search:9200', fetch: async () => answer() })
      expectWords(await failureOf(index.open()), words)
    },
    20_000,
  )
})

test('a service whose certificate is not trusted says where to name its authority, and is not asked again', async () => {
  let calls = 0
  const fetch = async (): Promise<never> => {
    calls++
    throw new TypeError('fetch failed', { cause: withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE') })
  }
  const embedder = openaiEmbedder({
    model: 'm',
    baseUrl: 'https://embedder.example/v1',
    dimensions: 3,
    apiKey: secret,
    fetch,
  })
  const words = /The embedding service could not be reached\. .* name the file of its authority in NODE_EXTRA_CA_CERTS/
  await expect(embedder.embed(['a'], 'query')).rejects.toThrow(words)
  expect(calls).toBe(1)
})

test('a model whose certificate is not trusted tells the operator, and callers that it is not available', async () => {
  const carry = transportOf({
    type: 'openai-compatible',
    baseUrl: 'https://model.example/v1',
    fetch: () => Promise.reject(new TypeError('fetch failed', { cause: withCode('ERR_TLS_CERT_ALTNAME_INVALID') })),
  })
  const request = { url: 'https://model.example/v1/chat/completions', method: 'POST', headers: {}, body: '{}' }
  expectWords(await failureOf(carry(request as never) as Promise<unknown>), /is for another name.*INLAY_MODEL_BASE_URL/)
})

test('a database whose disk is full is 503 with the time to wait, over HTTP', async () => {
  const inlay = createInlay({
    dataFolder: testFolder(),
    apiKey: 'inlay_key-of-the-full-database',
    database: postgres({ pool: failingPool(withCode('53100')) }),
    onError: () => {},
  })
  const headers = { authorization: 'Bearer inlay_key-of-the-full-database' }
  const response = await inlay.fetch(new Request('http://host.example/api/chat/get-user-chat-sessions', { headers }))
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
  expect(await response.json()).toMatchObject({ error_code: 'SERVICE_UNAVAILABLE' })
  await inlay.close()
})
