import { expect, test } from 'vitest'
import { scopes } from '@inlay/protocol'
import { defineRoute } from '@inlay/server/internal/http/route'
import { routes } from '@inlay/server/internal/routes/index'

const common = {
  method: 'GET',
  path: '/x',
  operationId: 'x',
  topic: 'X',
  summary: 'X',
  answer: { description: 'X' },
} as const

test('a route without scope, without owner rule, or with half of them does not compile', () => {
  const handle = (): null => null
  // @ts-expect-error -- neither scope nor owner
  defineRoute({ ...common, handle })
  // @ts-expect-error -- no owner rule
  defineRoute({ ...common, scope: 'chat', handle })
  // @ts-expect-error -- no scope
  defineRoute({ ...common, owner: 'caller', handle })
  // @ts-expect-error -- a public route touches nobody's things
  defineRoute({ ...common, scope: 'public', owner: 'caller', handle })
  // @ts-expect-error -- no such scope
  defineRoute({ ...common, scope: 'root', owner: 'any', handle })
  defineRoute({ ...common, scope: 'public', owner: 'none', handle })
  defineRoute({ ...common, scope: ['chat', 'ingest'], owner: 'caller', handle: ({ caller }) => caller.id })
})

test('a public handler has no caller to act for', () => {
  defineRoute({
    ...common,
    scope: 'public',
    owner: 'none',
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
