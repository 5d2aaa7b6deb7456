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

  test('nothing is selected that is not listed', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    const field = page.getByLabel('Search documents by name')
    await field.fill('Zebra')
    await expect.poll(() => page.locator('.document-row').count()).toBe(2)
    // All that are found are read while something else is searched for.
    const request = page.waitForRequest(/order=id/)
    const held = Promise.withResolvers<void>()
    await page.route(/order=id/, async (route) => {
      await held.promise
      await route.continue().catch(() => {})
    })
    await page.locator('.document-row').first().focus()
    await page.keyboard.press('Control+a')
    await request
    await field.fill('Zebra house prices')
    await expect.poll(() => page.locator('.document-row').count()).toBe(1)
    held.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    await page.locator('.document-row').first().focus()
    await page.keyboard.press('Control+a')
    await page.getByText('1 selected', { exact: true }).waitFor()

    // Rows that still show what was searched for before.
    await field.fill('Zebra')
    await expect.poll(() => page.locator('.document-row').count()).toBe(2)
    const slow = Promise.withResolvers<void>()
    await page.route(/match=Zebra(\+|%20)house(\+|%20)prices/, async (route) => {
      await slow.promise
      await route.continue()
    })
    await field.fill('Zebra house prices')
    await page.getByLabel('Select those shown').check()
    await page.getByText('2 selected', { exact: true }).waitFor()
    slow.resolve()
    await expect.poll(() => page.locator('.document-row').count()).toBe(1)
    await expect.poll(() => page.getByText('selected', { exact: false }).count()).toBe(0)
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('why one was not deleted is told until it is closed', async () => {
    const page = await open(playground.address)
    await page.route(/\/service-api\/ingestion\/Zebra/, (route) =>
      route.fulfill({ status: 403, json: { error_code: 'INSUFFICIENT_PERMISSIONS', detail: 'It belongs to others.' } }),
    )
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByRole('button', { name: 'Delete Zebra house hours' }).click()
    const reread = page.waitForResponse(/order=newest/)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const note = page.getByRole('alert').filter({ hasText: 'It belongs to others.' })
    await note.waitFor()
    await reread
    await page.getByRole('columnheader', { name: 'Size' }).getByRole('button').click()
    await page.waitForResponse(/order=largest/)
    await page.getByRole('columnheader', { name: 'Size' }).getByRole('button').click()
    await page.waitForResponse(/order=smallest/)
    await note.getByRole('button', { name: 'Close' }).click()
    await note.waitFor({ state: 'detached' })
  })

  test('a deletion goes on, whatever is pressed and wherever its person goes, and is told when they are back', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByLabel('Search documents by name').fill('Zebra')
    await expect.poll(() => page.locator('.document-row').count()).toBe(2)
    const held = Promise.withResolvers<void>()
    await page.route(/\/service-api\/ingestion\/Zebra/, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByLabel('Select those shown').check()
    await page.getByRole('button', { name: 'Delete 2 documents' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted 0 of 2').waitFor()
    await page.locator('.document-row').first().focus()
    await page.keyboard.press('Control+a')
    await page.getByRole('link', { name: 'Ask', exact: true }).click()
    await page.getByLabel('Your question').waitFor()
    held.resolve()
    await expect.poll(listed).toEqual([])
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByText('2 documents were deleted.').waitFor()
  })
})
