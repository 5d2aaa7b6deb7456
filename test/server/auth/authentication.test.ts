import type { Principal } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { setup } from '../fakes.ts'

describe('a host that names its callers', () => {
  const asAuthenticated = async (caller: unknown): Promise<readonly [number, readonly unknown[]]> => {
    // What a host hands in was checked by nobody.
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
