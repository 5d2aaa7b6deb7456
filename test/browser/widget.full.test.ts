import { createClient } from '@inlay/client'
import { describe, expect, test } from 'vitest'
import type { RecordedRequest, Reply } from '../stand-in/model-server.ts'
import { faultsOf, phone, reason, shot } from './visit.ts'
import { answerTo, ask, useWidgetService, visit } from './widget-page.ts'

/** Searches, then cites the first passage. */
const searched = ({ body }: RecordedRequest): Reply =>
  JSON.stringify(body).includes('"role":"tool"')
    ? [{ text: 'See [1].' }]
    : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['citations'] } }] }]

describe.skipIf(reason !== undefined)('the element in a page', () => {
  const service = useWidgetService()

  test('works by keyboard alone: opens, asks, stops, closes', async () => {
    const { page, chat } = await visit(service.host)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => chat.getByLabel('Your question').evaluate((field) => field.matches(':focus'))).toBe(true)
    service.reply = () => [{ text: 'This much was said' }, { hang: true }]
    await page.keyboard.type('Tell me')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('for ever.')
    await page.keyboard.press('Enter')
    await chat.getByText('This much was said').waitFor()
    const before = service.model.abandoned()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await chat.getByText('You stopped this answer.').first().waitFor()
    await expect.poll(() => service.model.abandoned()).toBeGreaterThan(before)
    expect(await chat.getByLabel('Your question').evaluate((field) => field.matches(':focus'))).toBe(true)
    await page.keyboard.press('Escape')
    const launcher = chat.getByRole('button', { name: 'Open the chat' })
    await expect.poll(() => launcher.evaluate((button) => button.matches(':focus'))).toBe(true)
    expect(await chat.getByRole('dialog').count()).toBe(0)
  })

  test('a page whose origin is not listed is told so at once, with the option that lists it', async () => {
    // Another origin than that of the service and its list, at the same address.
    const origin = service.host.origin.replace('127.0.0.1', 'localhost')
    const { chat } = await visit({ ...service.host, origin })
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'May I ask?')
    await chat.getByRole('alert').filter({ hasText: 'corsOrigins' }).waitFor({ timeout: 5000 })
    expect(await chat.getByRole('alert').textContent()).toContain(`does not allow pages of ${origin}`)
  })

  test('a failure is told in words, and trying again works', async () => {
    const { chat } = await visit(service.host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    service.reply = () => [{ text: 'Half' }, { cut: true }]
    await ask(chat, 'Will this break?')
    await chat.getByRole('alert').waitFor()
    service.reply = () => [{ text: 'It does now.' }]
    await chat.getByRole('button', { name: 'Try again' }).click()
    await chat.getByText('It does now.').first().waitFor()
    expect(await chat.locator('.turn').count()).toBe(1)
  })

  test('what a page sets for all its elements reaches nothing in the chat, but the direction it declares', async () => {
    const { page, chat } = await visit(service.host)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    service.reply = () => [{ text: 'It is **so**.\n\n- one\n\n`code`' }]
    await answerTo(chat, 'How is it?')
    const stylesInside = (): Promise<string[]> =>
      chat.evaluate((element) =>
        Array.from(element.shadowRoot!.querySelectorAll('*')).flatMap((each, at) => {
          const style = getComputedStyle(each)
          const name = `${at} ${each.localName}.${each.classList}`
          return Array.from(style, (property) => `${name} ${property}: ${style.getPropertyValue(property)}`)
        }),
      )
    await page.locator('inlay-chat [aria-busy="false"]').first().waitFor()
    // What arrives after the answer, such as its buttons, moves the rest.
    let before: string[] = []
    await expect
      .poll(async () => {
        const earlier = before
        before = await stylesInside()
        return before.join('\n') === earlier.join('\n')
      })
      .toBe(true)
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(`body, * { font: italic 900 31px/3 fantasy; letter-spacing: 9px; word-spacing: 9px; text-transform: uppercase;
        white-space: pre; text-align: right; text-indent: 50px; direction: rtl; color: lime; cursor: wait; tab-size: 20;
        hyphens: auto; word-break: break-all; overflow-wrap: anywhere; line-break: anywhere; text-shadow: 1px 1px red;
        list-style: square inside; quotes: none; text-wrap: nowrap; font-variant: small-caps; font-stretch: condensed;
        border-collapse: collapse; border-spacing: 9px; caption-side: bottom; empty-cells: hide; pointer-events: none;
        -webkit-text-stroke: 2px red; writing-mode: vertical-rl; text-orientation: upright; user-select: none }`)
      document.adoptedStyleSheets = [sheet]
    })
    const known = new Set(before)
    expect((await stylesInside()).filter((style) => !known.has(style))).toEqual([])
    await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
    expect(await chat.locator('.panel').evaluate((panel) => getComputedStyle(panel).direction)).toBe('rtl')
  })

  test('a wrong key is told, and a key that is set later counts', async () => {
    const { page, chat } = await visit(service.host)
    await page.evaluate(() => Object.assign(document.querySelector('inlay-chat')!, { apiKey: 'wrong' }))
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'Who am I?')
    await chat.getByRole('alert').waitFor()
    expect(await chat.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.evaluate(
      (key) => Object.assign(document.querySelector('inlay-chat')!, { apiKey: async () => key }),
      service.playground.key,
    )
    service.reply = () => [{ text: 'You are welcome.' }]
    const turn = await answerTo(chat, 'And now?')
    expect(await turn.textContent()).toContain('You are welcome.')
  })

  test('an answer goes on after a reload; a new chat begins, and the earlier one is found again', async () => {
    const goOn = Promise.withResolvers<void>()
    service.reply = () => [{ text: 'The first half' }, { pause: () => goOn.promise }, { text: ' and the second.' }]
    const { page, chat } = await visit(service.host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'Slowly?')
    await chat.getByText('The first half').waitFor()
    await page.reload()
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByText('The first half').waitFor()
    goOn.resolve()
    await chat.getByText('The first half and the second.').first().waitFor()
    await chat.getByRole('button', { name: 'New chat' }).click()
    await chat.getByText('Ask a question. Answers cite').waitFor()
    service.reply = () => [{ text: 'Another one.' }]
    await answerTo(chat, 'And who are you?')
    await chat.getByLabel('Earlier chats').selectOption({ label: 'Slowly?' })
    await chat.getByText('The first half and the second.').first().waitFor()
    expect(await chat.locator('.turn').count()).toBe(1)
  })

  test('a chat left before its first line is among the earlier ones', async () => {
    service.reply = () => [{ text: 'It was answered all the same.' }]
    const { page, chat } = await visit(service.host)
    const arrived = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    await page.route('**/chat/send-chat-message', async (route) => {
      arrived.resolve()
      await goOn.promise
      await route.continue()
    })
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'Are you there?')
    await arrived.promise
    await chat.getByRole('button', { name: 'New chat' }).click()
    await chat.getByText('Ask a question. Answers cite').waitFor()
    goOn.resolve()
    await chat.getByLabel('Earlier chats').selectOption({ label: 'Are you there?' })
    await chat.locator('.turn').getByText('It was answered all the same.').waitFor()
  })

  test('a question without a network says so at once, and is answered once the network is back', async () => {
    service.reply = () => [{ text: 'Back again.' }]
    const { page, chat } = await visit(service.host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await page.context().setOffline(true)
    await ask(chat, 'Is anybody there?')
    await chat.getByText('No connection.').first().waitFor()
    await page.context().setOffline(false)
    await chat.getByText('Back again.').first().waitFor()
  })

  test('a removed element reads no further, and goes on once it is back', async () => {
    const goOn = Promise.withResolvers<void>()
    service.reply = () => [{ text: 'The first half' }, { pause: () => goOn.promise }, { text: ' and the second.' }]
    const { page, chat, complaints } = await visit(service.host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'How long?')
    await chat.getByText('The first half').waitFor()
    // An element that only moves keeps its chat as it is.
    await page.evaluate(() => document.querySelector('main, body')!.append(document.querySelector('inlay-chat')!))
    await chat.locator('.turn').getByText('The first half').waitFor()
    const left = page.waitForEvent('requestfailed', (request) => request.url().includes('/chat/'))
    const element = await page.evaluateHandle(() => {
      const removed = document.querySelector('inlay-chat')!
      removed.remove()
      return removed
    })
    expect((await left).failure()?.errorText).toBe('net::ERR_ABORTED')
    goOn.resolve()
    await page.evaluate((removed) => document.body.append(removed), element)
    await chat.locator('.turn').getByText('The first half and the second.').waitFor()
    service.reply = () => [{ text: 'Here again.' }]
    expect(await (await answerTo(chat, 'And now?')).textContent()).toContain('Here again.')
    expect(await chat.locator('.turn').count()).toBe(2)
    expect(complaints).toEqual([])
  })

  test('questions that wait are shown: during an answer, after one that failed, and while a chat loads', async () => {
    const goOn = Promise.withResolvers<void>()
    service.reply = () => [{ text: 'Half' }, { pause: () => goOn.promise }, { cut: true }]
    const { page, chat } = await visit(service.host)
    const askByScript = (question: string): Promise<void> =>
      page.evaluate((words) => document.querySelector('inlay-chat')!.ask(words), question)
    await askByScript('First?')
    await chat.getByText('Half').waitFor()
    await askByScript('Second?')
    const waiting = chat.locator('.waiting')
    await waiting.getByText('Second?').waitFor()
    await shot(page, 'widget-queue')
    goOn.resolve()
    await chat.getByRole('alert').waitFor()
    expect(await waiting.allTextContents()).toEqual(['Second?'])
    expect(await faultsOf(page)).toEqual([])
    service.reply = () => [{ text: 'Yes.' }]
    await chat.getByRole('button', { name: 'Try again' }).click()
    await waiting.waitFor({ state: 'detached' })
    const questions = chat.locator('.turn .question')
    await expect.poll(() => questions.allTextContents()).toEqual(['First?', 'Second?'])
    await chat.locator('.turn[aria-busy="false"]', { hasText: 'Second?' }).waitFor()
    // The stored chat comes in late.
    const stored = Promise.withResolvers<void>()
    await page.route('**/chat/get-chat-session/**', async (route) => {
      await stored.promise
      await route.continue()
    })
    await page.reload()
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await ask(chat, 'Third?')
    await waiting.getByText('Third?').waitFor()
    stored.resolve()
    await expect.poll(() => questions.allTextContents()).toEqual(['First?', 'Second?', 'Third?'])
  })

  test('an empty chat shows what its agent suggests to ask, and asks it when it is clicked', async () => {
    const { id } = await createClient({
      baseUrl: `${service.playground.origin}/api`,
      apiKey: service.playground.key,
    }).agents.create({
      name: 'Travel desk',
      description: 'Answers about journeys',
      system_prompt: '',
      task_prompt: '',
      datetime_aware: true,
      document_set_ids: [],
      tool_ids: [],
      is_public: true,
      starter_messages: [
        { name: 'Hotels', message: 'What may a hotel cost?' },
        { name: '', message: 'Which class are trains booked in?' },
      ],
    })
    const { chat } = await visit(service.host)
    await chat.evaluate((element, agent) => element.setAttribute('agent', agent), String(id))
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByRole('button', { name: 'Which class are trains booked in?' }).waitFor()
    service.reply = () => [{ text: 'At most 120 euros.' }]
    await chat.getByRole('button', { name: 'Hotels' }).click()
    await chat.locator('.turn', { hasText: 'What may a hotel cost?' }).getByText('At most 120 euros.').first().waitFor()
    expect(await chat.getByRole('button', { name: 'Hotels' }).count()).toBe(0)
  })

  test('a chat that is gone makes room for a new one', async () => {
    const { page, chat } = await visit(service.host)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    service.reply = () => [{ text: 'First.' }]
    await answerTo(chat, 'One?')
    await createClient({
      baseUrl: `${service.playground.origin}/api`,
      apiKey: service.playground.key,
    }).sessions.removeAll({
      erase: true,
    })
    await page.reload()
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByRole('alert').waitFor()
    service.reply = () => [{ text: 'Second.' }]
    expect(await (await answerTo(chat, 'Two?')).textContent()).toContain('Second.')
  })

  test.each([
    ['desktop-light', {}],
    ['phone-dark', { ...phone, colorScheme: 'dark' as const }],
  ])('long Markdown stays in its window and breaks no rule (%s)', async (name, options) => {
    const table = `| ${'column | '.repeat(12)}\n|${'---|'.repeat(12)}\n| ${'cell | '.repeat(12)}`
    const code = `\`\`\`ts\n${'const x = 1; '.repeat(40)}\n\`\`\``
    service.reply = () => [
      { text: `# A heading\n\n1. one\n2. two\n   - three\n\n${table}\n\n${code}\n\n> quoted\n\n${'word'.repeat(200)}` },
    ]
    const { page, chat, complaints } = await visit(service.host, options)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await answerTo(chat, 'Show it all.')
    await chat.locator('td').first().waitFor()
    await shot(page, `widget-markdown-${name}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    expect(await chat.locator('.log').evaluate((log) => log.scrollWidth <= log.clientWidth)).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('the page may place it inline, choose its theme and its texts', async () => {
    service.reply = () => [{ text: 'Hallo.' }]
    const { page, chat } = await visit(service.host)
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
    service.reply = searched
    const { page, chat } = await visit(service.host)
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
