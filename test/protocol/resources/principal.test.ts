import { describe, expect, it } from 'vitest'
import { hasScope, type Scope, scopes } from '@inlay/protocol'

const may = (...held: Scope[]): Scope[] => scopes.filter((scope) => hasScope({ id: 'a', scopes: held }, scope))

describe('a caller', () => {
  it.each([
    [[], []],
    [['search'], ['search']],
    [['chat'], ['chat', 'search']],
    [['ingest'], ['ingest']],
    [['admin'], ['chat', 'search', 'ingest', 'admin']],
  ] as [Scope[], Scope[]][])('with the scopes %j may do %j', (held, allowed) => {
    expect(may(...held)).toEqual(allowed)
  })
})
