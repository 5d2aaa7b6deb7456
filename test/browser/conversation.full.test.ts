import { createClient } from '@inlay/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, elsewhere, faultsOf, open, phone, reason, shot } from './visit.ts'

describe.skipIf(reason !== undefined)('a conversation with branches', () => {
  let playground: Playground
  let model: StandIn
  let reply: () => readonly ReplyPart[] = () => []
  beforeAll(async () => {
    model = await startOpenAi(() => reply())
    playground = await startPlayground({
      INLAY_MODEL: 'm',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_MODEL_GROUNDING: 'tools',
    })
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
  })

  test('an edited question begins another branch, and arrows lead from one to the other', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'Answer about cats.' }]
    await ask(page, 'Tell me of cats')
    await answered(page)
    reply = () => [{ text: 'More about cats.' }]
    await ask(page, 'And more')
    await page.locator('.answer', { hasText: 'More about cats.' }).waitFor()
    reply = () => [{ text: 'Answer about dogs.' }]
    await page.locator('.turn').first().hover()
    await page.getByRole('button', { name: 'Edit the question' }).first().click()
    await page.getByLabel('The question in other words').fill('Tell me of dogs')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Answer about dogs.' }).waitFor()
    expect(await page.locator('.turn').count()).toBe(1)
    await page.getByRole('button', { name: 'Previous version of the question' }).click()
    await page.locator('.answer', { hasText: 'More about cats.' }).waitFor()
    expect(await page.locator('.question').allTextContents()).toEqual(['Tell me of cats', 'And more'])
    await page.reload()
    await page.locator('.answer', { hasText: 'More about cats.' }).waitFor()
    await page.getByRole('button', { name: 'Next version of the question' }).click()
    await page.locator('.answer', { hasText: 'Answer about dogs.' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('the keyboard goes on where it was, and choosing a version moves nothing', async () => {
    const page = await open(playground.address, { viewport: { width: 1280, height: 600 } })
    const focus = (name: string): Promise<unknown> =>
      expect.poll(() => page.evaluate(() => (document.activeElement as HTMLElement).ariaLabel)).toBe(name)
    const inComposer = (): Promise<unknown> =>
      expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('question')
    const long = 'A line of a long answer.\n\n'.repeat(30)
    reply = () => [{ text: `First. ${long}` }]
    await ask(page, 'Tell me of birds')
    await answered(page)
    await page.getByRole('button', { name: 'Edit the question' }).focus()
    await page.keyboard.press('Enter')
    await focus('The question in other words')
    await page.keyboard.press('Escape')
    await focus('Edit the question')
    reply = () => [{ text: `Second. ${long}` }]
    await page.keyboard.press('Enter')
    await page.getByLabel('The question in other words').fill('Tell me of fish')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Second.' }).waitFor()
    await inComposer()
    await answered(page)
    await ask(page, 'And more')
    await expect.poll(() => page.locator('.turn').count()).toBe(2)
    await answered(page)
    // Two asides of one name could not be told apart.
    expect(await faultsOf(page)).toEqual([])
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
    await page.getByRole('button', { name: 'Previous version of the question' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'First.' }).waitFor()
    await focus('Previous version of the question')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Second.' }).first().waitFor()
    await focus('Next version of the question')
    expect(await page.evaluate(() => scrollY)).toBeLessThan(100)
    expect(await page.locator('.turn').count()).toBe(2)
    await page.getByRole('button', { name: 'Answer again' }).last().focus()
    reply = () => [{ text: 'Third.' }]
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Third.' }).waitFor()
    await inComposer()
  })

  test('an answer is made again beside the first, and what was thought of it stays', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'The first try.' }]
    await ask(page, 'Try it')
    await answered(page)
    reply = () => [{ text: 'The second try.' }]
    await page.getByRole('button', { name: 'Answer again' }).click()
    await page.locator('.answer', { hasText: 'The second try.' }).waitFor()
    await page.getByRole('button', { name: 'Good answer' }).click()
    await page.getByRole('button', { name: 'Previous version of the answer' }).click()
    await page.locator('.answer', { hasText: 'The first try.' }).waitFor()
    expect(await page.getByRole('button', { name: 'Good answer' }).getAttribute('aria-pressed')).toBe('false')
    await page.getByRole('button', { name: 'Next version of the answer' }).click()
    await page.locator('.answer', { hasText: 'The second try.' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).getAttribute('aria-pressed')).toBe('true')
  })

  test('a question goes to the branch that is shown, whatever another device has chosen', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'Answer about cats.' }]
    await ask(page, 'Tell me of cats')
    await answered(page)
    reply = () => [{ text: 'Answer about dogs.' }]
    await page.locator('.turn').first().hover()
    await page.getByRole('button', { name: 'Edit the question' }).click()
    await page.getByLabel('The question in other words').fill('Tell me of dogs')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'Answer about dogs.' }).waitFor()
    await answered(page)
    const { sessions } = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    const sessionId = page.url().slice(-36)
    const { messages } = await sessions.get(sessionId)
    await sessions.selectBranch(messages.find(({ message }) => message === 'Tell me of cats')!.message_id)
    reply = () => [{ text: 'They bark.' }]
    await ask(page, 'What do they say?')
    await page.locator('.answer', { hasText: 'They bark.' }).waitFor()
    await answered(page)
    await page.reload()
    await page.locator('.answer', { hasText: 'They bark.' }).waitFor()
    expect(await page.locator('.question').allTextContents()).toEqual(['Tell me of dogs', 'What do they say?'])
  })

  test('whoever comes back sees what was asked again on another device', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'The first try.' }]
    await ask(page, 'Try this')
    await answered(page)
    const client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    const sessionId = page.url().slice(-36)
    const { messages } = await client.sessions.get(sessionId)
    const { message_id: questionId } = messages.find(({ message }) => message === 'Try this')!
    const comeBack = (): Promise<unknown> => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    const response = page.waitForResponse((given) => given.url().includes(`/get-chat-session/${sessionId}`))
    await comeBack()
    await response
    reply = () => [{ text: 'The second try.' }]
    await client.ask({ message: 'Try this', chat_session_id: sessionId, parent_message_id: questionId })
    expect(await page.locator('.answer').allTextContents()).toEqual(['The first try.'])
    await comeBack()
    await page.locator('.answer', { hasText: 'The second try.' }).waitFor()
    await page.getByRole('button', { name: 'Previous version of the answer' }).click()
    await page.locator('.answer', { hasText: 'The first try.' }).waitFor()
    await client.ask({ message: 'And this', chat_session_id: sessionId })
    await comeBack()
    await expect.poll(() => page.locator('.question').allTextContents()).toEqual(['Try this', 'And this'])
  })

  test('a model that says nothing for seconds is named as what is waited for', async () => {
    const page = await open(playground.address)
    reply = () => [{ hang: true }]
    await ask(page, 'The slow one')
    await page.getByText(/^Waiting for the model, \d+ s$/).waitFor({ timeout: 30_000 })
    await page.keyboard.press('Escape')
    await page.getByText(/Waiting for the model/).waitFor({ state: 'detached' })
  })

  test('questions asked meanwhile wait in a line, and Escape ends the answer before them', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'This takes for ever' }, { hang: true }]
    await ask(page, 'The long one')
    await page.locator('.answer', { hasText: 'This takes for ever' }).waitFor()
    await ask(page, 'The next one')
    await ask(page, 'One too many')
    const line = page.getByRole('list', { name: 'Asked next' })
    expect(await line.locator('li').allTextContents()).toEqual(['The next one', 'One too many'])
    await page.getByRole('button', { name: 'Do not ask: One too many' }).click()
    reply = () => [{ text: 'Short.' }]
    await page.keyboard.press('Escape')
    await page.getByText('You stopped this answer.').waitFor()
    await page.locator('.answer', { hasText: 'Short.' }).waitFor()
    expect(await page.locator('.question').allTextContents()).toEqual(['The long one', 'The next one'])
    expect(await line.count()).toBe(0)
  })

  test('each chat keeps its own draft, also over a reload', async () => {
    const page = await open(playground.address)
    const field = page.getByLabel('Your question')
    reply = () => [{ text: 'Yes.' }]
    await ask(page, 'First chat?')
    await answered(page)
    await field.fill('unsent in the first')
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await expect.poll(() => field.inputValue()).toBe('')
    await field.fill('unsent in a new one')
    await page.getByRole('navigation', { name: 'Recent chats' }).getByRole('link').first().click()
    await expect.poll(() => field.inputValue()).toBe('unsent in the first')
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe('unsent in the first')
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await expect.poll(() => field.inputValue()).toBe('unsent in a new one')
  })

  test('a question that came too soon goes out again by itself', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'Now it works.' }]
    await page.route(
      '**/send-chat-message',
      (route) =>
        route.fulfill({
          status: 429,
          headers: { 'retry-after': '1' },
          json: { error_code: 'RATE_LIMITED', detail: 'Too many requests.' },
        }),
      { times: 1 },
    )
    await ask(page, 'Too soon?')
    await page.locator('.answer', { hasText: 'Now it works.' }).waitFor()
    expect(await page.locator('.turn').count()).toBe(1)
  })

  test('a question without a network says so at once, stays, and is answered once when the network is back', async () => {
    const origin = playground.origin.replace('127.0.0.1', elsewhere)
    const localStorage = [{ name: 'inlay-key', value: playground.key }]
    const page = await open(origin, { storageState: { cookies: [], origins: [{ origin, localStorage }] } })
    reply = () => [{ text: 'Answer about the sea.' }]
    await page.context().setOffline(true)
    await ask(page, 'Tell me of the sea')
    await page.locator('.turn .disconnected', { hasText: 'You are offline.' }).waitFor()
    await page.getByRole('status').filter({ hasText: 'You are offline.' }).waitFor()
    await shot(page, 'offline')
    expect(await page.locator('.question').allTextContents()).toEqual(['Tell me of the sea'])
    expect(await faultsOf(page)).toEqual([])
    await page.context().setOffline(false)
    await page.locator('.answer', { hasText: 'Answer about the sea.' }).waitFor()
    await answered(page)
    expect(await page.locator('.disconnected').count()).toBe(0)
    const { sessions } = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    expect((await sessions.search('Tell me of the sea')).groups.flatMap(({ chats }) => chats)).toHaveLength(1)
  })

  test('the sidebar lists chats, folds, and stays folded', async () => {
    const page = await open(playground.address)
    reply = () => [{ text: 'Yes.' }]
    await ask(page, 'Is this one listed?')
    await answered(page)
    const recent = page.getByRole('navigation', { name: 'Recent chats' })
    await recent.getByText('Today').waitFor()
    await recent.locator('[aria-current="page"]').waitFor()
    await page.getByRole('button', { name: 'Fold the sidebar' }).click()
    await recent.waitFor({ state: 'hidden' })
    await page.reload()
    await page.getByRole('button', { name: 'Show the sidebar' }).click()
    await recent.waitFor()
    await shot(page, 'sidebar')
    expect(await faultsOf(page)).toEqual([])
  })

  test('on a phone the views stand above the conversation', async () => {
    const page = await open(playground.address, phone)
    expect(await page.getByRole('navigation', { name: 'Recent chats' }).isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Chats' }).click()
    await page.getByRole('heading', { name: 'Chats', level: 1 }).waitFor()
  })
})
