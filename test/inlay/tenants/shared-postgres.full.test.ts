import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { postgres } from '@inlay/drivers/postgres'
import { createTenants } from 'inlay'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'
import { temporaryFolder } from '../../life/process.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server.stop())

const apiKey = 'inlay_tenant_test_key'

/** Tenants in schemas of one database, as the guide shows it. */
async function openSchemas() {
  const address = new URL(await server.takeDatabase())
  const folder = temporaryFolder()
  const pools: pg.Pool[] = []
  const poolOf = (tenant: string): pg.Pool => {
    const url = new URL(address)
    url.searchParams.set('options', `-c search_path=tenant_${tenant}`)
    const pool = new pg.Pool({ connectionString: url.href, max: 4 })
    // The server may end a connection that is idle or just being closed.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    pools.push(pool)
    return pool
  }
  const tenants = createTenants({
    tenantOf: (request) => /^(\w+)\.example$/.exec(new URL(request.url).hostname)?.[1],
    folder: folder.path,
    options: (tenant) => {
      const pool = poolOf(tenant)
      return { apiKey, ingestionWaitMs: 60_000, database: postgres({ pool }), index: pgvectorIndex({ client: pool }) }
    },
  })
  const admin = poolOf('admin')
  onTestFinished(async () => {
    await tenants.close()
    await Promise.all(pools.map((pool) => pool.end()))
    folder.remove()
  })
  return { tenants, admin }
}

test('tenants in schemas of one database keep apart, and a removed one leaves no table', async () => {
  const { tenants, admin } = await openSchemas()
  const call = async (tenant: string, path: string, body: object): Promise<string> => {
    const request = new Request(`http://${tenant}.example/api${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify(body),
    })
    const response = await tenants.fetch(request)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return text
  }
  for (const name of ['alpha', 'beta']) {
    const document = {
      id: 'plan',
      semantic_identifier: 'plan',
      metadata: {},
      sections: [{ text: `The ${name}secret.` }],
    }
    await call(name, '/service-api/ingestion', { document })
    await call(name, '/chat/send-chat-message', { message: `What of ${name}secret?`, stream: false })
  }
  const search = { query: 'alphasecret betasecret', limit: 10 }
  expect(await call('alpha', '/search', search)).toMatch(/^(?!.*betasecret).*alphasecret/s)
  const tablesOf = async (): Promise<string[]> => {
    const { rows } = await admin.query(
      "select nspname || coalesce('.' || relname, '') as name from pg_namespace left join pg_class on relnamespace = pg_namespace.oid where nspname like 'tenant_%'",
    )
    return rows.map(({ name }: { name: string }) => name)
  }
  expect(await tablesOf()).toContain('tenant_beta.inlay_documents')
  await tenants.remove('beta')
  expect((await tablesOf()).filter((name) => name.startsWith('tenant_beta'))).toEqual([])
  expect(await call('alpha', '/search', search)).toContain('alphasecret')
  expect(await call('beta', '/search', search)).not.toContain('secret')
})
