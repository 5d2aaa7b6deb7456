import { InlayError, type Principal } from '@inlay/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'
import { alice, apiBase, setup } from '../fakes.ts'

const admin: Principal = { id: 'operator', scopes: ['admin'] }

/** A server whose database of keys does what a test says. */
function serverWithKeys() {
  const keys: { find: (key: string) => Principal | undefined | Promise<Principal | undefined> } = {
    find: (key) => ({ scrape: admin, person: alice })[key],
  }
  const authenticate = (request: Request) => keys.find(/^Bearer (.+)$/.exec(request.headers.get('authorization')!)![1]!)
  const metrics = async () => ({ type: 'text/plain', text: 'inlay_runs 0\n' })
  const { ask, server } = setup({ authenticate, metrics })
  const statusOf = async (path: string, key: string): Promise<number> => (await ask(path, { key })).status
  return { keys, statusOf, server }
}

const outages = {
  refuses: () => Promise.reject(new InlayError('SERVICE_UNAVAILABLE')),
  'fails with an error of the host': () => {
    throw new Error('connect ECONNREFUSED')
  },
  'is silent': () => new Promise<never>(() => {}),
}

test.each(Object.entries(outages))('a scrape is answered while the database of keys %s', async (_, find) => {
  const { keys, statusOf } = serverWithKeys()
  expect(await statusOf('/metrics', 'scrape')).toBe(200)
  keys.find = find
  expect(await statusOf('/metrics', 'scrape')).toBe(200)
})

test('only a key that was accepted shortly before is taken without the database, and only for a scrape', async () => {
  const { keys, statusOf } = serverWithKeys()
  await statusOf('/metrics', 'scrape')
  await statusOf('/metrics', 'person')
  keys.find = outages.refuses
  expect(await statusOf('/metrics', 'another')).toBe(503)
  expect(await statusOf('/metrics', 'person')).toBe(403)
  expect(await statusOf('/service-api/notices', 'scrape')).toBe(503)
  const { now } = performance
  const anHourLater = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 3_600_000)
  onTestFinished(() => anHourLater.mockRestore())
  expect(await statusOf('/metrics', 'scrape')).toBe(503)
})

test('a key that the database refuses is refused, although it was accepted before', async () => {
  const { keys, statusOf } = serverWithKeys()
  await statusOf('/metrics', 'scrape')
  keys.find = () => undefined
  expect(await statusOf('/metrics', 'scrape')).toBe(401)
  keys.find = outages.refuses
  expect(await statusOf('/metrics', 'scrape')).toBe(503)
})

test('a principal of the host is not remembered for the key that its request happened to have', async () => {
  const { keys, statusOf, server } = serverWithKeys()
  const request = new Request(`${apiBase}/metrics`, { headers: { authorization: 'Bearer person' } })
  expect((await server.fetch(request, { principal: admin })).status).toBe(200)
  keys.find = outages.refuses
  expect(await statusOf('/metrics', 'person')).toBe(503)
})
