import { createClient, type Client } from '@inlay/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, open, reason } from './visit.ts'

describe.skipIf(reason !== undefined)('deleting in the page', () => {
  let playground: Playground
  let client: Client
  beforeAll(async () => {
    playground = await startPlayground()
    client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    await playground.printed('searchable after')
    for (const name of ['Zebra house hours', 'Zebra house prices'])
      await client.ingest(
        { id: name, semantic_identifier: name, sections: [{ text: `The ${name} are on the door.` }], metadata: {} },
        { waitSeconds: 60 },
      )
  })
  afterAll(() => playground?.end())

  const listed = async (): Promise<string[]> =>
    (await client.documents({ match: 'Zebra' })).documents.map(({ document_id: id }) => id).toSorted()

  /** Types words with spaces, each of which would press a button that took the focus. */
  async function type(page: Page, label: string, words: string): Promise<void> {
    await page.getByLabel(label).focus()
    for (const letter of words) {
      await page.keyboard.press(letter === ' ' ? 'Space' : letter)
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
    }
    expect(await page.getByLabel(label).inputValue()).toBe(words)
  }

  test('a question that is open takes no keys that are typed elsewhere', async () => {
    const page = await open(playground.address)
    const focused = (): Promise<string | null | undefined> => page.evaluate(() => document.activeElement?.textContent)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByRole('button', { name: 'Delete Zebra house hours' }).click()
    await expect.poll(focused).toBe('Delete')
    await type(page, 'Search documents by name', 'Zebra house hours')
    expect(await listed()).toEqual(['Zebra house hours', 'Zebra house prices'])

    await page.getByRole('link', { name: 'Ask', exact: true }).click()
    await ask(page, 'Where are the Zebra house prices?')
    await answered(page)
    await page.getByRole('link', { name: 'Chats', exact: true }).click()
    await page
      .locator('.chat-row')
      .getByRole('button', { name: /^Delete Where/ })
      .click()
    await expect.poll(focused).toBe('Delete')
    await type(page, 'Search chats', 'Zebra house prices')
    await page.locator('.chat-row', { hasText: 'Zebra house prices' }).waitFor()

    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByLabel('Name of the project').fill('Zebras')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Delete the project' }).click()
    await expect.poll(focused).toBe('Delete')
    await type(page, 'Instructions', 'Write of zebras only')
    await page.getByRole('heading', { name: 'Zebras' }).waitFor()
    expect((await client.projects.list()).map(({ name }) => name)).toEqual(['Zebras'])
  })
})
