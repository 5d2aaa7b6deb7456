import { createClient } from '@inlay/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOpenAi } from '../stand-in/openai.ts'
import type { RecordedRequest, Reply, StandIn } from '../stand-in/model-server.ts'
import { startPlayground, type Playground } from './playground.ts'
import { faultsOf, phone, reason, shot } from './visit.ts'
import { answerTo, ask, startHostPage, visit, type HostPage } from './widget-page.ts'

/** Searches, then cites the first passage. */
const searched = ({ body }: RecordedRequest): Reply =>
  JSON.stringify(body).includes('"role":"tool"')
    ? [{ text: 'See [1].' }]
    : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['citations'] } }] }]

describe.skipIf(reason !== undefined)('the element in a page', () => {
  let playground: Playground
  let model: StandIn
  let host: HostPage
  let reply: (request: RecordedRequest) => Reply = () => [{ text: 'Yes.' }]
  beforeAll(async () => {
    model = await startOpenAi((request) => reply(request))
    host = await startHostPage()
    playground = await startPlayground({
      INLAY_MODEL: 'm',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_SEARCH_HELP: 'off',
      INLAY_CORS_ORIGINS: host.origin,
    })
    // Questions wait until the project's own documentation was read in.
    await playground.printed('searchable after')
    host.point(playground)
    // What a model says is streamed once it is known to search.
    reply = searched
    await createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key }).ask('Where is it?')
  })
  afterAll(async () => {
    await playground?.end()
    await host?.close()
    await model?.close()
  })

  test('works by keyboard alone: opens, asks, stops, closes', async () => {
    const { page, chat } = await visit(host)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => chat.getByLabel('Your question').evaluate((field) => field.matches(':focus'))).toBe(true)
    reply = () => [{ text: 'This much was said' }, { hang: true }]
    await page.keyboard.type('Tell me')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('for ever.')
    await page.keyboard.press('Enter')
    await chat.getByText('This much was said').waitFor()
    const before = model.abandoned()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await chat.getByText('You stopped this answer.').first().waitFor()
    await expect.poll(() => model.abandoned()).toBeGreaterThan(before)
    expect(await chat.getByLabel('Your question').evaluate((field) => field.matches(':focus'))).toBe(true)
    await page.keyboard.press('Escape')
    const launcher = chat.getByRole('button', { name: 'Open the chat' })
    await expect.poll(() => launcher.evaluate((button) => button.matches(':focus'))).toBe(true)
    expect(await chat.getByRole('dialog').count()).toBe(0)
  })

  test('a failure is told in words, and trying again works', async () => {
    const { chat } = await visit(host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    reply = () => [{ text: 'Half' }, { cut: true }]
    await ask(chat, 'Will this break?')
    await chat.getByRole('alert').waitFor()
    reply = () => [{ text: 'It does now.' }]
    await chat.getByRole('button', { name: 'Try again' }).click()
    await chat.getByText('It does now.').first().waitFor()
    expect(await chat.locator('.turn').count()).toBe(1)
  })

  test('a wrong key is told, and a key that is set later counts', async () => {
    const { page, chat } = await visit(host)
    await page.evaluate(() => Object.assign(document.querySelector('inlay-chat')!, { apiKey: 'wrong' }))
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'Who am I?')
    await chat.getByRole('alert').waitFor()
    expect(await chat.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.evaluate(
      (key) => Object.assign(document.querySelector('inlay-chat')!, { apiKey: async () => key }),
      playground.key,
    )
    reply = () => [{ text: 'You are welcome.' }]
    const turn = await answerTo(chat, 'And now?')
    expect(await turn.textContent()).toContain('You are welcome.')
  })

  test('an answer goes on after a reload; a new chat begins, and the earlier one is found again', async () => {
    const goOn = Promise.withResolvers<void>()
    reply = () => [{ text: 'The first half' }, { pause: () => goOn.promise }, { text: ' and the second.' }]
    const { page, chat } = await visit(host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'Slowly?')
    await chat.getByText('The first half').waitFor()
    await page.reload()
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByText('The first half').waitFor()
    goOn.resolve()
    await chat.getByText('The first half and the second.').first().waitFor()
    await chat.getByRole('button', { name: 'New chat' }).click()
    await chat.getByText('Ask a question. Answers name').waitFor()
    reply = () => [{ text: 'Another one.' }]
    await answerTo(chat, 'And who are you?')
    await chat.getByLabel('Earlier chats').selectOption({ label: 'Slowly?' })
    await chat.getByText('The first half and the second.').first().waitFor()
    expect(await chat.locator('.turn').count()).toBe(1)
  })

  test('a chat that is gone makes room for a new one', async () => {
    const { page, chat } = await visit(host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    reply = () => [{ text: 'First.' }]
    await answerTo(chat, 'One?')
    await createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key }).sessions.removeAll({
      erase: true,
    })
    await page.reload()
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByRole('alert').waitFor()
    reply = () => [{ text: 'Second.' }]
    expect(await (await answerTo(chat, 'Two?')).textContent()).toContain('Second.')
  })

  test.each([
    ['desktop-light', {}],
    ['phone-dark', { ...phone, colorScheme: 'dark' as const }],
  ])('long Markdown stays in its window and breaks no rule (%s)', async (name, options) => {
    const table = `| ${'column | '.repeat(12)}\n|${'---|'.repeat(12)}\n| ${'cell | '.repeat(12)}`
    const code = `\`\`\`ts\n${'const x = 1; '.repeat(40)}\n\`\`\``
    reply = () => [
      { text: `# A heading\n\n1. one\n2. two\n   - three\n\n${table}\n\n${code}\n\n> quoted\n\n${'word'.repeat(200)}` },
    ]
    const { page, chat, complaints } = await visit(host, options)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await answerTo(chat, 'Show it all.')
    await chat.locator('td').first().waitFor()
    await shot(page, `widget-markdown-${name}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    expect(await chat.locator('.log').evaluate((log) => log.scrollWidth <= log.clientWidth)).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('the page may place it inline, choose its theme and its texts', async () => {
    reply = () => [{ text: 'Hallo.' }]
    const { page, chat } = await visit(host)
    await page.evaluate(() => {
      const element = document.querySelector('inlay-chat')!
      element.setAttribute('inline', '')
      element.setAttribute('theme', 'dark')
      element.style.setProperty('--inlay-accent', 'rgb(1, 2, 3)')
      Object.assign(element, { texts: { question: 'Ihre Frage', send: 'Senden' } })
    })
    await chat.getByLabel('Ihre Frage').fill('Hallo?')
    const send = chat.getByRole('button', { name: 'Senden' })
    expect(await send.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe('rgb(1, 2, 3)')
    expect(await chat.evaluate((element) => getComputedStyle(element).colorScheme)).toBe('dark')
    await send.click()
    await chat.getByText('Hallo.').first().waitFor()
    expect(await chat.getByRole('dialog').count()).toBe(0)
  })

  test('the page may open sources itself', async () => {
    reply = searched
    const { page, chat } = await visit(host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    const turn = await answerTo(chat, 'Where is it?')
    const opened = page.evaluate(
      () =>
        new Promise<{ number: number; title: string }>((resolve) => {
          document.addEventListener('inlay-source', (event) => {
            event.preventDefault()
            resolve((event as CustomEvent).detail)
          })
        }),
    )
    await turn.locator('.citation').click()
    expect(await opened).toMatchObject({ number: 1, title: expect.any(String) })
    expect(await turn.locator('.excerpt').count()).toBe(0)
  })
})
