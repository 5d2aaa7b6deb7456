import { frameLine, type PacketBody, type StreamLine } from '@inlay/protocol'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOpenAi } from '../stand-in/openai.ts'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { searchDoc } from '../page/sources/search-doc.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, phone, reason, shot } from './visit.ts'

/** Searches until there is a hit: an answer can be found a moment after it has ended. */
async function searchUntilHit(page: Page, words: string, hit: Locator): Promise<void> {
  const field = page.getByLabel('Search chats')
  const search = async (): Promise<boolean> => {
    await field.fill('')
    await field.fill(words)
    return hit.waitFor({ timeout: 5000 }).then(
      () => true,
      () => false,
    )
  }
  await expect.poll(search).toBe(true)
}

describe.skipIf(reason !== undefined)('conversations in the page', () => {
  let playground: Playground
  let model: StandIn
  let reply: () => readonly ReplyPart[] = () => [{ text: 'Yes.' }]
  beforeAll(async () => {
    model = await startOpenAi(() => reply())
    playground = await startPlayground({
      INLAY_MODEL: 'm',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_MODEL_GROUNDING: 'tools',
      INLAY_SESSION_NAMES: 'question',
    })
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
  })

  test('a reload keeps what was said, and the next question goes on from there', async () => {
    reply = () => [{ reasoning: 'Simple.' }, { text: 'The **first** answer.' }]
    const page = await open(playground.address)
    await ask(page, 'First question?')
    await answered(page)
    const address = page.url()
    expect(address).toMatch(/#chat\/[\da-f-]{36}$/)
    await page.reload()
    await page.locator('.answer strong', { hasText: 'first' }).waitFor()
    await page.getByText('Reasoning', { exact: true }).waitFor()
    reply = () => [{ text: 'The second.' }]
    await ask(page, 'Second question?')
    await page.locator('.answer', { hasText: 'The second.' }).waitFor()
    expect(page.url()).toBe(address)
    await page.reload()
    expect(await (await answered(page)).locator('.question').textContent()).toBe('Second question?')
    expect(await page.locator('.turn').count()).toBe(2)
  })

  test('a reload in the midst of an answer shows it to its end, and stop still works', async () => {
    const goOn = Promise.withResolvers<void>()
    reply = () => [{ text: 'The first half' }, { pause: () => goOn.promise }, { text: ' and the second.' }]
    const page = await open(playground.address)
    await ask(page, 'Slowly?')
    await page.locator('.answer').getByText('The first half').waitFor()
    await page.reload()
    await page.locator('.answer.streaming', { hasText: 'The first half' }).waitFor()
    goOn.resolve()
    expect(await (await answered(page)).locator('.answer').textContent()).toBe('The first half and the second.')

    reply = () => [{ text: 'For ever' }, { hang: true }]
    await ask(page, 'And now?')
    await page.locator('.answer').getByText('For ever').waitFor()
    await page.reload()
    await page.locator('.answer.streaming', { hasText: 'For ever' }).waitFor()
    await page.getByRole('button', { name: 'Stop answering' }).click()
    await page.getByText('You stopped this answer.').waitFor()
  })

  test('an answer goes on while a new chat is begun, and is there afterwards', async () => {
    const goOn = Promise.withResolvers<void>()
    reply = () => [{ text: 'Left' }, { pause: () => goOn.promise }, { text: ' alone.' }]
    const page = await open(playground.address)
    await ask(page, 'Will you wait for me?')
    await page.locator('.answer').getByText('Left').waitFor()
    const address = page.url()
    reply = () => [{ text: 'Another one.' }]
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await page.getByRole('heading', { name: 'Ask your documents' }).waitFor()
    await ask(page, 'And who are you?')
    await page.locator('.answer', { hasText: 'Another one.' }).waitFor()
    expect(page.url()).not.toBe(address)
    goOn.resolve()
    await page.goBack()
    await page.locator('.answer', { hasText: 'Left alone.' }).waitFor()
    expect(page.url()).toBe(address)
  })

  test('chats are listed, renamed, and found by what was said, which leads to that message', async () => {
    reply = () => [{ text: `Twenty-five days.${'\n\nAnd so on.'.repeat(60)}` }]
    const page = await open(playground.address)
    await ask(page, 'Holidays of the okapi?')
    await answered(page)
    reply = () => [{ text: 'Nothing more.' }]
    await ask(page, 'And else?')
    await page.locator('.answer', { hasText: 'Nothing more.' }).waitFor()
    const name = 'Leave <b>of all</b>'
    await page.getByRole('link', { name: 'Chats' }).click()
    const rows = page.locator('.chat-row')
    await rows
      .first()
      .getByRole('button', { name: /^Rename/ })
      .click()
    await page.getByLabel('Name of the chat').fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name }).waitFor()
    await page.getByLabel('Search chats').fill('nothing-like-this')
    await page.getByText('No chat holds these words.').waitFor()
    // The word is in a message alone.
    await page.getByLabel('Search chats').fill('okapi')
    const hit = rows.filter({ hasText: name })
    expect(await hit.locator('.chat-hit').textContent()).toBe('Holidays of the okapi?')
    expect(await hit.locator('.chat-hit mark').allTextContents()).toEqual(['okapi'])
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'chats-found')
    await page.getByRole('link', { name }).click()
    const goal = page.locator('.turn-place.found')
    await goal.getByRole('heading', { name: 'Holidays of the okapi?' }).waitFor()
    expect(await goal.evaluate((place) => document.activeElement === place)).toBe(true)
    await expect.poll(() => goal.evaluate((place) => Math.abs(place.getBoundingClientRect().top) < 200)).toBe(true)
    expect(page.url()).toMatch(/#chat\/[\da-f-]{36}$/)

    // The sidebar finds it too, from where another view is shown.
    await page.getByRole('link', { name: 'Documents' }).click()
    const recent = page.getByRole('navigation', { name: 'Recent chats' })
    await page.getByLabel('Search chats').fill('okapi')
    await recent.getByRole('link', { name }).click()
    await goal.getByRole('heading', { name: 'Holidays of the okapi?' }).waitFor()
    await page.getByLabel('Search chats').fill('')
    await recent.getByRole('heading', { name: 'Today' }).waitFor()
  })

  test('an old chat among 200 is found by its answer, and stays at hand once it is pinned', async () => {
    const send = async (message: string): Promise<void> => {
      const { status } = await fetch(`${playground.origin}/api/chat/send-chat-message`, {
        method: 'POST',
        headers: { authorization: `Bearer ${playground.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message, stream: false }),
      })
      expect(status).toBe(200)
    }
    reply = () => [{ text: '> On the ice of Svalbard.\n>\n> Rarely in the water.' }]
    await send('Where do walruses sleep?')
    reply = () => [{ text: 'Yes.' }]
    for (let sent = 1; sent < 200; sent++) await send(`Is ${sent} a number?`)
    const page = await open(playground.address)
    const recent = page.getByRole('navigation', { name: 'Recent chats' })
    const chat = recent.getByRole('link', { name: /^Where do walruses sleep/ })
    await recent.getByRole('link', { name: 'Is 199 a number?' }).waitFor()
    expect(await chat.count()).toBe(0)
    const field = page.getByLabel('Search chats')
    const place = await field.boundingBox()
    await searchUntilHit(page, 'svalbard', recent.locator('.chat-hit', { hasText: 'Svalbard. Rarely in the water.' }))
    // The field stays where it is while somebody types.
    expect(await field.boundingBox()).toEqual(place)
    await shot(page, 'chat-among-many')
    await chat.hover()
    await recent.getByRole('button', { name: 'Pin Where do walruses sleep?' }).click()
    await field.fill('')
    await recent.getByRole('heading', { name: 'Pinned' }).waitFor()
    await chat.click()
    await page.locator('.answer', { hasText: 'On the ice of Svalbard.' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await recent.getByRole('button', { name: 'Unpin Where do walruses sleep?' }).click()
    await recent.getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' })
  }, 180_000)

  test('on a phone the menu has the projects and the chats, and finds them', async () => {
    reply = () => [{ text: 'The dodo is gone.' }]
    const page = await open(playground.address, phone)
    await ask(page, 'What of the dodo?')
    await answered(page)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    const menu = page.getByRole('dialog', { name: 'Menu' })
    await menu.getByRole('heading', { name: 'Projects' }).waitFor()
    await menu.getByRole('heading', { name: 'Today' }).waitFor()
    await menu.getByLabel('Search chats').fill('dodo gone')
    await menu.locator('.chat-hit', { hasText: 'The dodo is gone.' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'drawer-search')
    await menu.locator('.chat-hit').click()
    await menu.waitFor({ state: 'detached' })
    await page.locator('.turn-place.found .answer', { hasText: 'The dodo is gone.' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
  })

  test('a hit in a branch that is not shown shows that branch', async () => {
    reply = () => [{ text: 'Quaggas are gone.' }]
    const page = await open(playground.address)
    await ask(page, 'What became of them?')
    const turn = await answered(page)
    reply = () => [{ text: 'They live on.' }]
    await turn.getByRole('button', { name: 'Answer again' }).click()
    await page.locator('.answer', { hasText: 'They live on.' }).waitFor()
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    const recent = page.getByRole('navigation', { name: 'Recent chats' })
    await searchUntilHit(page, 'quagga', recent.locator('.chat-hit', { hasText: 'Quaggas are gone.' }))
    await recent.locator('.chat-hit', { hasText: 'Quaggas are gone.' }).click()
    await page.locator('.turn-place.found .answer', { hasText: 'Quaggas are gone.' }).waitFor()
  })

  test('a tab opened at the address of a message can show another version of it', async () => {
    reply = () => [{ text: 'Aurochs are gone.' }]
    const page = await open(playground.address)
    await ask(page, 'And of these?')
    const turn = await answered(page)
    reply = () => [{ text: 'These live on.' }]
    await turn.getByRole('button', { name: 'Answer again' }).click()
    await page.locator('.answer', { hasText: 'These live on.' }).waitFor()
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    const recent = page.getByRole('navigation', { name: 'Recent chats' })
    const hit = recent.locator('a', { hasText: 'Aurochs are gone.' })
    await searchUntilHit(page, 'aurochs', hit)
    const address = await hit.evaluate((link) => (link as HTMLAnchorElement).href)
    const tab = await page.context().newPage()
    await tab.goto(address)
    await tab.locator('.turn-place.found .answer', { hasText: 'Aurochs are gone.' }).waitFor()
    await tab.getByRole('button', { name: 'Next version of the answer' }).click()
    await tab.locator('.answer', { hasText: 'These live on.' }).waitFor({ timeout: 20_000 })
  })

  test('a chat that loads slowly is shown also to those who looked elsewhere meanwhile', async () => {
    reply = () => [{ text: 'Worth the wait.' }]
    const page = await open(playground.address)
    await ask(page, 'Slow line?')
    await answered(page)
    const goOn = Promise.withResolvers<void>()
    let reads = 0
    await page.route(/get-chat-session/, async (route) => {
      reads++
      await goOn.promise
      await route.continue().catch(() => {})
    })
    await page.reload()
    await expect.poll(() => reads).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Documents' }).click()
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor()
    await page.goBack()
    goOn.resolve()
    await page.locator('.answer', { hasText: 'Worth the wait.' }).waitFor({ timeout: 20_000 })
    // The link that skips the navigation does not leave the conversation.
    const address = page.url()
    await page.locator('.skip').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(page.url()).toBe(address)
    expect(await page.locator('.answer').count()).toBe(1)
  })

  test('pinned chats come first, in every tab and after a reload', async () => {
    reply = () => [{ text: 'Yes.' }]
    const page = await open(playground.address)
    await ask(page, 'Is this one important?')
    await answered(page)
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await ask(page, 'And this one?')
    await answered(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    const recentOf = (tab: Page) => tab.getByRole('navigation', { name: 'Recent chats' })
    const recent = recentOf(page)
    // A tab that is still opening hears of no change.
    await recentOf(other).getByRole('link', { name: 'Is this one important?' }).waitFor()
    await recent.getByRole('link', { name: 'Is this one important?' }).hover()
    await recent.getByRole('button', { name: 'Pin Is this one important?', exact: true }).click()
    for (const tab of [page, other]) {
      await recentOf(tab).getByRole('heading', { name: 'Pinned' }).waitFor()
      expect(await recentOf(tab).locator('section').first().getByRole('link').allTextContents()).toEqual([
        'Is this one important?',
      ])
    }
    await page.reload()
    await recent.getByRole('heading', { name: 'Pinned' }).waitFor()
    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    const first = page.locator('.chat-row').first()
    await first.getByText('Pinned').waitFor()
    expect(await first.getByRole('link').textContent()).toBe('Is this one important?')
    await first.getByRole('button', { name: 'Unpin Is this one important?' }).click()
    await page.getByRole('button', { name: 'Pin Is this one important?', exact: true }).waitFor()
    await recentOf(other).getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' })
  })

  test('several chats are deleted at once and come back; one that cannot be deleted stays and says why', async () => {
    reply = () => [{ text: 'Yes.' }]
    const page = await open(playground.address)
    const names = ['Delete one?', 'Delete two?', 'Delete three?']
    for (const name of names) {
      await page.getByRole('button', { name: 'New chat', exact: true }).click()
      await ask(page, name)
      await answered(page)
    }
    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    const row = (name: string) => page.locator('.chat-row', { hasText: name })
    await row('Delete one?').waitFor()
    // By keyboard alone.
    await page.getByRole('button', { name: 'Select', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('checkbox', { name: 'Select all' }).waitFor()
    for (const name of names.slice(0, 2)) {
      await page.getByRole('checkbox', { name: `Select ${name}` }).focus()
      await page.keyboard.press('Space')
    }
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'chats-selected')
    await page.getByRole('button', { name: 'Delete 2 chats' }).click()
    await page.getByText('2 chats deleted.').waitFor()
    // The focus is where the way back is.
    await page.waitForFunction(() => document.activeElement?.classList.contains('undo-note'))
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Undo')
    expect(await row('Delete one?').count()).toBe(0)
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'chats-deleted')
    await page.keyboard.press('Enter')
    for (const name of names) await row(name).waitFor()
    expect(await page.getByText('2 chats deleted.').count()).toBe(0)

    // The chat that is open ends once it is gone, not before.
    await page.route('**/delete-chat-session/*', (route) => route.abort())
    const removeThird = async () => {
      await row('Delete three?').getByRole('button', { name: 'Delete Delete three?' }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
    }
    await removeThird()
    expect(await page.getByRole('alert').textContent()).toContain('cannot be reached')
    await page.getByRole('link', { name: 'Ask', exact: true }).click()
    await page.locator('.turn').getByRole('heading', { name: 'Delete three?' }).waitFor()
    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    await page.unroute('**/delete-chat-session/*')
    await removeThird()
    await page.getByText('1 chat deleted.').waitFor()
    expect(await row('Delete three?').count()).toBe(0)
    await page.getByRole('link', { name: 'Ask', exact: true }).click()
    await page.getByRole('heading', { name: 'Ask your documents' }).waitFor()

    // If restoring fails, an error is shown and the action can be repeated.
    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    await row('Delete two?').getByRole('button', { name: 'Delete Delete two?' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.route('**/restore', (route) => route.abort())
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByText('1 chat deleted.').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('cannot be reached')
    await page.unroute('**/restore')
    await page.getByRole('button', { name: 'Undo' }).click()
    await row('Delete two?').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('the first question of a project is tried again in it', async () => {
    const page = await open(playground.address)
    const projects = page.getByRole('region', { name: 'Projects' })
    await projects.getByRole('button', { name: 'New project' }).click()
    await page.getByLabel('Name of the project').fill('Meadow')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'New chat in this project' }).click()
    await page.getByText('In the project Meadow').waitFor()
    await page.route('**/send-chat-message', (route) => route.abort())
    await ask(page, 'What grows here?')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.unroute('**/send-chat-message')
    reply = () => [{ text: 'Clover.' }]
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.answer', { hasText: 'Clover.' }).waitFor()
    await page.locator('.thread-head').getByRole('button', { name: 'Meadow' }).waitFor({ timeout: 20_000 })

    // Words that are searched hide the projects only while they are seen.
    await page.getByLabel('Search chats').fill('clover')
    await projects.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    await projects.waitFor({ timeout: 20_000 })
  })

  test('a project has instructions, files and chats; a chat begun in it uses them, and others are moved', async () => {
    reply = () => [{ text: 'Quibble sleeps standing.' }]
    const page = await open(playground.address)
    await ask(page, 'Asked outside?')
    await answered(page)
    const projects = page.getByRole('region', { name: 'Projects' })
    await projects.getByRole('button', { name: 'New project' }).click()
    const name = page.getByLabel('Name of the project')
    await expect.poll(() => name.evaluate((field) => document.activeElement === field)).toBe(true)
    await page.keyboard.type('Stables')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Stables', level: 1 }).waitFor()
    await page.getByLabel('Instructions').fill('Answer like a stable hand.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
    await page
      .getByLabel('Files for the project')
      .setInputFiles([
        { name: 'quibble.txt', mimeType: 'text/plain', buffer: Buffer.from('Quibble is a zebra of seven years.') },
      ])
    await page.locator('.project-files', { hasText: 'quibble.txt' }).waitFor()
    await page.getByText('(being read)').waitFor({ state: 'detached' })
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'project')

    await page.getByRole('button', { name: 'New chat in this project' }).click()
    await page.getByText('In the project Stables').waitFor()
    await shot(page, 'project-new-chat')
    await ask(page, 'How does he sleep?')
    await answered(page)
    const seen = JSON.stringify(model.requests.at(-1))
    expect(seen).toContain('Answer like a stable hand.')
    expect(seen).toContain('zebra of seven years')
    // The chat says where it is.
    const place = page.locator('.thread-head').getByRole('button', { name: 'Stables' })
    await place.waitFor()

    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    const row = page.locator('.chat-row', { hasText: 'Asked outside?' }).first()
    const move = row.getByRole('button', { name: 'Move Asked outside? to a project' })
    await move.focus()
    await page.keyboard.press('Enter')
    const menu = page.getByRole('menu', { name: 'Move Asked outside? to a project' })
    await menu.getByRole('menuitemradio', { name: 'Stables' }).press('Enter')
    await menu.waitFor({ state: 'detached' })
    // A chat that is looked for says which project it is in.
    await row.locator('.chat-project', { hasText: 'Stables' }).waitFor()
    await page.locator('main').getByRole('searchbox').fill('sleep standing')
    await page.locator('.chat-row', { hasText: 'How does he sleep?' }).locator('.chat-project').waitFor()
    await shot(page, 'chats-in-project')
    await page.getByRole('link', { name: 'Ask', exact: true }).click()
    // The view of all chats has a field of the same name, until it is left.
    await page.locator('main').getByRole('searchbox').waitFor({ state: 'detached' })
    await page.getByLabel('Search chats').fill('standing')
    await page
      .getByRole('navigation', { name: 'Recent chats' })
      .getByRole('link')
      .filter({ hasText: 'How does he sleep' })
      .locator('.chat-project', { hasText: 'Stables' })
      .waitFor()
    await shot(page, 'sidebar-in-project')
    await page.getByLabel('Search chats').fill('')
    await projects.getByRole('link', { name: 'Stables' }).click()
    const list = page.locator('.project .document-list')
    await list.getByRole('link', { name: 'Asked outside?' }).waitFor()
    await list.getByRole('link', { name: 'How does he sleep?' }).waitFor()
    await page.getByRole('button', { name: 'Take Asked outside? out of the project' }).click()
    await list.getByRole('link', { name: 'Asked outside?' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('Name of the project').fill('Zebra house')
    await page.keyboard.press('Enter')
    await projects.getByRole('link', { name: 'Zebra house' }).waitFor()
    await page.getByRole('button', { name: 'Delete the project' }).click()
    await page.getByText('Its chats and files stay.').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await projects.getByRole('link', { name: 'Zebra house' }).waitFor({ state: 'detached' })
    await page
      .getByRole('navigation', { name: 'Recent chats' })
      .getByRole('link', { name: 'How does he sleep?' })
      .click()
    await page.locator('.answer', { hasText: 'Quibble sleeps standing.' }).waitFor()
  })

  test('a chat that is gone is told in words', async () => {
    const page = await open(playground.address)
    // The page first takes its key from the address.
    await page.getByRole('heading', { name: 'Ask your documents' }).waitFor()
    await page.goto(`${playground.origin}/#chat/6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11`)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('no longer')
  })

  test('files go with a question, and those that cannot be taken say why', async () => {
    const page = await open(playground.address)
    await page.getByLabel('Files for the question').setInputFiles([
      { name: 'zebra.txt', mimeType: 'text/plain', buffer: Buffer.from('The zebra is called Quibble.') },
      { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.from('') },
    ])
    await page.locator('.file-chip', { hasText: 'empty.txt: The file is empty.' }).waitFor()
    reply = () => [{ text: 'Quibble.' }]
    await ask(page, 'What is it called?')
    const turn = await answered(page)
    expect(await turn.locator('.file-chip').allTextContents()).toEqual(['zebra.txt'])
    expect(JSON.stringify(model.requests.at(-1)?.body ?? {}) + JSON.stringify(model.requests)).toContain('Quibble')
    await page.reload()
    expect(await (await answered(page)).locator('.file-chip').textContent()).toBe('zebra.txt')
    expect(await page.locator('.attachments').count()).toBe(0)
  })

  test('deep research is asked for question by question', async () => {
    const requests: unknown[] = []
    const page = await open(playground.address)
    page.on('request', (request) => {
      if (request.url().endsWith('/send-chat-message')) requests.push(request.postDataJSON().deep_research)
    })
    await serve(page, [{ type: 'message_start', final_documents: null, pre_answer_processing_seconds: 0 }])
    const toggle = page.getByRole('button', { name: 'Deep research' })
    await toggle.click()
    expect(await toggle.getAttribute('aria-pressed')).toBe('true')
    await ask(page, 'Everything about zebras?')
    await expect.poll(() => requests.length).toBe(1)
    await expect.poll(() => toggle.getAttribute('aria-pressed')).toBe('false')
    await page.getByRole('button', { name: 'Send question' }).waitFor()
    await ask(page, 'And briefly?')
    await expect.poll(() => requests).toEqual([true, undefined])
  })

  test('the numbers in the report of a research agent lead to the sources of the answer', async () => {
    const page = await open(playground.address)
    const [first, second] = ['Plan', 'Budget'].map((title) =>
      searchDoc({ document_id: title, semantic_identifier: title, link: null }),
    )
    await serve(page, [
      { type: 'research_agent_start', research_task: 'Look at the budget' },
      { type: 'intermediate_report_start' },
      { type: 'intermediate_report_delta', content: 'It is small [7]. The plan is big [2].' },
      { type: 'intermediate_report_cited_docs', cited_docs: [second!, first!] },
      { type: 'section_end' },
      { type: 'message_start', final_documents: [first!, second!], pre_answer_processing_seconds: 0 },
      { type: 'citation_info', citation_number: 1, document_id: 'Plan' },
      { type: 'citation_info', citation_number: 2, document_id: 'Budget' },
      { type: 'message_delta', content: 'Big [[1]](), but small [[2]]().' },
    ])
    await ask(page, 'How is it?')
    const turn = await answered(page)
    await turn.locator('.steps summary').first().click()
    await turn.locator('.step-detail').getByRole('button', { name: 'Source 2: Budget' }).click()
    await turn.locator('.source.shown', { hasText: 'Budget' }).waitFor()
  })

  test('the picture a passage belongs to is shown with it', async () => {
    const page = await open(playground.address)
    await page.route('**/chat/file/*', (route) =>
      route.fulfill({ body: picture, contentType: 'image/png', headers: nameHeader('plan.png') }),
    )
    const plan = searchDoc({ semantic_identifier: 'Floor plan', link: null, file_id: 'plan' })
    await serve(page, [
      { type: 'search_tool_start', is_internet_search: false },
      { type: 'search_tool_documents_delta', documents: [plan] },
      { type: 'section_end' },
      { type: 'message_start', final_documents: [plan], pre_answer_processing_seconds: 0 },
      { type: 'citation_info', citation_number: 1, document_id: plan.document_id },
      { type: 'message_delta', content: 'Up the stairs [[1]]().' },
    ])
    await ask(page, 'Where is it?')
    const turn = await answered(page)
    await turn.locator('.citation').click()
    await turn.locator('.source.shown img[alt="Floor plan"]').waitFor()
  })

  test.each([
    ['desktop-light', {}],
    ['phone-dark', { ...phone, colorScheme: 'dark' as const }],
  ])('what actions give is shown: output, pictures, files, data, memories (%s)', async (name, options) => {
    const page = await open(playground.address, options)
    await page.route('**/chat/file/*', (route) =>
      route.request().url().endsWith('picture')
        ? route.fulfill({ body: picture, contentType: 'image/png', headers: nameHeader('zebra.png') })
        : route.fulfill({ body: 'a,b\n', contentType: 'text/csv', headers: nameHeader('table "1".csv') }),
    )
    await serve(page, results)
    await ask(page, 'Do it all.')
    const turn = await answered(page)
    await turn.locator('img[alt="A zebra at night"]').waitFor()
    expect(await turn.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1)
    const saved = page.waitForEvent('download')
    await turn.getByRole('button', { name: 'Save table "1".csv' }).click()
    expect((await saved).suggestedFilename()).toMatch(/^table .1.\.csv$/)
    for (const summary of await turn.locator('.steps summary').all()) await summary.click()
    const steps = (await turn.locator('.steps').textContent()) ?? ''
    for (const words of ['print(6 * 7)', '42', 'orders', '"state": "sent"', 'Likes zebras', 'notes.md', 'Zebras sleep'])
      expect(steps).toContain(words)
    await shot(page, `actions-${name}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    await page.getByRole('link', { name: 'Chats' }).click()
    await page.getByRole('heading', { name: 'Chats', level: 1 }).waitFor()
    await shot(page, `chats-${name}`)
    expect(await faultsOf(page)).toEqual([])
  })
})

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const nameHeader = (name: string): Record<string, string> => ({
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
})

const attack = '<img src=x onerror="globalThis.pwned=1">'
const results: readonly PacketBody[] = [
  { type: 'python_tool_start', code: 'print(6 * 7)' },
  { type: 'python_tool_delta', stdout: `42\n${attack}`, stderr: '', file_ids: ['table'] },
  { type: 'section_end' },
  { type: 'image_generation_start' },
  {
    type: 'image_generation_final',
    images: [
      { file_id: 'picture', url: '/api/chat/file/picture', revised_prompt: 'A zebra at night', shape: 'square' },
    ],
  },
  { type: 'section_end' },
  { type: 'custom_tool_start', tool_name: 'orders', tool_id: 1_000_001 },
  { type: 'custom_tool_args', tool_name: 'orders', tool_args: { number: '7' } },
  {
    type: 'custom_tool_delta',
    tool_name: 'orders',
    tool_id: 1_000_001,
    response_type: 'json',
    data: { state: 'sent', note: attack },
    file_ids: null,
    error: null,
  },
  { type: 'section_end' },
  { type: 'memory_tool_start' },
  { type: 'memory_tool_delta', memory_text: 'Likes zebras', operation: 'add', memory_id: 1, index: null },
  { type: 'section_end' },
  { type: 'file_reader_start' },
  {
    type: 'file_reader_result',
    file_name: 'notes.md',
    file_id: 'f',
    start_char: 0,
    end_char: 30,
    total_chars: 90,
    preview_start: 'Zebras sleep standing.',
    preview_end: '',
  },
  { type: 'section_end' },
  { type: 'message_start', final_documents: null, pre_answer_processing_seconds: 1 },
  { type: 'message_delta', content: 'All done.' },
]

/** Answers the next questions with these packets, a turn for each section. */
async function serve(page: Page, bodies: readonly PacketBody[]): Promise<void> {
  let turn = 0
  const lines: StreamLine[] = [{ user_message_id: 1, reserved_assistant_message_id: 2 }]
  for (const obj of [...bodies, { type: 'stop', stop_reason: null } as const]) {
    lines.push({ placement: { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: 0 }, obj })
    if (obj.type === 'section_end') turn++
  }
  const body = lines.map((line, at) => frameLine(JSON.stringify(line), { format: 'sse', sequence: at + 1 })).join('')
  await page.route('**/send-chat-message', (route) => route.fulfill({ body, contentType: 'text/event-stream' }))
}
