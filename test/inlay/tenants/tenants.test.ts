import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { createTenants, type Tenants, type TenantsOptions } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

const apiKey = 'inlay_tenant_test_key'

/** Tenants by the first part of the host, all with the same key and the same people. */
function openTenants(options: Partial<TenantsOptions> = {}) {
  const folder = temporaryFolder()
  const tenants = createTenants({
    tenantOf: (request) => /^(\w+)\.example$/.exec(new URL(request.url).hostname)?.[1],
    folder: folder.path,
    options: () => ({ apiKey, ingestionWaitMs: 10_000, onError: () => {} }),
    ...options,
  })
  onTestFinished(async () => {
    await tenants.close()
    folder.remove()
  })
  return { tenants, folder: folder.path }
}

async function call<Body = Record<string, unknown>>(
  tenants: Tenants,
  tenant: string,
  [method, path]: readonly [method: string, path: string],
  body?: object,
): Promise<{ status: number; body: Body }> {
  const init = { method, headers: { authorization: `Bearer ${apiKey}` } }
  const sent = body instanceof FormData ? { body } : body && { body: JSON.stringify(body) }
  const response = await tenants.fetch(new Request(`http://${tenant}.example/api${path}`, { ...init, ...sent }))
  const text = await response.text()
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Body }
}

const documentOf = (id: string, text: string): object => ({
  document: { id, semantic_identifier: id, metadata: { team: text.split(' ')[0] }, sections: [{ text }] },
})

test(
  'random tenants with the same people and the same ids see nothing of each other',
  { timeout: 120_000 },
  async () => {
    const { tenants, folder } = openTenants()
    const names = ['alpha', 'beta', 'gamma']
    /** What each tenant must have, by document id. */
    const wanted = new Map(names.map((name) => [name, new Map<string, string>()]))
    const sessions = new Map(names.map((name) => [name, new Set<string>()]))
    const step = fc.record({
      tenant: fc.constantFrom(...names),
      kind: fc.constantFrom('ingest', 'ingest', 'delete', 'chat', 'memory'),
      id: fc.constantFrom('plan', 'note', 'list'),
      revision: fc.nat(99),
    })
    for (const { tenant, kind, id, revision } of fc.sample(step, { numRuns: 40, seed: 11 })) {
      const text = `${tenant}secret keeps number ${revision} of ${id}`
      if (kind === 'ingest') {
        expect((await call(tenants, tenant, ['POST', '/service-api/ingestion'], documentOf(id, text))).status).toBe(200)
        wanted.get(tenant)?.set(id, text)
      } else if (kind === 'delete') {
        const existed = wanted.get(tenant)?.delete(id)
        const { status } = await call(tenants, tenant, ['DELETE', `/service-api/ingestion/${id}`])
        expect(status).toBe(existed ? 200 : 404)
      } else if (kind === 'chat') {
        const message = { message: `Which number does the secret keep of ${id}?`, stream: false }
        const { body } = await call(tenants, tenant, ['POST', '/chat/send-chat-message'], message)
        sessions.get(tenant)?.add(String(body['chat_session_id']))
      } else await call(tenants, tenant, ['POST', '/user/memories'], { memory_text: `${tenant}secret memory` })
    }
    for (const name of names) {
      const others = new RegExp(
        names
          .filter((other) => other !== name)
          .map((other) => `${other}secret`)
          .join('|'),
      )
      const views = await Promise.all(
        [
          ['POST', '/search', { query: 'secret keeps number', limit: 100 }],
          ['GET', '/service-api/ingestion'],
          ['GET', '/user/memories'],
          ['GET', '/chat/get-user-chat-sessions'],
          ['GET', '/query/valid-tags'],
          ['GET', '/admin/audit?limit=1000'],
        ].map(async ([method, path, body]) => {
          const view = await call(tenants, name, [method as string, path as string], body as object | undefined)
          expect(view.status, String(path)).toBe(200)
          return view.body
        }),
      )
      expect(JSON.stringify(views)).not.toMatch(others)
      const inlay = await tenants.open(name)
      const passages = await inlay.knowledge.search({ text: 'secret keeps number', limit: 100 })
      expect(new Map(passages.map(({ document, content }) => [document.document_id, content.trim()]))).toEqual(
        wanted.get(name),
      )
      expect((await inlay.knowledge.figures()).documents.indexed).toBe(wanted.get(name)?.size)
      for (const other of names.filter((each) => each !== name))
        for (const session of sessions.get(other) ?? [])
          expect((await call(tenants, name, ['GET', `/chat/get-chat-session/${session}`])).status).toBe(404)
    }

    await tenants.remove('beta')
    expect(existsSync(join(folder, 'beta'))).toBe(false)
    const left = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(left.length).toBeGreaterThan(4)
    for (const { parentPath, name } of left)
      expect(readFileSync(join(parentPath, name)).includes('betasecret'), name).toBe(false)
    const again = await call<{ documents: unknown[] }>(tenants, 'beta', ['GET', '/service-api/ingestion'])
    expect(JSON.stringify(again.body)).not.toContain('secret')
  },
)

test('a request of no tenant, or of a name that is no folder, reaches nobody', async () => {
  const { tenants } = openTenants({ tenantOf: (request) => new URL(request.url).searchParams.get('t') ?? undefined })
  const ask = (query: string): Promise<Response> => tenants.fetch(new Request(`http://host.example/api/health${query}`))
  expect((await ask('')).status).toBe(404)
  for (const name of ['../other', 'A', '', '.', 'a/b'])
    await expect(tenants.open(name)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect((await ask('?t=..%2Fother')).status).toBe(404)
  expect((await ask('?t=alpha')).status).toBe(200)
  expect(tenants.opened).toEqual(['alpha'])
})

test('beyond the most, unused tenants are closed and open again with all they had', async () => {
  let time = 0
  const { tenants } = openTenants({ mostOpen: 1, idleMs: 1000, now: () => time })
  await call(tenants, 'alpha', ['POST', '/service-api/ingestion'], documentOf('plan', 'alphasecret one'))
  await call(tenants, 'beta', ['GET', '/me'])
  expect(tenants.opened).toEqual(['alpha', 'beta'])
  time = 5000
  await call(tenants, 'beta', ['GET', '/me'])
  await expect.poll(() => tenants.opened).toEqual(['beta'])
  const { body } = await call(tenants, 'alpha', ['POST', '/search'], { query: 'alphasecret' })
  expect(JSON.stringify(body)).toContain('alphasecret one')
  await tenants.close()
  await expect(tenants.open('alpha')).rejects.toMatchObject({ code: 'CLOSED' })
})
