import { expect, test } from 'vitest'
import { scopes } from '@inlay/protocol'
import { routesOf } from '@inlay/server/internal/http/route'
import { routes } from '@inlay/server/internal/routes/index'

const answer = { description: 'X' }

test('a route without scope, without owner rule, or with half of them does not compile', () => {
  const handle = (): null => null
  // @ts-expect-error -- neither scope nor owner
  routesOf('X')
  // @ts-expect-error -- no owner rule
  routesOf('X', { scope: 'chat' })
  // @ts-expect-error -- no scope
  routesOf('X', { owner: 'caller' })
  // @ts-expect-error -- a public route touches nobody's things
  routesOf('X', { scope: 'public', owner: 'caller' })
  // @ts-expect-error -- no such scope
  routesOf('X', { scope: 'root', owner: 'any' })
  const open = routesOf('X', { scope: 'public', owner: 'none' })
  open('GET /x', 'x', 'X', { answer, handle })
  // @ts-expect-error -- a public route touches nobody's things, neither by a rule of its own
  open('GET /x', 'x', 'X', { answer, owner: 'caller', handle })
  const guarded = routesOf('X', { scope: ['chat', 'ingest'], owner: 'caller' })
  guarded('GET /x', 'x', 'X', { answer, handle: ({ caller }) => caller.id })
  // @ts-expect-error -- a route behind a scope does not become public by itself
  guarded('GET /x', 'x', 'X', { answer, scope: 'public', handle })
})

test('a public handler has no caller to act for', () => {
  routesOf('X', { scope: 'public', owner: 'none' })('GET /x', 'x', 'X', {
    answer,
    // @ts-expect-error -- nobody is authenticated there
    handle: ({ caller }) => caller,
  })
})

test('every route names known scopes, and only those without a caller are public', () => {
  for (const route of routes) {
    if (route.scope === 'public') expect(route.owner).toBe('none')
    else for (const scope of [route.scope].flat()) expect(scopes).toContain(scope)
  }
  expect(
    routes
      .filter(({ scope, answer }) => scope === 'public' && answer !== undefined)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['/auth/type', '/docs', '/health', '/health/ready', '/inlay-chat.js', '/openapi.json', '/version'])
})
