import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { scriptedModel } from '@inlay/agent/testing'
import fc from '../../fast-check.ts'
import { createTenants, type BlobStorage, type InlayOptions, type Tenants, type TenantsOptions } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { filesOnDisk } from '../../life/files-on-disk.ts'
import { toRequest } from '../../agent/setting.ts'
import { temporaryFolder } from '../../life/process.ts'
import { scripted } from '../../life/serve.ts'
import { receiver, secrets, until, waiting } from '../events/setting.ts'

const apiKey = 'inlay_tenant_test_key'

/** Tenants by the first part of the host, all with the same key and the same people. */
function openTenants(options: Partial<TenantsOptions> = {}) {
  const folder = temporaryFolder()
  const tenants = createTenants({
    tenantOf: (request) => /^(\w+)\.example$/.exec(new URL(request.url).hostname)?.[1],
    folder: folder.path,
    options: () => ({ apiKey, ingestionWaitMs: 60_000, onError: () => {} }),
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

const names = ['alpha', 'beta', 'gamma']
const step = fc.record({
  tenant: fc.constantFrom(...names),
  kind: fc.constantFrom('ingest', 'ingest', 'delete', 'chat', 'memory'),
  id: fc.constantFrom('plan', 'note', 'list'),
  revision: fc.nat(99),
})

/** Required options of a tenant. */
interface Holding {
  /** Text by id. */
  readonly documents: Map<string, string>
  readonly sessions: Set<string>
}

/** Plays random steps of all tenants with the same people and the same ids; returns what each must have then. */
async function playRandomSteps(tenants: Tenants): Promise<ReadonlyMap<string, Holding>> {
  const holdings = new Map<string, Holding>(names.map((name) => [name, { documents: new Map(), sessions: new Set() }]))
  for (const { tenant, kind, id, revision } of fc.sample(step, { numRuns: 40, seed: 11 })) {
    const holding = holdings.get(tenant)!
    const text = `${tenant}secret keeps number ${revision} of ${id}`
    if (kind === 'ingest') {
      expect((await call(tenants, tenant, ['POST', '/service-api/ingestion'], documentOf(id, text))).status).toBe(200)
      holding.documents.set(id, text)
    } else if (kind === 'delete') {
      const existed = holding.documents.delete(id)
      const { status } = await call(tenants, tenant, ['DELETE', `/service-api/ingestion/${id}`])
      expect(status).toBe(existed ? 200 : 404)
    } else if (kind === 'chat') {
      const message = { message: `Which number does the secret keep of ${id}?`, stream: false }
      const { body } = await call(tenants, tenant, ['POST', '/chat/send-chat-message'], message)
      holding.sessions.add(String(body['chat_session_id']))
    } else {
      const memory = { content: `${tenant}secret memory ${revision}` }
      expect((await call(tenants, tenant, ['POST', '/user/memories'], memory)).status).toBe(200)
    }
  }
  return holdings
}

/** Everything that clients can list and search in a tenant, as one text. */
async function viewsOf(tenants: Tenants, name: string): Promise<string> {
  const views: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['POST', '/search', { query: 'secret keeps number', limit: 100 }],
    ['GET', '/service-api/ingestion'],
    ['GET', '/user/memories'],
    ['GET', '/chat/get-user-chat-sessions'],
    ['GET', '/query/valid-tags'],
    ['GET', '/admin/audit?limit=1000'],
  ]
  const answers = await Promise.all(
    views.map(async ([method, path, body]) => {
      const { status, body: view } = await call(tenants, name, [method, path], body)
      expect(status, path).toBe(200)
      return view
    }),
  )
  return JSON.stringify(answers)
}

test('tenants with the same people and the same ids see nothing of each other', async () => {
  const { tenants } = openTenants()
  const holdings = await playRandomSteps(tenants)
  for (const [name, { documents }] of holdings) {
    const others = names.filter((other) => other !== name)
    const views = await viewsOf(tenants, name)
    expect(views).not.toMatch(new RegExp(others.map((other) => `${other}secret`).join('|')))
    const { knowledge } = await tenants.open(name)
    const passages = await knowledge.search({ text: 'secret keeps number', limit: 100 })
    const texts = passages.map(({ document, content }) => [document.document_id, content.trim()] as const)
    expect(new Map(texts)).toEqual(documents)
    expect((await knowledge.figures()).documents.indexed).toBe(documents.size)
    for (const other of others)
      for (const session of holdings.get(other)!.sessions) {
        await call(tenants, other, ['PATCH', `/chat/chat-session/${session}`], { sharing_status: 'public' })
        for (const query of ['', '?is_shared=true', '?is_shared=true&include_deleted=true'])
          expect((await call(tenants, name, ['GET', `/chat/get-chat-session/${session}${query}`])).status).toBe(404)
      }
  }
})

test('a removed tenant leaves no byte, and the others all they had', async () => {
  const { tenants, folder } = openTenants()
  for (const name of names)
    await call(tenants, name, ['POST', '/service-api/ingestion'], documentOf('plan', `${name}secret`))
  await tenants.remove('beta')
  expect(existsSync(join(folder, 'beta'))).toBe(false)
  const left = filesOnDisk(folder)
  expect(left.length).toBeGreaterThan(4)
  expect(left.flatMap(({ name, bytes }) => (bytes.includes('betasecret') ? [name] : []))).toEqual([])
  expect(await viewsOf(tenants, 'beta')).not.toContain('secret')
  expect(await viewsOf(tenants, 'alpha')).toContain('alphasecret')
})

/** Records, index and files of each tenant outside of its data folder, beside those of the others. */
function openElsewhere() {
  const folder = temporaryFolder()
  const blobs = new Map<string, Uint8Array>()
  const down = { storage: false }
  const storageOf = (tenant: string): BlobStorage => ({
    setItemRaw: async (key, value) => void blobs.set(`${tenant}/${key}`, value.slice()),
    getItemRaw: async (key) => blobs.get(`${tenant}/${key}`) ?? null,
    removeItem: async (key) => {
      if (down.storage) throw new Error('connect ECONNREFUSED')
      blobs.delete(`${tenant}/${key}`)
    },
  })
  const options = (tenant: string): InlayOptions => ({
    apiKey,
    ingestionWaitMs: 60_000,
    onError: () => {},
    database: nodeSqlite({ file: join(folder.path, `${tenant}.db`) }),
    index: lancedbIndex({ folder: join(folder.path, `${tenant}-index`) }),
    files: storageOf(tenant),
  })
  // Before the tenants are opened: what is registered last is done first.
  onTestFinished(() => folder.remove())
  const { tenants } = openTenants({ options })
  const bytes = (): string =>
    filesOnDisk(folder.path)
      .map(({ bytes }) => bytes.toString('latin1'))
      .join('\n')
  return { tenants, blobs, down, bytes }
}

test('what a removed tenant keeps in engines of the host goes too', async () => {
  const { tenants, blobs, down, bytes } = openElsewhere()
  for (const name of ['alpha', 'beta']) {
    await call(tenants, name, ['POST', '/service-api/ingestion'], documentOf('plan', `${name}secret`))
    const form = new FormData()
    form.append('files', new Blob([`${name}secret in a file`]), 'note.txt')
    expect((await call(tenants, name, ['POST', '/user/projects/file/upload'], form)).status).toBe(200)
    const message = { message: `What of ${name}secret?`, stream: false }
    expect((await call(tenants, name, ['POST', '/chat/send-chat-message'], message)).status).toBe(200)
  }
  expect(bytes()).toContain('betasecret')
  down.storage = true
  await expect(tenants.remove('beta')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  down.storage = false
  await tenants.remove('beta')
  expect(bytes()).not.toContain('betasecret')
  expect([...blobs.keys()].filter((key) => key.startsWith('beta'))).toEqual([])
  expect([...blobs.keys()].filter((key) => key.startsWith('alpha'))).not.toEqual([])
  expect(await viewsOf(tenants, 'beta')).not.toContain('secret')
  expect(await viewsOf(tenants, 'alpha')).toContain('alphasecret')
})

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
  const { tenants } = openTenants({ maxOpen: 1, idleMs: 1000, now: () => time })
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

test.each(['cancelled', 'read'])('a tenant is open until its last response is %s', async (how) => {
  let time = 0
  const { tenants } = openTenants({ maxOpen: 1, idleMs: 1000, now: () => time })
  const headers = { authorization: `Bearer ${apiKey}` }
  const response = await tenants.fetch(new Request('http://alpha.example/api/openapi.json', { headers }))
  await call(tenants, 'beta', ['GET', '/me'])
  time = 5000
  await call(tenants, 'gamma', ['GET', '/me'])
  await expect.poll(() => tenants.opened).toEqual(['alpha', 'gamma'])
  if (how === 'read') expect(await response.json()).toHaveProperty('paths')
  else await response.body!.cancel()
  time = 10_000
  await call(tenants, 'gamma', ['GET', '/me'])
  await expect.poll(() => tenants.opened).toEqual(['gamma'])
})

test('an answer whose reader leaves while it waits counts once: its tenant is closed beyond the most', async () => {
  let time = 0
  const model = scriptedModel(() => ['Wait', { hang: true }])
  const models = { resolve: async () => ({ ...scripted, model, grounding: 'tools' as const }), list: async () => [] }
  const options = (): InlayOptions => ({ apiKey, model: models, onError: () => {} })
  const { tenants } = openTenants({ maxOpen: 1, idleMs: 1000, now: () => time, options })
  const init = { method: 'POST', headers: { authorization: `Bearer ${apiKey}` } }
  const body = JSON.stringify({ message: 'How long?', stream: true })
  const response = await tenants.fetch(new Request('http://alpha.example/chat/send-chat-message', { ...init, body }))
  const reader = response.body!.getReader()
  for (let text = ''; !text.includes('Wait');) text += new TextDecoder().decode((await reader.read()).value)
  const next = reader.read()
  // The part after it is waited for by then.
  await new Promise((resolve) => setImmediate(resolve))
  await reader.cancel()
  expect(await next).toMatchObject({ done: true })
  time = 5000
  await call(tenants, 'beta', ['GET', '/me'])
  await expect.poll(() => tenants.opened).toEqual(['beta'])
})

test('a host whose own code throws gets the error, and the caller an answer that tells nothing of it', async () => {
  const errors: unknown[] = []
  const secret = new Error('connect to secret-db failed')
  const fail = async (): Promise<never> => Promise.reject(secret)
  for (const part of [{ tenantOf: fail }, { options: fail }, { options: () => ({ basePath: 7 }) as never }]) {
    const { tenants } = openTenants({ ...part, onError: (error) => errors.push(error) })
    const response = await tenants.fetch(new Request('http://alpha.example/api/health'))
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      error_code: 'INTERNAL_ERROR',
      detail: expect.not.stringMatching(/secret|basePath/),
      request_id: response.headers.get('x-request-id'),
    })
  }
  expect(errors).toMatchObject([secret, secret, { code: 'INVALID_INPUT' }])
})

test('a suspended tenant refuses everybody in all processes, keeps what it has, and is resumed', async () => {
  const started = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const before = async (): Promise<void> => {
    started.resolve()
    await goOn.promise
  }
  const options = (): InlayOptions => ({ apiKey, ingestionWaitMs: 60_000, onError: () => {}, hooks: { before } })
  const { tenants, folder } = openTenants({ options })
  const { tenants: others } = openTenants({ folder })
  await call(tenants, 'alpha', ['POST', '/service-api/ingestion'], documentOf('plan', 'alphasecret one'))
  expect((await call(others, 'alpha', ['GET', '/me'])).status).toBe(200)
  const message = { message: 'What is the alphasecret?', stream: false }
  const answer = call<{ answer: string }>(tenants, 'alpha', ['POST', '/chat/send-chat-message'], message)
  await started.promise
  await tenants.suspend('alpha')
  const refusal = {
    error_code: 'INSUFFICIENT_PERMISSIONS',
    detail: 'This assistant is suspended, and keeps its data: ask whoever operates it to resume it.',
  }
  for (const path of ['/me', '/admin/limits', '/metrics'])
    expect(await call(tenants, 'alpha', ['GET', path])).toEqual({ status: 403, body: refusal })
  expect((await call(tenants, 'alpha', ['GET', '/health'])).status).toBe(200)
  expect((await tenants.fetch(new Request('http://alpha.example/api/me'))).status).toBe(401)
  expect((await call(tenants, 'beta', ['GET', '/me'])).status).toBe(200)
  await expect.poll(async () => (await call(others, 'alpha', ['GET', '/me'])).status).toBe(403)
  goOn.resolve()
  expect((await answer).body.answer).toContain('alphasecret one')
  const { knowledge } = await tenants.open('alpha')
  await knowledge.accept({
    document: { id: 'later', semantic_identifier: 'later', sections: [{ text: 'alphasecret two' }] },
  })
  await tenants.close()
  const { tenants: restarted } = openTenants({ folder })
  expect((await call(restarted, 'alpha', ['GET', '/me'])).status).toBe(403)
  await restarted.resume('alpha')
  await (await restarted.open('alpha')).knowledge.whenIdle()
  const passages = await call(restarted, 'alpha', ['POST', '/search'], { query: 'alphasecret' })
  const views = JSON.stringify(passages) + (await viewsOf(restarted, 'alpha'))
  for (const kept of ['alphasecret one', 'alphasecret two', 'suspendTenant', 'resumeTenant'])
    expect(views).toContain(kept)
  await expect.poll(async () => (await call(others, 'alpha', ['GET', '/me'])).status).toBe(200)
})

test('nothing leaves a suspended tenant: its events wait, and are delivered once it is resumed', async () => {
  const { url, got } = await receiver()
  const egress = { allowHosts: ['127.0.0.1'] }
  const options = (tenant: string): InlayOptions => ({
    apiKey,
    onError: () => {},
    egress,
    webhooks: [{ url: url + tenant, secrets }],
  })
  const { tenants, folder } = openTenants({ options })
  const ask = async (name: string): Promise<unknown> =>
    (await (await tenants.open(name)).agent.send(toRequest({ message: 'What is the plan?' }))).whole()
  await tenants.suspend('alpha')
  await ask('alpha')
  await until(() => expect(waiting(join(folder, 'alpha'))).toHaveLength(1))
  await ask('beta')
  await until(() => expect(got.map(({ path }) => path)).toEqual(['/beta']))
  expect(waiting(join(folder, 'alpha'))).toMatchObject([{ attempts: 0 }])
  await tenants.resume('alpha')
  await until(() => expect(got.map(({ path }) => path)).toEqual(['/beta', '/alpha']))
})

test('a suspended tenant whose documents wait is closed beyond the most as others are', async () => {
  let time = 0
  const { tenants } = openTenants({ maxOpen: 1, idleMs: 1000, now: () => time })
  await tenants.suspend('alpha')
  const { knowledge } = await tenants.open('alpha')
  await knowledge.accept({ document: { id: 'plan', sections: [{ text: 'alphasecret one' }] } })
  expect(await knowledge.waiting()).toBe(1)
  time = 5000
  await call(tenants, 'beta', ['GET', '/me'])
  await expect.poll(() => tenants.opened).toEqual(['beta'])
  await tenants.resume('alpha')
  await (await tenants.open('alpha')).knowledge.whenIdle()
  const { body } = await call(tenants, 'alpha', ['POST', '/search'], { query: 'alphasecret' })
  expect(JSON.stringify(body)).toContain('alphasecret one')
})

test('metrics have the tenant as label, and open none', async () => {
  const options = (tenant: string): InlayOptions => ({
    apiKey,
    ingestionWaitMs: 60_000,
    onError: () => {},
    telemetry: tenant !== 'gamma',
    tenantLimits: { sessionsPerDay: 1 },
  })
  const { tenants } = openTenants({ options })
  for (const name of names)
    await call(tenants, name, ['POST', '/service-api/ingestion'], documentOf('plan', `${name}secret`))
  for (let count = 0; count < 2; count++)
    await call(tenants, 'alpha', ['POST', '/chat/send-chat-message'], {
      message: 'What of alphasecret?',
      stream: false,
    })
  const { type, text } = await tenants.metrics()
  expect(type).toContain('text/plain')
  const lines = text.split('\n')
  const valueOf = (series: string): string | undefined =>
    lines.find((line) => line.startsWith(`${series} `))?.slice(series.length + 1)
  expect(valueOf('inlay_documents{tenant="alpha",state="indexed"}')).toBe('1')
  expect(valueOf('inlay_documents{tenant="beta",state="indexed"}')).toBe('1')
  expect(Number(valueOf('inlay_oldest_waiting_seconds{tenant="alpha"}'))).toBe(0)
  expect(valueOf('gen_ai_invoke_agent_duration_seconds_count{tenant="alpha",inlay_run_status="done"}')).toBe('1')
  expect(Number(valueOf('inlay_search_duration_seconds_count{tenant="alpha"}'))).toBeGreaterThan(0)
  expect(valueOf('inlay_limited_calls_total{tenant="alpha",inlay_limit="sessionsPerDay"}')).toBe('1')
  expect(text).not.toMatch(/gamma|_bucket|http_route/)
  const types = lines.filter((line) => line.startsWith('# TYPE'))
  expect(types).toEqual([...new Set(types)])
  expect(types).toContain('# TYPE inlay_search_duration_seconds summary')
  await tenants.close()
  const { tenants: restarted } = openTenants({ options })
  expect((await restarted.metrics()).text.trim()).toBe('')
  expect(restarted.opened).toEqual([])
  await restarted.open('alpha')
  // A type that changes with the first search would be another metric.
  expect((await restarted.metrics()).text).toContain('# TYPE inlay_search_duration_seconds summary')
})

test('quotas of a tenant refuse with 429, and bind no other tenant', async () => {
  const options = (tenant: string): InlayOptions => ({
    apiKey,
    onError: () => {},
    limits: tenant === 'alpha' ? { maxDocuments: 1, maxStoredFileBytes: 10 } : {},
  })
  const { tenants } = openTenants({ options })
  const ingest = (name: string, id: string) =>
    call(tenants, name, ['POST', '/service-api/ingestion'], documentOf(id, 'a text'))
  const upload = (name: string) => {
    const form = new FormData()
    form.append('files', new Blob(['more than ten bytes']), 'note.txt')
    return call(tenants, name, ['POST', '/user/projects/file/upload'], form)
  }
  expect((await ingest('alpha', 'first')).status).toBe(200)
  for (const refused of [await ingest('alpha', 'second'), await upload('alpha')])
    expect(refused).toMatchObject({
      status: 429,
      body: { error_code: 'RATE_LIMITED', scope: 'global', detail: expect.stringMatching(/stored.*limits\.max/) },
    })
  for (const taken of [await ingest('beta', 'first'), await ingest('beta', 'second'), await upload('beta')])
    expect(taken.status).toBe(200)
})
