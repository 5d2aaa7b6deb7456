/**
 * Keeps pictures of every view of the page, at three widths, in light and dark, for people to look at:
 *
 *   npm run screenshots -- [folder]
 */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { createClient } from '@inlay/client'
import { adminSections } from '../../packages/page/src/address.ts'
import { launchBrowser } from './browser.ts'
import { startPlayground } from './playground.ts'

const folder = process.argv[2] ?? join(tmpdir(), 'inlay-views')
mkdirSync(folder, { recursive: true })

const windows: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['1440', { viewport: { width: 1440, height: 900 } }],
  ['1024', { viewport: { width: 1024, height: 768 } }],
  ['390', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }],
]

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question)
  await page.keyboard.press('Enter')
  await page.locator('.turn').last().locator('.turn-actions').waitFor()
}

const launched = await launchBrowser()
if ('reason' in launched) throw new Error(`no browser: ${launched.reason}`)
const playground = await startPlayground()
try {
  await playground.printed('searchable after')
  const client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
  const project = await client.projects.create('Onboarding')
  await client.projects.update(project.id, { instructions: 'Answer briefly, for somebody who is new here.' })
  await client.files.upload([new File(['Rooms open at 8.'], 'rooms-and-hours.txt')], { projectId: project.id })
  for (const [name, options] of windows)
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await launched.browser.newContext({ locale: 'en-GB', ...options, colorScheme })
      const page = await context.newPage()
      const keep = (view: string): Promise<unknown> =>
        page.screenshot({ path: join(folder, `${view}-${name}-${colorScheme}.png`) })
      await page.goto(playground.address)
      await page.locator('.dock textarea').waitFor()
      await keep('empty')
      await ask(page, 'How are citations checked?')
      await keep('answer')
      await page.locator('.citation').first().click()
      await page.locator('.passage.open mark.quote').first().waitFor()
      await keep('source')
      await page.goto(`${playground.origin}/#chats`)
      await page.locator('.chat-row').first().waitFor()
      await keep('chats')
      await page.locator('main').getByRole('searchbox').fill('citations')
      await page.locator('main .chat-hit').first().waitFor()
      await keep('chats-search')
      await page.goto(`${playground.origin}/#project/${project.id}`)
      await page.locator('.project-files').waitFor()
      await keep('project')
      await page.goto(`${playground.origin}/#documents`)
      await page.locator('main h1', { hasText: 'Documents' }).waitFor()
      await page.waitForLoadState('networkidle')
      await keep('documents')
      await page.locator('.document-row input').first().check()
      await page
        .locator('.document-row')
        .nth(1)
        .getByRole('button', { name: /^Tags, sets/ })
        .click()
      await page.getByRole('form', { name: 'Tags' }).waitFor()
      await page.waitForLoadState('networkidle')
      await keep('documents-details')
      await page.goto(`${playground.origin}/#health`)
      await page.locator('.plot').first().waitFor()
      await keep('health')
      await page.goto(`${playground.origin}/#search`)
      await page.locator('main').getByRole('searchbox').fill('How are citations checked?')
      await page.locator('.source:visible').first().waitFor()
      await keep('search')
      for (const section of adminSections) {
        await page.goto(`${playground.origin}/#admin/${section}`)
        await page.locator(`.tabs [aria-current][href="#admin/${section}"]`).waitFor()
        await page.waitForLoadState('networkidle')
        await keep(`admin-${section}`)
      }
      await context.close()
    }
  console.log(folder)
} finally {
  await playground.end()
  await launched.browser.close()
}
