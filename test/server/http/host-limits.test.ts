import { expect, test } from 'vitest'
import { apiBase, setup } from '../fakes.ts'

/** How the frameworks fail the body of a request that is above their own limit. */
const failures = [
  ['SvelteKit', Object.assign(new Error('Content-length of 9 exceeds limit of 8 bytes.'), { status: 413 })],
  ['Astro', new Error('Body size limit exceeded: received more than 8 bytes')],
] as const

test.each(failures)('a body above the own limit of %s is told as that', async (_host, failure) => {
  const { server, errors } = setup()
  const body = new ReadableStream({ start: (controller) => controller.error(failure) })
  const headers = { authorization: 'Bearer key-alice' }
  const init = { method: 'POST', headers, body, duplex: 'half' }
  const response = await server.fetch(new Request(`${apiBase}/chat/send-chat-message`, init))
  expect([response.status, await response.json()]).toMatchObject([
    413,
    { error_code: 'PAYLOAD_TOO_LARGE', detail: expect.stringContaining('raise its own limit') },
  ])
  expect(errors).toEqual([])
})
