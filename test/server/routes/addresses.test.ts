import { describe, expect, test } from 'vitest'
import { routes } from '@inlay/server/internal/routes/index'
import { setup } from '../fakes.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Addresses that a document may be named like: they answer what the document of that name does. */
const alsoDocuments = /\/ingestion\/(?:batch|file|requeue)$/

/** Methods by path. */
const table = new Map<string, Set<string>>()
for (const route of routes) {
  for (const path of [route.path, ...(route.aliases ?? [])]) {
    const known = table.get(path) ?? new Set()
    table.set(path, known.add(route.method))
  }
}

describe('a method that an address does not answer', () => {
  test.each([...table].filter(([path]) => !alsoDocuments.test(path)))(
    '%s: 405 with the methods of this address alone',
    async (path, known) => {
      const { ask } = setup()
      const allow = [...[...known].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS']
      const address = path.replaceAll(/\{\w+\}/g, '7')
      for (const method of methods.filter((name) => !known.has(name))) {
        const response = await ask(address, { method, key: 'key-operator' })
        expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, allow.join(', ')])
        expect(await response.json()).toMatchObject({ error_code: 'METHOD_NOT_ALLOWED' })
      }
    },
  )

  test.each([...table].filter(([path]) => alsoDocuments.test(path)))(
    '%s: Allow names what is documented there, not what a document of that name would answer',
    async (path, known) => {
      const response = await setup().ask(path, { method: 'PUT', key: 'key-operator' })
      expect([response.status, response.headers.get('allow')]).toEqual([405, [...known, 'OPTIONS'].join(', ')])
    },
  )

  test('an address that no route has is not there, whatever the method', async () => {
    for (const method of methods) expect((await setup().ask('/nowhere', { method })).status).toBe(404)
  })
})
