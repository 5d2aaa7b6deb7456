import { expect, test } from 'vitest'
import { InlayError, toUserId } from '@inlay/protocol'
import { setup } from '../../fakes.ts'

test.each(['/health', '/version', '/auth/type', '/openapi.json', '/docs'])(
  '%s needs no key and touches no part',
  async (path) => {
    const { ask, errors } = setup({
      version: '1.2.3',
      authenticate: () => {
        throw new Error('not asked')
      },
    })
    const response = await ask(path, { key: null })
    expect([response.status, errors]).toEqual([200, []])
  },
)

test('health and version say what clients look for', async () => {
  const { ask } = setup({ version: '1.2.3' })
  expect(await (await ask('/health')).json()).toEqual({ success: true, message: 'ok', data: null })
  expect(await (await ask('/version')).json()).toEqual({
    backend_version: '3.0.0',
    inlay_version: '1.2.3',
    serves: 'everything',
  })
})

test('readiness asks the database, and reports a rebuild of the index', async () => {
  const embedder = { recorded: 'letters@8', configured: 'letters@8', isUsed: true, indexes: true }
  const { ask, knowledge, errors } = setup()
  Object.assign(knowledge, { readiness: async () => ({ embedder }) })
  const ready = await ask('/health/ready', { key: null })
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      success: true,
      message: 'ok',
      notes: [],
      data: { threadpool_total_tokens: 0, threadpool_borrowed_tokens: 0, threadpool_tasks_waiting: 0 },
      embedder: 'letters@8',
    },
  ])
  Object.assign(knowledge, { readiness: async () => ({ rebuild: 'lost', embedder }) })
  const rebuilding = await ask('/health/ready', { key: null })
  expect([rebuilding.status, await rebuilding.json()]).toMatchObject([
    200,
    {
      success: true,
      message: 'ok; the index is being rebuilt',
      notes: [{ code: 'index_rebuilding', message: 'the index is being rebuilt' }],
    },
  ])
  Object.assign(knowledge, { readiness: async () => Promise.reject(new Error('no database')) })
  const unready = await ask('/health/ready', { key: null })
  expect([unready.status, await unready.json()]).toMatchObject([503, { error_code: 'SERVICE_UNAVAILABLE' }])
  expect(errors).toHaveLength(1)
})

test('readiness tells anybody what is wrong, and only the operator what to do about it', async () => {
  const embedder = { recorded: null, configured: null, isUsed: true, indexes: true }
  const { ask, knowledge, errors } = setup()
  const advice = 'Stop Inlay, then restore /srv/inlay, or set INLAY_DATABASE_URL.'
  Object.assign(knowledge, { readiness: async () => ({ embedder, missingRecords: advice, fullDisk: advice }) })
  expect(await (await ask('/health/ready', { key: null })).json()).toMatchObject({
    message: 'ok; records are missing; a disk is full',
    notes: [{ code: 'records_missing' }, { code: 'disk_full' }],
  })
  const engineFailures = [
    new InlayError('SERVICE_UNAVAILABLE', { message: advice, data: { isForOperator: true } }),
    new InlayError('SERVICE_UNAVAILABLE', { message: advice, cause: new Error('no such table') }),
    new InlayError('INTERNAL_ERROR', { message: advice }),
  ]
  for (const failure of engineFailures) {
    Object.assign(knowledge, { readiness: async () => Promise.reject(failure) })
    const unready = await ask('/health/ready', { key: null })
    expect([unready.status, await unready.json()]).toMatchObject([
      503,
      { detail: 'This process cannot open its data: its log says why.' },
    ])
  }
  expect(errors).toEqual(engineFailures)
  const outage = new InlayError('SERVICE_UNAVAILABLE', { message: 'No answer.', cause: 1, data: { isOutage: true } })
  Object.assign(knowledge, { readiness: async () => Promise.reject(outage) })
  expect(await (await ask('/health/ready', { key: null })).json()).toMatchObject({ detail: 'No answer.' })
})

test('readiness says that this process has another embedding model than the documents', async () => {
  const { ask, knowledge } = setup()
  const messageWith = async (embedder: object): Promise<unknown> => {
    Object.assign(knowledge, { readiness: async () => ({ embedder }) })
    return (await ask('/health/ready', { key: null })).json()
  }
  expect(await messageWith({ recorded: 'a@8', configured: null, isUsed: false, indexes: false })).toMatchObject({
    message: expect.stringMatching(/^ok; .*lacks the embedding model.*does not index/),
    notes: [{ code: 'embedder_mismatch' }],
    embedder: 'a@8',
  })
  expect(await messageWith({ recorded: null, configured: 'b@8', isUsed: false, indexes: true })).toMatchObject({
    message: expect.stringMatching(/^ok; .*not used/),
    embedder: null,
  })
})

test('the ways to sign in are told in full', async () => {
  expect(await (await setup().ask('/auth/type', { key: null })).json()).toEqual({
    auth_type: 'api_key',
    multi_tenant: false,
    requires_verification: false,
    anonymous_user_enabled: false,
    password_min_length: 0,
    password_max_length: 0,
    password_require_uppercase: false,
    password_require_lowercase: false,
    password_require_digit: false,
    password_require_special_char: false,
    has_users: true,
    oauth_enabled: false,
    password_auth_enabled: false,
    sso_providers: [],
  })
})

test('/me tells whom the key acts for, whatever its scope', async () => {
  const { ask } = setup()
  expect(await (await ask('/me')).json()).toMatchObject({
    id: toUserId('alice'),
    email: '',
    is_superuser: false,
    effective_permissions: ['add:agents', 'basic', 'read:chat', 'read:search', 'write:chat'],
    preferences: { hidden_assistants: [], visible_assistants: [], pinned_assistants: [] },
  })
  expect(await (await ask('/me', { key: 'key-importer' })).json()).toMatchObject({ id: toUserId('importer') })
  expect(await (await ask('/me', { key: 'key-operator' })).json()).toMatchObject({ is_superuser: true })
  expect((await ask('/me', { key: null })).status).toBe(401)
})
