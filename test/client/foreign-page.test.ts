import { createClient } from '@inlay/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => void vi.stubGlobal('location', { origin: 'https://page.example' }))
afterEach(() => void vi.unstubAllGlobals())

const unreadable = new TypeError('Failed to fetch')

/** A browser's `fetch` to a server of another origin. */
function browser(can: { reach: () => boolean; read: () => boolean }) {
  const calls: string[] = []
  const fetch = async (input: string, { mode = 'cors' }: RequestInit): Promise<Response> => {
    calls.push(`${mode} ${new URL(input, 'https://page.example').pathname}`)
    if (!can.reach() || (mode === 'cors' && !can.read())) throw unreadable
    return mode === 'cors' ? Response.json({ sessions: [] }) : Response.error()
  }
  return { calls, fetch }
}

const chat = 'cors /api/chat/send-chat-message'

test('a message of an origin that is not allowed fails at once, with the option that allows it', async () => {
  const { calls, fetch } = browser({ reach: () => true, read: () => false })
  const client = createClient({ baseUrl: 'https://api.example/api', fetch })
  const message = expect.stringMatching(/api\.example .*"https:\/\/page\.example".*corsOrigins/)
  await expect(client.send('Hello').whole()).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS', message })
  expect(calls).toEqual([chat, 'no-cors /api/health', 'cors /api/health'])
})

test.each<[string, string, { reach: () => boolean; read: () => boolean }]>([
  ['that is down', 'https://api.example/api', { reach: () => false, read: () => true }],
  ['of the same origin', '/api', { reach: () => false, read: () => false }],
  ['of the same origin, by its address', 'https://page.example/api', { reach: () => false, read: () => false }],
])('a service %s is tried again', async (_case, baseUrl, can) => {
  const { calls, fetch } = browser(can)
  const client = createClient({ baseUrl, fetch, resume: { attempts: 2, delayMs: () => 0 } })
  await expect(client.send('Hello').whole()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
  expect(calls.filter((call) => call === chat)).toHaveLength(3)
})

test('a service that answered this page before is taken for down, not for one that refuses it', async () => {
  let isUp = true
  // A proxy answers for it meanwhile, without the headers that let the page read.
  const { calls, fetch } = browser({ reach: () => true, read: () => isUp })
  const client = createClient({ baseUrl: 'https://api.example/api', fetch, resume: { attempts: 1, delayMs: () => 0 } })
  await client.stop('s')
  isUp = false
  await expect(client.send('Hello').whole()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
  expect(calls.filter((call) => call === chat)).toHaveLength(2)
})
