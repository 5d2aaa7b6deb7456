import { readFile } from 'node:fs/promises'
import { createClient } from '@inlay/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, phone, reason, shot } from './visit.ts'

describe.skipIf(reason !== undefined)('what can be done with an answer and a whole chat', () => {
  let playground: Playground
  let model: StandIn
  let reply: () => readonly ReplyPart[] = () => []
  beforeAll(async () => {
    model = await startOpenAi(() => reply())
    const server = { provider: 'local', base_url: `${model.origin}/v1` }
    playground = await startPlayground({
      INLAY_MODELS: JSON.stringify([
        { name: 'small', ...server },
        { name: 'large', ...server },
      ]),
      INLAY_MODEL_GROUNDING: 'tools',
    })
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
  })

  test.each(['light', 'dark'] as const)(
    'on a phone no text shines through the %s buttons of a chat',
    async (colorScheme) => {
      const page = await open(playground.address, { ...phone, colorScheme })
      const line = 'A line of a long answer, **bold** and `code`.'
      reply = () => [{ text: `${line}\n\n`.repeat(40) }]
      await ask(page, 'Tell me at length')
      await answered(page)
      const head = page.locator('.thread-head')
      const pictureAt = async (top: number): Promise<string> => {
        await page.evaluate((to) => scrollTo({ top: to, behavior: 'instant' }), top)
        await expect.poll(() => page.evaluate(() => scrollY)).toBe(top)
        // From the edge of the window, where the views of the page stand above the text, too.
        const { y, height } = (await head.boundingBox())!
        return (await page.screenshot({ clip: { x: 0, y: 0, width: 390, height: y + height } })).toString('base64')
      }
      const before = await pictureAt(400)
      await shot(page, `thread-head-${colorScheme}`)
      for (const top of [407, 415, 423]) expect(await pictureAt(top)).toBe(before)
    },
  )

  test('on a phone on its side an answer is not covered by what stands above it', async () => {
    const page = await open(playground.address, { ...phone, viewport: { width: 740, height: 360 } })
    reply = () => [{ text: 'A line of a long answer.\n\n'.repeat(40) }]
    await ask(page, 'Tell me at length')
    await answered(page)
    await page.evaluate(() => scrollTo({ top: 400, behavior: 'instant' }))
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(400)
    await shot(page, 'phone-on-its-side')
    const atTop = (): Promise<boolean> =>
      page.evaluate(() => document.elementFromPoint(60, 10)?.closest('.turn') instanceof Element)
    expect(await atTop()).toBe(true)
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: 'Print' }).waitFor()
  })

  test('on an upright phone nothing moves above the chat when the keyboard opens', async () => {
    const page = await open(playground.address, phone)
    reply = () => [{ text: 'A line of a long answer.\n\n'.repeat(40) }]
    await ask(page, 'Tell me at length')
    await answered(page)
    await page.evaluate(() => scrollTo({ top: 400, behavior: 'instant' }))
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(400)
    const head = page.locator('.thread-head')
    const before = await head.boundingBox()
    await page.setViewportSize({ width: 390, height: 440 })
    await expect.poll(() => page.evaluate(() => innerHeight)).toBe(440)
    expect(await head.boundingBox()).toEqual(before)
    expect(await page.evaluate(() => document.elementFromPoint(60, 10)?.closest('.top') instanceof Element)).toBe(true)
  })

  test('a rating can say why, and the reason is stored', async () => {
    const page = await open(playground.address)
    const sent: unknown[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/create-chat-message-feedback')) sent.push(request.postDataJSON())
    })
    reply = () => [{ text: 'Not so good.' }]
    await ask(page, 'Rate me')
    await answered(page)
    await page.getByRole('button', { name: 'Bad answer' }).click()
    const form = page.getByRole('form', { name: 'What was wrong?' })
    await form.getByRole('button', { name: 'Incomplete' }).click()
    await form.getByLabel('More in your own words').fill('Nothing on part-time staff.')
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'feedback')
    await form.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Thank you. It was stored with the answer.').waitFor()
    expect(sent.at(-1)).toMatchObject({
      is_positive: false,
      predefined_feedback: 'Incomplete',
      feedback_text: 'Nothing on part-time staff.',
    })
    await page.reload()
    await answered(page)
    expect(await page.getByRole('button', { name: 'Bad answer' }).getAttribute('aria-pressed')).toBe('true')
  })

  test('an answer is made again by another model, by keyboard, and says which one answered', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'Said by the small one.' }]
    await ask(page, 'Who are you?')
    await answered(page)
    reply = () => [{ text: 'Said by the large one.' }]
    const more = page.getByRole('button', { name: 'More actions' })
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menu').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await more.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Said by the large one.' }).waitFor()
    expect(model.requests.at(-1)?.body).toMatchObject({ model: 'large' })
    await page.locator('.answered-by', { hasText: 'large' }).waitFor()
    await page.getByRole('button', { name: 'Previous version of the answer' }).click()
    await page.locator('.answered-by', { hasText: 'small' }).waitFor()
  })

  test('any answer of a chat can be made again; what followed it stays as another branch', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'One.' }]
    await ask(page, 'First?')
    await answered(page)
    reply = () => [{ text: 'Two.' }]
    await ask(page, 'Second?')
    await page.locator('.answer', { hasText: 'Two.' }).waitFor()
    reply = () => [{ text: 'Another one.' }]
    await page.getByRole('button', { name: 'Answer again' }).first().click()
    await page.locator('.answer', { hasText: 'Another one.' }).waitFor()
    expect(await page.locator('.turn').count()).toBe(1)
    await page.getByRole('button', { name: 'Previous version of the answer' }).click()
    await page.locator('.answer', { hasText: 'Two.' }).waitFor()
  })

  test('an answer is copied as Markdown and as plain text', async () => {
    const page = await open(playground.address, { permissions: ['clipboard-read', 'clipboard-write'] })
    reply = () => [{ text: 'It is **bold**.\n\n- one\n- two' }]
    await ask(page, 'Copy me')
    await answered(page)
    const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText())
    await page.getByRole('button', { name: 'Copy answer' }).click()
    await expect.poll(copied).toBe('It is **bold**.\n\n- one\n- two')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Copy as plain text' }).click()
    await expect.poll(copied).toBe('It is bold.\n\n- one\n- two')
  })

  test('what is selected in an answer becomes the beginning of a question', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'The archive opens at eight. It closes at nine.' }]
    await ask(page, 'When?')
    await answered(page)
    await page.locator('.answer p').first().click({ clickCount: 3 })
    await page.getByRole('button', { name: 'Ask about this' }).click()
    const field = page.getByLabel('Your question')
    await expect.poll(() => field.inputValue()).toBe('> The archive opens at eight. It closes at nine.\n\n')
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.type('Also on Sundays?')
    reply = () => [{ text: 'No.' }]
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'No.' }).waitFor()
    expect(await page.locator('.question-quote').textContent()).toBe('The archive opens at eight. It closes at nine.')
    await shot(page, 'quoted')
  })

  test('a chat is shared by a link, read by somebody else without a composer, and private again', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'For **all** to see.' }]
    await ask(page, 'Shared question?')
    await answered(page)
    const share = page.getByRole('button', { name: 'Share', exact: true })
    const before = await share.boundingBox()
    await share.click()
    await page.getByRole('button', { name: 'Share by link' }).waitFor()
    // The button does not run away from under the pointer.
    expect((await share.boundingBox())?.x).toBe(before?.x)
    await page.getByRole('button', { name: 'Share by link' }).click()
    const link = await page.getByLabel('Address of the shared chat').inputValue()
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'share')
    const keys = await fetch(`${playground.origin}/api/admin/api-key`, {
      method: 'POST',
      headers: { authorization: `Bearer ${playground.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'reader', role: 'basic' }),
    })
    expect(keys.status).toBe(200)
    const { api_key: key } = (await keys.json()) as { api_key: string }
    const reader = await open(playground.origin, { storageState: storedKey(playground.origin, key) })
    await reader.goto(link)
    await reader.locator('.answer strong', { hasText: 'all' }).waitFor()
    await reader.getByText('Somebody shared this chat with you.').waitFor()
    expect(await reader.getByLabel('Your question').isVisible()).toBe(false)
    expect(await reader.getByRole('button', { name: /Edit|again|Good answer/ }).count()).toBe(0)
    expect(await faultsOf(reader)).toEqual([])
    await shot(reader, 'shared')
    await page.getByRole('button', { name: 'Stop sharing' }).click()
    await page.getByRole('button', { name: 'Share by link' }).waitFor()
    await reader.reload()
    await reader.getByRole('alert').getByText('not shared').waitFor()
  })

  test('a chat is saved as Markdown and, with all branches, as JSON', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'An **answer**.' }]
    await ask(page, 'To be kept?')
    await answered(page)
    const save = async (entry: string): Promise<string> => {
      await page.getByRole('button', { name: 'Export' }).click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: entry }).click(),
      ])
      return readFile(await download.path(), 'utf8')
    }
    expect(await save('As Markdown')).toContain('## To be kept?\n\nAn **answer**.\n')
    const id = /#chat\/(.*)$/.exec(page.url())?.[1] ?? ''
    const client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    expect(JSON.parse(await save('As JSON, with all branches'))).toEqual(await client.sessions.get(id))
  })

  test('a printed chat is questions, answers and sources alone', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'On paper.' }]
    await ask(page, 'How are citations checked, to be printed?')
    await answered(page)
    await page.locator('.also-found').waitFor()
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.answer', { hasText: 'On paper.' }).isVisible()).toBe(true)
    for (const hidden of ['.top', '.dock', '.thread-head', '.turn-actions', '.also-found'])
      expect(await page.locator(hidden).first().isVisible()).toBe(false)
    await shot(page, 'print')
  })

  test('on a phone the actions of a chat fit', async () => {
    const page = await open(playground.address, phone)
    reply = () => [{ text: 'Small.' }]
    await ask(page, 'On a phone?')
    await answered(page)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menu').waitFor()
    await shot(page, 'actions-phone')
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - screen.width)
    expect(overflow).toBeLessThanOrEqual(0)
  })
})

const storedKey = (origin: string, key: string) => ({
  cookies: [],
  origins: [{ origin, localStorage: [{ name: 'inlay-key', value: key }] }],
})
