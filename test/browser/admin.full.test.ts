import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOpenAi } from '../stand-in/openai.ts'
import type { StandIn } from '../stand-in/model-server.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, phone, reason, shot } from './visit.ts'

const sections = ['models', 'keys', 'agents', 'actions', 'usage', 'audit', 'packets'] as const

describe.skipIf(reason !== undefined)('the administration', () => {
  let playground: Playground
  let model: StandIn
  let shop: { readonly origin: string; close(): void }
  beforeAll(async () => {
    model = await startOpenAi(() => [{ text: 'Ready for you.' }])
    shop = await startShop()
    playground = await startPlayground({
      INLAY_MODEL: 'm',
      INLAY_MODEL_GROUNDING: 'tools',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_EGRESS_ALLOW: new URL(shop.origin).host,
    })
    await playground.printed('searchable after')
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
    shop?.close()
  })

  /** Opens a part of the administration by its links. */
  async function openSection(page: Page, name: string): Promise<void> {
    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click()
  }

  test('the first steps are shown until they are skipped, and tick what is done', async () => {
    const page = await open(playground.address)
    const steps = page.getByRole('region', { name: 'Three steps to begin' })
    await steps.getByRole('heading', { name: 'Add documents done' }).waitFor()
    await shot(page, 'first-run')
    expect(await faultsOf(page)).toEqual([])
    await steps.getByRole('link', { name: 'Choose a model' }).click()
    await page.getByRole('heading', { name: 'Administration' }).waitFor()
    await page.goBack()
    await steps.getByRole('button', { name: 'Skip' }).click()
    await steps.waitFor({ state: 'detached' })
    await page.reload()
    await page.locator('.dock textarea').waitFor()
    expect(await steps.count()).toBe(0)
  })

  test('a key is made with scopes and limits, shown once, and refused once it is revoked', async () => {
    const page = await open(playground.address)
    await openSection(page, 'Keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Reader of <b>shelves</b>')
    await page.getByLabel('Ask questions and keep chats').uncheck()
    await page.getByText('Limits', { exact: true }).click()
    await page.getByLabel('Requests a minute').first().fill('2')
    await page.getByRole('button', { name: 'Create the key' }).click()
    const key = await page.getByLabel('The new key').inputValue()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect(await page.content()).not.toContain(key)

    const search = (): Promise<Response> =>
      fetch(`${playground.origin}/api/search`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'citations' }),
      })
    const refusedResponse = await fetch(`${playground.origin}/api/chat/create-chat-session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(refusedResponse.status).toBe(403)
    const statuses = [await search(), await search(), await search()].map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses).toContain(429)

    await page.getByRole('button', { name: 'Revoke Reader of <b>shelves</b>' }).click()
    await page
      .getByRole('group', { name: /refused at once/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await page.getByText('No key was made here yet.').waitFor()
    expect((await search()).status).toBe(401)
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('cell', { name: 'revokeKey' }).waitFor()
    await page.getByLabel('Operation').selectOption('createKey')
    await page.getByRole('cell', { name: 'revokeKey' }).waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'createKey' }).waitFor()
  })

  test('a key without the scope finds no administration', async () => {
    const headers = { authorization: `Bearer ${playground.key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'person', scopes: ['chat', 'search'] })
    const keyResponse = await fetch(`${playground.origin}/api/admin/api-key`, { method: 'POST', headers, body })
    const { api_key: key } = (await keyResponse.json()) as { api_key: string }
    const page = await open(playground.address)
    await page.evaluate((given) => localStorage.setItem('inlay-key', given), key)
    await page.goto(`${playground.origin}/#admin/keys`)
    await page.reload()
    await page.getByRole('link', { name: 'Documents' }).waitFor()
    expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
  })

  test('a model is tested, and one that has ended says why it fails', async () => {
    const page = await open(playground.address)
    await openSection(page, 'Models')
    const before = model.requests.length
    await page
      .getByRole('button', { name: /^Test / })
      .first()
      .click()
    await page.getByText(/Answered “Ready for you\.” in \d+ ms\./).waitFor()
    expect(model.requests.length).toBe(before + 1)
    await page.getByText('Add a model of a provider').click()
    const address = page.getByLabel('Address of the API')
    await address.fill('gpu.example:8000')
    await page.getByText('The address has to begin with http:// or https://.').waitFor()
    await address.fill('http://gpu.example:8000')
    await page.getByText('Such an address mostly ends with its version').waitFor()
    await address.fill('http://gpu.example:8000/v1')
    await page.getByText('Such an address mostly ends with its version').waitFor({ state: 'detached' })
    expect(await faultsOf(page)).toEqual([])
  })

  test('a model that fails says what to do, and looking for local ones again says that it looked', async () => {
    const page = await open(playground.address)
    const failures = [
      ['AUTH_ERROR', 'Incorrect API key', 'The key is refused: check INLAY_MODEL_API_KEY'],
      ['CONNECTION_ERROR', 'ECONNREFUSED', 'Start the server of the model, or correct its address'],
      ['NOT_FOUND', 'no such model', 'Check the name in INLAY_MODEL'],
    ] as const
    await openSection(page, 'Models')
    for (const [code, error, advice] of failures) {
      await page.route('**/admin/llm/test', (route) =>
        route.fulfill({
          json: {
            model_provider: 'custom',
            model_version: 'm',
            ok: false,
            text: null,
            error,
            error_code: code,
            duration_ms: 1,
          },
        }),
      )
      await page
        .getByRole('button', { name: /^Test / })
        .first()
        .click()
      await page.getByText(`Failed: ${error}`).waitFor()
      await page.getByText(advice).waitFor()
      await page.unroute('**/admin/llm/test')
    }
    await shot(page, 'model-failed')
    await page.route('**/admin/local-models', (route) => route.fulfill({ json: { servers: [], chosen: null } }))
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByText('Looked once more: none is running.').waitFor()
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByText('Looked 2 times more: none is running.').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('an agent is made with instructions, a picture and questions, tried, changed and deleted', async () => {
    const page = await open(playground.address)
    await openSection(page, 'Agents')
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Librarian')
    await page.getByLabel('Instructions').fill('You speak of shelves in one line.')
    await page.getByRole('textbox', { name: 'Suggested questions' }).fill('Where is the atlas?\n\nWhat is new?')
    await page.getByLabel('Picture (PNG').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: picture })
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByRole('heading', { name: 'Librarian' }).waitFor()
    await page.locator('img.avatar').waitFor()
    await page.getByRole('button', { name: 'Change Librarian' }).click()
    expect(await page.getByRole('textbox', { name: 'Suggested questions' }).inputValue()).toBe(
      'Where is the atlas?\nWhat is new?',
    )
    expect(await faultsOf(page)).toEqual([])
    await page.getByLabel('Name', { exact: true }).fill('Archivist')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Try Archivist in a new chat' }).click()
    await ask(page, 'Hello?')
    await answered(page)
    expect(JSON.stringify(model.requests)).toContain('You speak of shelves in one line.')
    await openSection(page, 'Agents')
    await page.getByRole('button', { name: 'Delete Archivist' }).click()
    await page
      .getByRole('group', { name: /^Delete Archivist/ })
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.getByRole('heading', { name: 'Archivist' }).waitFor({ state: 'detached' })
  })

  test('an action is checked and made of an OpenAPI document, tried, turned off and deleted', async () => {
    const page = await open(playground.address)
    await openSection(page, 'Actions')
    await page.getByText('Add an action from an OpenAPI document').click()
    await page.getByLabel('Name', { exact: true }).fill('Orders')
    await page.getByLabel('OpenAPI document in JSON').fill(JSON.stringify(ordersAt(shop.origin)))
    await page.getByRole('button', { name: 'Check the document' }).click()
    await page.getByText('1 function', { exact: true }).waitFor()
    await page.getByText('GET /orders/{number}').waitFor()
    await page.getByLabel('or a file of it').setInputFiles({
      name: 'shop.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(manyOperationsAt(shop.origin)),
    })
    await page.getByText('1 function', { exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Check the document' }).click()
    await page.getByText('121 functions', { exact: true }).waitFor()
    await page.getByText('0 chosen, at most 100').waitFor()
    await page.getByText('1 cannot be called').click()
    await page.getByText('HEAD /branches/1: HEAD is not called').waitFor()
    await page.getByRole('button', { name: 'Add the action' }).click()
    await page.getByText('Choose 1 to 100 functions.').waitFor()
    await page.getByLabel('Tag').selectOption('orders')
    await page.getByRole('checkbox', { name: 'showOrder' }).check()
    await page.getByLabel('Tag').selectOption('All tags')
    await page.getByLabel('Search by name').fill('branches 11')
    await page.getByRole('button', { name: 'Choose those found' }).click()
    await page.getByText('12 chosen, at most 100').waitFor()
    await page.getByRole('button', { name: 'Leave those found' }).click()
    await page.getByText('1 chosen, at most 100').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Add the action' }).click()
    await page.getByRole('heading', { name: 'Orders' }).waitFor()
    expect(await page.getByRole('button', { name: 'Try Internal Search' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Try Orders' }).click()
    const given = page.getByLabel('Arguments (JSON)')
    expect(JSON.parse(await given.inputValue())).toEqual({ number: '' })
    await given.fill('{ "number": "7" ')
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.getByText('The arguments are not a JSON object.').waitFor()
    await given.fill('{ "number": "7" }')
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.getByText(/Succeeded in \d+ ms/).waitFor()
    expect(await page.getByRole('group', { name: 'Result' }).textContent()).toContain('order /orders/7')
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('switch', { name: 'Turn Orders on or off' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Try Orders' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Delete Orders' }).click()
    await page.getByRole('group', { name: 'Delete Orders?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Orders' }).waitFor({ state: 'detached' })
  })

  test('an answer shows in the usage, with its price, and as packets', async () => {
    const page = await open(playground.address)
    await ask(page, 'How are citations checked?')
    await answered(page)
    await openSection(page, 'Usage')
    const row = page.getByRole('region', { name: 'By model' }).getByRole('row').nth(1)
    await row.waitFor()
    expect(Number(await row.getByRole('cell').first().textContent())).toBeGreaterThan(0)
    const people = page.getByRole('region', { name: 'By person' }).getByRole('rowheader')
    expect(await people.first().textContent()).not.toMatch(/[\da-f]{8}-/)
    await page.getByText('Prices', { exact: true }).click()
    await page
      .getByLabel(/tokens out$/)
      .first()
      .fill('1000000')
    await page.getByRole('columnheader', { name: 'Cost' }).first().waitFor()
    await page.getByRole('link', { name: 'Packets' }).click()
    await page.getByText(/\d+ lines in all\./).waitFor()
    await page.getByText('message_start', { exact: true }).click()
    expect(await page.getByRole('group', { name: 'message_start' }).textContent()).toContain('"turn_index"')
    expect(await faultsOf(page)).toEqual([])
  })

  test('on a phone the drawer leads to chats, to the administration and to another language', async () => {
    const page = await open(playground.address, phone)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('dialog', { name: 'Menu' }).waitFor()
    await shot(page, 'drawer')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByRole('heading', { name: 'Administration' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('dialog').getByLabel('Language').selectOption('Deutsch')
    await page.getByRole('heading', { name: 'Verwaltung' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
  })

  test.each([
    ['light', {}, sections],
    ['phone-dark', { ...phone, colorScheme: 'dark' as const }, sections],
    ['german', { locale: 'de-DE' }, sections],
  ] as const)('every part is accessible and fits the window (%s)', async (name, options, parts) => {
    const page = await open(playground.address, options)
    for (const part of parts) {
      await page.goto(`${playground.origin}/#admin/${part}`)
      await page.locator(`.tabs [aria-current][href="#admin/${part}"]`).waitFor()
      await expect.poll(() => page.locator('.admin .nothing', { hasText: '…' }).count()).toBe(0)
      await shot(page, `admin-${part}-${name}`)
      expect(await faultsOf(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    }
    if (name === 'german') await page.getByRole('heading', { name: 'Verwaltung' }).waitFor()
  })
})

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const ordersAt = (url: string): object => ({
  openapi: '3.1.0',
  info: { title: 'Orders', description: 'Orders of the shop.', version: '1' },
  servers: [{ url }],
  paths: {
    '/orders/{number}': {
      get: {
        operationId: 'getOrder',
        summary: 'Reads an order',
        parameters: [{ name: 'number', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'The order.' } },
      },
    },
  },
})

/** As published: YAML, without descriptions, more than a model can be given. */
function manyOperationsAt(origin: string): string {
  const branches = Array.from({ length: 120 }, (_, index) => `  /branches/${index}:\n    get: {}\n`)
  return [
    'swagger: "2.0"',
    `host: ${new URL(origin).host}`,
    'schemes: [http]',
    'paths:',
    '  /orders/{number}:',
    '    get:',
    '      operationId: showOrder',
    '      tags: [orders]',
    '      parameters: [{ name: number, in: path, required: true, type: string }]',
    branches.join('').replace('/branches/1:\n', '/branches/1:\n    head: {}\n'),
  ].join('\n')
}

/** A service that an action calls. */
async function startShop(): Promise<{ readonly origin: string; close(): void }> {
  const server = createServer((request, response) => response.end(`order ${request.url}`))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() }
}
