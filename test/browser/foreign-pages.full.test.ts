import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createInlay, nodeListener, type Inlay } from 'inlay'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../life/process.ts'
import { launchBrowser } from './browser.ts'

const launched = await launchBrowser([
  '--ignore-certificate-errors',
  '--host-resolver-rules=MAP *.corp.test 127.0.0.1, MAP evil.test 127.0.0.1',
])
const reason = 'reason' in launched ? launched.reason : undefined
if (reason !== undefined) console.warn(`Foreign pages are not tested in a browser: ${reason}`)

const [key, cert] = ['localhost.key', 'localhost.crt'].map((name) =>
  readFileSync(new URL(`../drivers/models/stream/fixtures/${name}`, import.meta.url), 'utf8'),
)

/** A call that changes something and has come to the assistant. */
interface Arrived {
  readonly name: string
  readonly hasCookie: boolean
  status: number
}

/** The assistant signs people in by cookie at `chat.corp.test`; every other host serves an empty page. */
async function serve(inlay: Inlay, isSecure: boolean) {
  const arrived: Arrived[] = []
  const assistant = nodeListener(inlay.fetch)
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '/', method, headers } = request
    if (url === '/cookie')
      return void response
        .writeHead(200, {
          'access-control-allow-origin': headers.origin ?? '*',
          'access-control-allow-credentials': 'true',
        })
        .end(String(/session=ann/.test(headers.cookie ?? '')))
    if (!headers.host?.startsWith('chat.corp.test') || !url.startsWith('/api'))
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A page</title>')
    if (method === 'POST') {
      const name = new URL(url, 'http://chat').searchParams.get('name') ?? ''
      response.on('finish', () => {
        arrived.push({ name, hasCookie: /session=ann/.test(headers.cookie ?? ''), status: response.statusCode })
      })
    }
    void assistant(request, response)
  }
  const server = isSecure ? createSecureServer({ key, cert }, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo
  return {
    arrived,
    origin: (host: string) => `${isSecure ? 'https' : 'http'}://${host}:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A call of `fetch`; without a type, none is sent. */
interface Call {
  readonly address: string
  readonly body: string
  readonly mode: 'cors' | 'no-cors'
  readonly type: string | null
}

type Service = Awaited<ReturnType<typeof serve>>

const enctypes = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const
/** Sent by a form, this is JSON that creates an administrator's key. */
const fieldName = '{"name":"stolen","scopes":["admin"],"email":"'
const body = '{"name":"stolen","scopes":["admin"]}'

/** Ways of a page to send something with the sign-in of its reader; each resolves once it is on its way, or refused. */
const attacks: Readonly<Record<string, (page: Page, address: string) => Promise<unknown>>> = {
  ...Object.fromEntries(
    enctypes.map((enctype) => [
      `form ${enctype}`,
      (page: Page, address: string) => page.evaluate(sendForm, { address, enctype, fieldName }),
    ]),
  ),
  'form in a sandboxed frame': (page, address) =>
    page.evaluate(sendFromSandbox, {
      script: `(${String(sendForm)})(${JSON.stringify({ address, enctype: 'text/plain', fieldName })})`,
    }),
  'fetch in a sandboxed frame': (page, address) =>
    page.evaluate(sendFromSandbox, {
      script: `fetch(${JSON.stringify(address)}, { method: 'POST', mode: 'no-cors', credentials: 'include', body: ${JSON.stringify(body)} })`,
    }),
  'fetch no-cors': (page, address) =>
    page.evaluate<number, Call>(sendFetch, { address, body, mode: 'no-cors', type: 'text/plain' }),
  'fetch no-cors without a type': (page, address) =>
    page.evaluate<number, Call>(sendFetch, { address, body, mode: 'no-cors', type: null }),
  'fetch cors': (page, address) =>
    page.evaluate<number, Call>(sendFetch, { address, body, mode: 'cors', type: 'text/plain' }),
  beacon: (page, address) =>
    page.evaluate(([to, what]) => void navigator.sendBeacon(to!, new Blob([what!])), [address, body] as const),
}

/** A form with one field whose name begins a JSON text and whose value ends it. */
function sendForm({
  address,
  enctype,
  fieldName: name,
}: {
  address: string
  enctype: string
  fieldName: string
}): void {
  const frame = document.createElement('iframe')
  // One for each form: a second navigation of a frame cancels the first.
  frame.name = `answer to ${enctype}`
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: address, enctype, target: frame.name })
  const field = document.createElement('input')
  Object.assign(field, { name, value: '"}' })
  form.append(field)
  document.body.append(frame, form)
  form.submit()
}

function sendFromSandbox({ script }: { script: string }): void {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts allow-forms')
  frame.srcdoc = `<!doctype html><body><script>${script}</script>`
  document.body.append(frame)
}

const hasCookie = async (address: string): Promise<boolean> =>
  (await (await fetch(address, { credentials: 'include' })).text()) === 'true'

async function sendFetch(call: Call): Promise<number> {
  const answer = await fetch(call.address, {
    method: 'POST',
    mode: call.mode,
    credentials: 'include',
    body: new Blob([call.body], call.type === null ? {} : { type: call.type }),
  }).catch(() => undefined)
  return answer?.status ?? 0
}

describe.skipIf(reason !== undefined).each(['http', 'https'])('with a cookie, over %s', (protocol) => {
  const folder = temporaryFolder()
  let inlay: Inlay
  let service: Service
  const browser = 'browser' in launched ? launched.browser : (undefined as never)

  beforeAll(async () => {
    inlay = createInlay({
      dataFolder: folder.path,
      authenticate: ({ headers }) =>
        /session=ann/.test(headers.get('cookie') ?? '') ? { id: 'ann', scopes: ['admin'] } : null,
    })
    service = await serve(inlay, protocol === 'https')
  })
  afterEach(() => void service.arrived.splice(0))
  afterAll(async () => {
    service.close()
    await inlay.close()
    folder.remove()
  })

  /** Signs in, as the host's own page does, and opens a page of a host. */
  async function visit(host: string, sameSite: 'Lax' | 'Strict' | 'None', domain: string): Promise<Page> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const cookie = { name: 'session', value: 'ann', domain, path: '/', httpOnly: true, sameSite }
    await context.addCookies([{ ...cookie, secure: protocol === 'https' }])
    const page = await context.newPage()
    await page.goto(service.origin(host))
    return page
  }
  const api = (name: string): string => `${service.origin('chat.corp.test')}/api/admin/api-key?name=${name}`
  const cookieAddress = (): string => `${service.origin('chat.corp.test')}/cookie`
  const cookies = protocol === 'https' ? (['Lax', 'Strict', 'None'] as const) : (['Lax', 'Strict'] as const)

  for (const sameSite of cookies)
    for (const domain of ['chat.corp.test', '.corp.test'])
      for (const host of ['blog.corp.test', 'evil.test'])
        test(`a page of ${host} makes no key with a SameSite=${sameSite} cookie of ${domain}`, async () => {
          const page = await visit(host, sameSite, domain)
          for (const [name, attack] of Object.entries(attacks)) {
            await attack(page, api(encodeURIComponent(name)))
            await expect.poll(() => service.arrived.map((call) => call.name), { message: name }).toContain(name)
          }
          expect(service.arrived.filter(({ status }) => ![401, 403, 415].includes(status))).toEqual([])
          expect(await inlay.keys.list()).toEqual([])
          // No request that carried the cookie failed only for being unknown.
          const signedIn = service.arrived.filter(({ hasCookie }) => hasCookie)
          expect(signedIn.every(({ status }) => status === 403)).toBe(true)
          // Some browsers send no cookie to another site, whatever its SameSite.
          const isSent =
            host === 'blog.corp.test' || (sameSite === 'None' && (await page.evaluate(hasCookie, cookieAddress())))
          if (isSent)
            expect(signedIn.map(({ name }) => name)).toEqual(expect.arrayContaining(['form text/plain', 'beacon']))
          await page.context().close()
        })

  test.each(cookies)('its own page makes and revokes keys with a SameSite=%s cookie', async (sameSite) => {
    const page = await visit('chat.corp.test', sameSite, 'chat.corp.test')
    const statuses = await page.evaluate(async (address) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const answer = await fetch(address, { ...init, body: '{"name":"own"}' })
      const created: { api_key_id: number } = await answer.json()
      const gone = await fetch(address.replace('?', `/${created.api_key_id}?`), { method: 'DELETE' })
      return [answer.status, gone.status]
    }, api('own'))
    expect(statuses).toEqual([200, 200])
    expect(
      await page.evaluate<number, Call>(sendFetch, { address: api('form'), body, mode: 'cors', type: 'text/plain' }),
    ).toBe(415)
    await page.context().close()
  })

  test('its own page works with a key alone, whatever the media type', async () => {
    const page = await visit('chat.corp.test', 'Lax', 'blog.corp.test')
    const { key: adminKey } = await inlay.keys.create({ scopes: ['admin'] })
    const send = ([address, authorization]: readonly [string, string]): Promise<number> =>
      fetch(address, { method: 'POST', headers: { authorization }, body: '{}' }).then(({ status }) => status)
    expect(await page.evaluate(send, [api('key'), `Bearer ${adminKey}`] as const)).toBe(200)
    for (const { id } of await inlay.keys.list()) await inlay.keys.revoke(id)
    await page.context().close()
  })
})
afterAll(async () => {
  if ('browser' in launched) await launched.browser.close()
})
