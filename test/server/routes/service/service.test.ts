import { expect, test } from 'vitest'
import { toUserId } from '@inlay/protocol'
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
  expect(await (await ask('/version')).json()).toEqual({ backend_version: '1.2.3' })
})

test('/me tells whom the key acts for, whatever its scope', async () => {
  const { ask } = setup()
  expect(await (await ask('/me')).json()).toMatchObject({
    id: toUserId('alice'),
    email: '',
    is_superuser: false,
    effective_permissions: ['chat'],
  })
  expect(await (await ask('/me', { key: 'key-importer' })).json()).toMatchObject({ id: toUserId('importer') })
  expect(await (await ask('/me', { key: 'key-operator' })).json()).toMatchObject({ is_superuser: true })
  expect((await ask('/me', { key: null })).status).toBe(401)
})
