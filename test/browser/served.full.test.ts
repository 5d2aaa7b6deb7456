import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPlayground } from './playground.ts'
import { browser, open, phone, reason } from './visit.ts'

afterAll(() => browser?.close())

describe.skipIf(reason !== undefined)('where chat is left out', () => {
  test.each([
    ['knowledge', ['Search', /^Documents/], ['Models', 'Keys', 'Usage', 'Audit log', 'Health', 'API reference']],
    ['search', ['Search'], ['Usage', 'Audit log', 'API reference']],
  ] as const)(
    'the page with INLAY_SERVES=%s is the rest, and calls nothing that is not there',
    async (serves, views, tabs) => {
      const playground = await startPlayground({ INLAY_SERVES: serves })
      onTestFinished(async () => void (await playground.end()))
      await playground.printed('searchable after')
      const refused: string[] = []
      const page = await open(playground.address, {}, '#search-title')
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
      })
      await page.reload()
      await page.locator('#search-title').waitFor()
      expect(await page.locator('.top .views a').allTextContents()).toEqual(
        views.map((name) => (typeof name === 'string' ? name : expect.stringMatching(name))),
      )
      expect(await page.locator('.new-chat:visible, .recent:visible, textarea').count()).toBe(0)
      await page.getByRole('searchbox').fill('How are citations checked?')
      await page.locator('.source').getByRole('button', { name: 'Open document' }).first().click()
      await page.locator('.pane').waitFor()
      for (const address of ['#', '#chats', '#project/1', '#chat/00000000-0000-4000-8000-000000000000']) {
        await page.evaluate((hash) => (location.hash = hash), address)
        await page.locator('#search-title').waitFor()
      }
      await page.getByRole('link', { name: 'Administration' }).click()
      await page.locator('.admin .tabs a').first().waitFor()
      expect(await page.locator('.tabs a').allTextContents()).toEqual(tabs)
      for (const name of tabs.slice(0, -1)) {
        await page.locator('.tabs').getByRole('link', { name }).click()
        await page.waitForLoadState('networkidle')
      }
      if (serves === 'knowledge') {
        await page.evaluate(() => (location.hash = '#documents'))
        await page.locator('.document-row').first().waitFor()
      }
      const small = await open(
        `${playground.origin}/#documents`,
        { ...phone, storageState: await page.context().storageState() },
        '.top',
      )
      await small.getByRole('button', { name: 'Open the menu' }).click()
      await small.getByRole('link', { name: 'Search', exact: true }).waitFor()
      expect(await small.locator('.drawer .recent:visible').count()).toBe(0)
      expect(refused).toEqual([])
    },
  )
})
