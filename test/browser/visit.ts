import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as Axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, expect } from 'vitest'
import { launchBrowser } from './browser.ts'

/** A host that is not loopback by its name: what a page of this machine does without a network differs. */
export const elsewhere = 'inlay.example'

const launched = await launchBrowser([`--host-resolver-rules=MAP ${elsewhere} 127.0.0.1`])

/** Why there is no browser here; undefined when there is one. Tests that need one are skipped then. */
export const reason: string | undefined = 'reason' in launched ? launched.reason : undefined
if (reason !== undefined) console.warn(`The page is not tested in a browser: ${reason}`)
// Tests that use it do not run without one.
export const browser: Browser = 'browser' in launched ? launched.browser : (undefined as never)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The window of a phone. */
export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
}

/** What a browser says of a failed request, and of a header that does nothing over plain HTTP from elsewhere. */
const expected = /Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/

const contexts: BrowserContext[] = []
let foreign: string[] = []
let complaints: string[] = []
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close()
  // Whatever a test did: the page loads nothing from elsewhere, breaks no policy and throws nothing.
  expect(foreign).toEqual([])
  expect(complaints).toEqual([])
})
afterAll(() => browser?.close())

/** A new window, which ends with the test. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  // Tests read English, whatever the machine speaks.
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  contexts.push(context)
  return context
}

/**
 * Opens the page in a new window; a request to another origin, or a complaint, fails the test.
 * @param firstPlace what the first view shows. Default: the field for a question
 */
export async function open(
  address: string,
  options: BrowserContextOptions = {},
  firstPlace = '.dock textarea',
): Promise<Page> {
  foreign = []
  complaints = []
  const context = await openContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const { origin } = new URL(address)
  page.on('request', (request) => {
    if (request.isNavigationRequest()) return
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) foreign.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected.test(message.text())) complaints.push(message.text())
  })
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`))
  await page.goto(address)
  // By its place: the page speaks the language of the browser.
  await page.locator(firstPlace).waitFor()
  return page
}

/** Asks a question. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question)
  await page.keyboard.press('Enter')
}

/** The newest turn, once its answer has ended. */
export async function answered(page: Page): Promise<Locator> {
  const turn = page.locator('.turn').last()
  await turn.locator('.turn-actions').waitFor()
  return turn
}

/** Keeps a picture of the page, for people. */
export async function shot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(tmpdir(), 'inlay-screenshots', `${name}.png`) })
}

/** Violations of accessibility rules. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    // Put there by the line above.
    const { violations } = await (globalThis as unknown as { axe: typeof Axe }).axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
