import { createInlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

const app = 'https://app.example'

/** An assistant that signs people in by a cookie, as many hosts do. */
function open() {
  const folder = temporaryFolder()
  const inlay = createInlay({
    dataFolder: folder.path,
    corsOrigins: [app],
    authenticate: ({ headers }) =>
      /session=ann/.test(headers.get('cookie') ?? '') ? { id: 'ann', scopes: ['admin'] } : null,
  })
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  return async (method: string, headers: Record<string, string>): Promise<number> => {
    const path = method === 'GET' ? '/user/memories' : '/chat/create-chat-session'
    const body = method === 'GET' ? {} : { body: '{}' }
    const request = new Request(`https://host.example/api${path}`, { method, headers, ...body })
    return (await inlay.fetch(request)).status
  }
}

test('a page of another site changes nothing with the cookies of a person', async () => {
  const send = open()
  const cookie = 'session=ann'
  const foreign = {
    cookie,
    'sec-fetch-site': 'cross-site',
    origin: 'https://evil.example',
    'content-type': 'text/plain',
  }
  expect(await send('POST', foreign)).toBe(403)
  expect(await send('POST', { ...foreign, origin: 'null' })).toBe(403)
  expect(await send('POST', { ...foreign, origin: app })).toBe(200)
  for (const site of ['same-origin', 'same-site', 'none'])
    expect(await send('POST', { cookie, 'sec-fetch-site': site })).toBe(200)
  expect(await send('POST', { cookie })).toBe(200)
  // Reading is what a link does; the answer stays with the browser.
  expect(await send('GET', foreign)).toBe(200)
})
