import { readFileSync } from 'node:fs'
import { createInlay } from 'inlay'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../life/process.ts'

const apiKey = 'the-key-of-the-operator'

function open() {
  const folder = temporaryFolder()
  const inlay = createInlay({ dataFolder: folder.path, apiKey })
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  const call = async (method: string, path: string, body?: string) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body }) }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, init))
    return { status: response.status, body: await response.json() }
  }
  return { inlay, call }
}

describe('an unknown name in an administrative body is refused, and the nearest one is told', () => {
  test.each<[address: string, body: object, loc: string[], nearest: string]>([
    [
      'POST /admin/api-key',
      { limits: { requestsPerMinute: 30 } },
      ['limits', 'requestsPerMinute'],
      'requests_per_minute',
    ],
    ['POST /admin/api-key', { limits: { token_per_day: 3 } }, ['limits', 'token_per_day'], 'tokens_per_day'],
    ['POST /admin/api-key', { expiresAt: '2030-01-01T00:00:00Z' }, ['expiresAt'], 'expires_at'],
    ['POST /admin/api-key', { scope: ['search'] }, ['scope'], 'scopes'],
    ['PATCH /admin/api-key/1', { limit: { requests_per_minute: 1 } }, ['limit'], 'limits'],
    ['PATCH /admin/api-key/1', { limits: { uploadsPerDay: 1 } }, ['limits', 'uploadsPerDay'], 'uploads_per_day'],
    ['PATCH /admin/limits', { callerLimits: { requests_per_minute: 1 } }, ['callerLimits'], 'callers'],
    ['PATCH /admin/limits', { tenantLimits: {} }, ['tenantLimits'], 'tenant'],
    ['PATCH /admin/limits', { callers: { waitingDocuments: 1 } }, ['callers', 'waitingDocuments'], 'waiting_documents'],
    ['PATCH /admin/settings', { companyName: 'Us' }, ['companyName'], 'company_name'],
    ['PUT /admin/local-models', { choice: null, choices: null }, ['choices'], 'choice'],
    ['POST /manage/admin/cc-pair', { name: 'p', accessType: 'private' }, ['accessType'], 'access_type'],
    ['POST /manage/admin/document-set', { name: 's', isPublic: false }, ['isPublic'], 'is_public'],
    ['PATCH /manage/admin/document-set', { id: 1, 'is-public': false }, ['is-public'], 'is_public'],
    ['PATCH /manage/admin/document-set/1', { isPublic: false }, ['isPublic'], 'is_public'],
    ['PATCH /persona/1/share', { isPublic: false, is_public: null }, ['isPublic'], 'is_public'],
    ['POST /service-api/ingestion-reindex', { changeEmbedder: true }, ['changeEmbedder'], 'change_embedder'],
    ['PATCH /manage/admin/cc-pair/1', { accessType: 'private' }, ['accessType'], 'access_type'],
  ])('%s %o', async (address, body, loc, nearest) => {
    const [method, path] = address.split(' ') as [string, string]
    const { call } = open()
    expect(await call(method, path, JSON.stringify(body))).toEqual({
      status: 422,
      body: {
        detail: [
          { loc: ['body', ...loc], msg: `is not known here: did you mean "${nearest}"?`, type: 'extra_forbidden' },
        ],
      },
    })
    expect((await call('GET', '/admin/api-key')).body).toEqual([])
  })

  test('all of them at once, beside other faults', async () => {
    const { call } = open()
    const { body } = await call('PATCH', '/admin/limits', '{"caller":{},"callers":{"tokens_per_day":-1,"x":1}}')
    const faults = body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
    expect(faults.toSorted()).toEqual([
      'body.caller extra_forbidden',
      'body.callers.tokens_per_day greater_than_equal',
      'body.callers.x extra_forbidden',
    ])
  })

  test('but the role that existing clients send with a key is ignored', async () => {
    const { status, body } = await open().call('POST', '/admin/api-key', '{"name":"old","role":"admin"}')
    expect([status, body.scopes]).toEqual([200, ['chat']])
  })

  test('and what GET /settings tells may be sent back', async () => {
    const { call } = open()
    const settings = await call('GET', '/settings')
    expect((await call('PATCH', '/admin/settings', JSON.stringify(settings.body))).status).toBe(200)
  })

  test('in code as well', async () => {
    const limits = { requestPerMinute: 3 } as object
    await expect(open().inlay.keys.create({ scopes: ['chat'], limits })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The limit "requestPerMinute" is not known here: did you mean "requestsPerMinute"?',
    })
  })
})

/** Calls of `curl` in a page: method, path and body. */
function curlCalls(page: string) {
  const text = readFileSync(page, 'utf8')
  const calls = text.matchAll(/curl (?:-X (?<method>\w+) )?\{base\}(?<path>\S+)[^']*'[^']*' -d '(?<body>[^']*)'/g)
  return [...calls].map(({ groups }) => [groups?.['method'] ?? 'POST', groups!['path']!, groups!['body']!] as const)
}

test('the calls in the page on keys do what they say', async () => {
  const { call } = open()
  const calls = curlCalls('docs/1.guide/6.keys.md')
  expect(calls.map(([method, path]) => `${method} ${path}`)).toEqual(['POST /admin/api-key', 'PATCH /admin/limits'])
  const answers = []
  for (const given of calls) answers.push(await call(...given))
  expect(answers).toMatchObject([
    {
      status: 200,
      body: {
        api_key_name: 'reports',
        scopes: ['search'],
        expires_at: '2100-01-01T00:00:00.000Z',
        limits: { requests_per_minute: 30, tokens_per_day: 50_000, uploads_per_day: null },
      },
    },
    {
      status: 200,
      body: { callers: { requests_per_minute: 600, waiting_documents: 1000 }, tenant: { tokens_per_day: 50_000_000 } },
    },
  ])
})
