import { expect, test } from 'vitest'
import { listen } from '../../../playground/server/listen.ts'

const nobody = { close: async () => {} }
const fetch = async (): Promise<Response> => new Response('here')

test('port 0 takes a free port and answers there', async () => {
  const listening = await listen({ host: '127.0.0.1', port: 0, fetch })
  if ('refusal' in listening) throw new Error(listening.refusal)
  expect(await (await globalThis.fetch(`http://127.0.0.1:${listening.port}`)).text()).toBe('here')
  await listening.close(nobody)
})

test('a taken port is refused in words that say what to do', async () => {
  const first = await listen({ host: '127.0.0.1', port: 0, fetch })
  if ('refusal' in first) throw new Error(first.refusal)
  const second = await listen({ host: '127.0.0.1', port: first.port, fetch })
  expect(second).toEqual({ refusal: expect.stringMatching(new RegExp(`Port ${first.port} is in use.*PORT=0`)) })
  await first.close(nobody)
})

test('an address of another machine is refused in words', async () => {
  const refused = await listen({ host: '192.0.2.1', port: 0, fetch })
  expect(refused).toEqual({ refusal: expect.stringContaining('Set HOST') })
})
