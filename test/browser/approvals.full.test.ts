import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startKennel, type Kennel } from '../stand-in/kennel.ts'
import type { RecordedRequest, Reply, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { ask, faultsOf, open, openContext, phone, reason, shot } from './visit.ts'

/** Releases one dog, or two; says what became of it once there is a result of this turn. */
const releasing = ({ body }: RecordedRequest): Reply => {
  const said = JSON.stringify(body)
  const latest = said.slice(said.lastIndexOf('"role":"user"'))
  if (latest.includes('"role":"tool"')) return [{ text: latest.includes('declined') ? 'They stay.' : 'Released.' }]
  const dogIds = latest.includes('both') ? ['7', '8'] : ['7']
  return [{ calls: dogIds.map((dogId, at) => ({ id: `c${at}`, name: 'releaseDog', input: { dogId } })) }]
}

describe.skipIf(reason !== undefined)('calls that a person approves', () => {
  let playground: Playground
  let model: StandIn
  let kennel: Kennel
  beforeAll(async () => {
    kennel = await startKennel()
    model = await startOpenAi(releasing)
    playground = await startPlayground({
      INLAY_MODEL: 'm',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_MODEL_GROUNDING: 'tools',
      INLAY_TOOL_APPROVAL: 'writes',
      INLAY_EGRESS_ALLOW: '127.0.0.1',
    })
    await playground.printed('searchable after')
    const created = await fetch(`${playground.origin}/api/admin/tool/custom`, {
      method: 'POST',
      headers: { authorization: `Bearer ${playground.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'Kennel',
        description: 'Dogs.',
        definition: kennel.document,
        custom_headers: [{ key: 'X-Kennel-Key', value: 'bone' }],
        passthrough_auth: false,
        default_enabled: true,
      }),
    })
    expect(created.status).toBe(200)
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
    await kennel?.close()
  })
  const released = (): number => kennel.requests.filter(({ request }) => request.startsWith('DELETE')).length

  test('show server and arguments, stay over a reload, and go on by keyboard', async () => {
    const page = await open(playground.address)
    await ask(page, 'Release Rex')
    const call = page.getByRole('group', { name: 'The assistant wants to use releaseDog of Kennel' })
    await call.waitFor()
    expect(await call.textContent()).toContain('dogId7')
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'approval')
    expect(released()).toBe(0)
    await page.reload()
    await call.getByRole('button', { name: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Released.' }).waitFor()
    expect([await call.count(), released()]).toEqual([0, 1])
    await page.locator('.question', { hasText: 'Approved: releaseDog' }).waitFor()
    await page.reload()
    await page.locator('.answer', { hasText: 'Released.' }).waitFor()
    expect([await call.count(), released()]).toEqual([0, 1])
  })

  test('are decided one by one, and declined as a whole by a new question', async () => {
    const page = await open(playground.address, phone)
    await ask(page, 'Release both')
    const calls = page.getByRole('group', { name: /wants to use/ })
    await expect.poll(() => calls.count()).toBe(2)
    const before = released()
    await calls.nth(0).getByRole('button', { name: 'Decline' }).click()
    expect(await calls.nth(0).getByRole('button', { name: 'Decline' }).getAttribute('aria-pressed')).toBe('true')
    await calls.nth(1).getByRole('button', { name: 'Approve' }).click()
    await page.locator('.turn', { hasText: 'Declined: releaseDog' }).locator('.answer').waitFor()
    expect(released()).toBe(before + 1)
    await ask(page, 'Release Rex')
    await expect.poll(() => calls.count()).toBe(1)
    await ask(page, 'Release Rex again')
    await expect.poll(() => page.getByText('Asked for approval of releaseDog').count()).toBe(4)
    await expect.poll(() => calls.count()).toBe(1)
    expect(released()).toBe(before + 1)
    expect(await faultsOf(page)).toEqual([])
  })

  test('are approved in the element by keyboard', async () => {
    const context = await openContext({ viewport: { width: 1000, height: 800 } })
    const script = `<script src="${playground.origin}/api/inlay-chat.js"></script>`
    const body = `<!doctype html><html lang="en"><title>Host</title>${script}<main><h1>Host</h1><inlay-chat inline api-key="${playground.key}"></inlay-chat></main></html>`
    await context.route(`${playground.origin}/host`, (route) => route.fulfill({ contentType: 'text/html', body }))
    const page = await context.newPage()
    await page.goto(`${playground.origin}/host`)
    const chat = page.locator('inlay-chat')
    await chat.getByLabel('Your question').fill('Release Rex')
    await page.keyboard.press('Enter')
    const call = chat.getByRole('group', { name: 'The assistant wants to use releaseDog (Kennel)' })
    await call.waitFor()
    await call.getByText('7', { exact: true }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    const before = released()
    await call.getByRole('button', { name: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    await chat.getByText('Released.').first().waitFor()
    expect([await call.count(), released()]).toEqual([0, before + 1])
  })
})
