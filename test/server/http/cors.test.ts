import { expect, test } from 'vitest'
import { setup } from '../fakes.ts'

const origin = 'https://page.example'
const preflight = {
  method: 'OPTIONS',
  key: null,
  headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
}
const chat = '/chat/send-chat-message'
const allowOrigin = (response: Response): string | null => response.headers.get('access-control-allow-origin')

test('without listed origins there are no CORS headers at all', async () => {
  const { ask } = setup()
  for (const response of [await ask(chat, preflight), await ask('/health', { headers: { origin } })]) {
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('a listed origin may send keys: the preflight allows authorization, without a key', async () => {
  const response = await setup({ corsOrigins: [origin] }).ask(chat, preflight)
  expect(response.status).toBe(204)
  expect(allowOrigin(response)).toBe(origin)
  expect(response.headers.get('access-control-allow-headers')).toContain('authorization')
  expect(response.headers.get('access-control-allow-methods')).toContain('POST')
  expect(response.headers.get('vary')).toBe('origin')
})

test('it may send the headers that the host has passed on, another origin may not', async () => {
  const { ask } = setup({ corsOrigins: [origin], passHeaders: ['X-Crm-Token'] })
  const allowed = (await ask(chat, preflight)).headers.get('access-control-allow-headers')
  expect(allowed?.split(', ')).toEqual(expect.arrayContaining(['authorization', 'content-type', 'x-crm-token']))
  const foreign = { ...preflight, headers: { ...preflight.headers, origin: 'https://other.example' } }
  expect((await ask(chat, foreign)).headers.get('access-control-allow-headers')).toBeNull()
})

test('its answers can be read, errors too, with the headers that matter', async () => {
  const { ask } = setup({ corsOrigins: [origin] })
  for (const response of [
    await ask('/health', { headers: { origin } }),
    await ask(chat, { key: null, headers: { origin } }),
  ]) {
    expect(allowOrigin(response)).toBe(origin)
    expect(response.headers.get('access-control-expose-headers')).toContain('x-request-id')
  }
})

test('another origin gets nothing, but caches are told that it varies', async () => {
  const { ask } = setup({ corsOrigins: [origin] })
  const response = await ask('/health', { headers: { origin: 'https://other.example' } })
  expect([allowOrigin(response), response.headers.get('vary')]).toEqual([null, 'origin'])
  expect(allowOrigin(await ask(chat, { ...preflight, headers: { ...preflight.headers, origin: 'null' } }))).toBeNull()
})

test('"*" allows all', async () => {
  const { ask } = setup({ corsOrigins: '*' })
  expect(allowOrigin(await ask(chat, preflight))).toBe('*')
  expect(allowOrigin(await ask('/health'))).toBeNull()
})

test('an answer that differs by caller is told to differ by both', async () => {
  const { ask, agent } = setup({ corsOrigins: [origin] })
  const file = { name: 'a.txt', mediaType: 'text/plain', sizeBytes: 1, fileId: 'f' }
  const bytes = new ReadableStream({
    start: (controller) => (controller.enqueue(new Uint8Array(1)), controller.close()),
  })
  Object.assign(agent, { files: { open: async () => ({ file, bytes }) } })
  const response = await ask('/chat/file/f', { headers: { origin } })
  expect([response.status, response.headers.get('vary')]).toEqual([200, 'Cookie, Authorization, origin'])
})

test('the operator is told once of each origin that is not listed, with the option that lists it', async () => {
  const { ask, errors } = setup()
  for (let attempt = 0; attempt < 3; attempt++) await ask(chat, preflight)
  expect(errors).toMatchObject([{ message: expect.stringMatching(/https:\/\/page\.example .*corsOrigins/) }])
})

test.each(['cross-site', 'same-site'])('so is one of a call without a preflight, %s', async (site) => {
  const { ask, errors } = setup()
  for (let attempt = 0; attempt < 3; attempt++) await ask('/health', { headers: { origin, 'sec-fetch-site': site } })
  expect(errors).toMatchObject([{ message: expect.stringMatching(/https:\/\/page\.example .*corsOrigins/) }])
})

test('the operator is not told of pages of the same origin, of listed ones, and of programs', async () => {
  const { ask, errors } = setup({ corsOrigins: ['https://listed.example'] })
  await ask('/health', { headers: { origin, 'sec-fetch-site': 'same-origin' } })
  await ask('/health', { headers: { origin: 'https://listed.example', 'sec-fetch-site': 'cross-site' } })
  await ask('/health', { headers: { origin } })
  await ask('/health', { headers: { origin: 'null', 'sec-fetch-site': 'cross-site' } })
  expect(errors).toEqual([])
})
