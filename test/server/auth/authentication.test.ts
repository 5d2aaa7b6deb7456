import { toUserId, type Principal } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { alice, apiBase, bob, setup } from '../fakes.ts'

describe('a host that names its callers', () => {
  const asAuthenticated = async (caller: unknown): Promise<readonly [number, readonly unknown[]]> => {
    // A host's principal is passed on unchecked.
    const { ask, errors } = setup({ authenticate: () => caller as Principal })
    return [(await ask('/me')).status, errors]
  }

  test.each([undefined, null, false, ''])('by %j names nobody', async (nobody) => {
    expect(await asAuthenticated(nobody)).toEqual([401, []])
  })

  test.each([
    ['without an id', { scopes: ['chat'] }],
    ['with a number as id', { id: 7, scopes: ['chat'] }],
    ['with an empty id', { id: '', scopes: ['chat'] }],
    ['without scopes', { id: 'eve' }],
    ['with scopes as a text', { id: 'eve', scopes: 'readonly admin' }],
  ])('%s is told so, and nothing is done', async (_title, caller) => {
    const [status, errors] = await asAuthenticated(caller)
    expect([status, String((errors[0] as Error).cause)]).toEqual([500, expect.stringContaining('authenticate')])
  })
})

describe('a host that hands its user over', () => {
  const request = (): Request => new Request(`${apiBase}/me`, { headers: { authorization: 'Bearer key-alice' } })

  test('is believed, whoever else the request names', async () => {
    const { server } = setup()
    const me = await server.fetch(request(), { principal: bob })
    expect(await me.json()).toMatchObject({ id: toUserId(bob.id) })
  })

  test.each([undefined, null])('%s means that the request is asked', async (principal) => {
    const { server } = setup()
    const me = await server.fetch(request(), { principal })
    expect(await me.json()).toMatchObject({ id: toUserId(alice.id) })
  })

  test('is no other: a request is not known by what another brought along', async () => {
    const { server } = setup()
    await server.fetch(request(), { principal: bob })
    expect(await (await server.fetch(request())).json()).toMatchObject({ id: toUserId(alice.id) })
  })
})

test('halves of letters in stored texts leave as the sign for unknown letters, which every JSON reader takes', async () => {
  const { ask } = setup({ authenticate: () => ({ id: 'eve', scopes: ['chat'], email: 'a\ud83d' }) })
  const text = await (await ask('/me')).text()
  expect(JSON.parse(text)).toMatchObject({ email: 'a\ufffd' })
  expect(text).not.toContain('\\ud')
})
