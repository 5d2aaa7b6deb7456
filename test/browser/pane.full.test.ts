import { createClient } from '@inlay/client'
import type { Page } from 'playwright-core'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, phone, reason, shot } from './visit.ts'

/** The text that is marked in the document, and whether a reader sees it. */
const marked = (page: Page): Promise<{ text: string; isInSight: boolean }> =>
  page.evaluate(() => {
    const [range] = CSS.highlights.get('quote') ?? []
    if (!(range instanceof Range)) return { text: '', isInSight: false }
    const { top, bottom } = range.getBoundingClientRect()
    const pane = document.querySelector('.preview')!.getBoundingClientRect()
    return { text: range.toString(), isInSight: top >= pane.top && bottom <= pane.bottom }
  })

/** Long enough that a sentence in its middle has to be scrolled to. */
const handbook = (title: string, sentence: string): string =>
  Array.from({ length: 60 }, (_, at) =>
    at === 40 ? `## Hours\n\n${sentence}` : `## ${title} ${at}\n\nPart ${at} of the ${title} says nothing of the kind.`,
  ).join('\n\n')
const sentences = ['The greenhouse opens at seven in the morning.', 'Bicycles are parked behind the old boiler house.']
const question = 'When does the greenhouse open, and where are bicycles parked?'

const replyTo = ({ body }: { readonly body: Record<string, unknown> }): readonly ReplyPart[] =>
  JSON.stringify(body['messages']).includes('"role":"tool"')
    ? [{ text: `${sentences[0]} [1]\n\n${sentences[1]} [2]\n\n${sentences[0]} [1]\n\n${sentences[1]} [2]` }]
    : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: sentences } }] }]

describe.skipIf(reason !== undefined)('the pane', () => {
  const running = {} as { playground: Playground }
  let model: StandIn
  beforeAll(async () => {
    model = await startOpenAi(replyTo)
    running.playground = await startPlayground({
      INLAY_MODEL: 'quoting',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_MODEL_GROUNDING: 'tools',
    })
    await running.playground.printed('searchable after')
    const client = createClient({ baseUrl: `${running.playground.origin}/api`, apiKey: running.playground.key })
    for (const [at, title] of ['Greenhouse', 'Bicycles'].entries()) {
      const sections = [{ text: handbook(title, sentences[at] ?? '') }]
      await client.ingest({ id: title, semantic_identifier: title, sections, metadata: {} }, { waitSeconds: 30 })
    }
  })
  afterAll(async () => {
    await running.playground?.end()
    await model?.close()
  })

  test('the address by which OpenAI’s clients get a document opens it', async () => {
    const { origin, key, address } = running.playground
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key })
    const messages = [{ role: 'user' as const, content: question }]
    const { choices } = await client.chat.completions.create({ model: 'inlay', messages })
    const { url, title } = choices[0]!.message.annotations![0]!.url_citation
    const page = await open(address)
    await page.goto(url)
    await page.locator('.pane h2').getByText(title).waitFor()
    await page.locator('.preview').getByText(`Part 0 of the ${title}`).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.close()
  })

  test('a citation leads to its document, at the quoted sentence, and back', async () => {
    const page = await open(running.playground.address, { viewport: { width: 1440, height: 900 } })
    await ask(page, question)
    const turn = await answered(page)
    await turn.locator('.citation').nth(1).click()
    const source = turn.locator('.source.shown')
    const quote = (await source.locator('mark.quote').first().textContent()) ?? ''
    await source.getByRole('button', { name: 'Open document' }).click()
    await expect.poll(async () => (await marked(page)).isInSight).toBe(true)
    expect((await marked(page)).text).toContain(quote.slice(0, 40))
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'pane-desktop-light')
    // Another citation opens its document; the answer does not scroll.
    const before = await page.evaluate(() => scrollY)
    const title = await page.locator('.pane h2').textContent()
    await turn.locator('.citation').nth(0).click()
    await expect.poll(() => page.locator('.pane h2').textContent()).not.toBe(title)
    expect(await page.evaluate(() => scrollY)).toBe(before)
    await page.keyboard.press('Escape')
    await page.locator('.pane').waitFor({ state: 'detached' })
    expect(await source.count()).toBe(1)
  })

  test('is widened by the keyboard, remembers its width, and closes to where it was opened from', async () => {
    const page = await open(running.playground.address, { viewport: { width: 1440, height: 900 } })
    await ask(page, question)
    const turn = await answered(page)
    const button = turn.getByRole('button', { name: 'Open document' }).first()
    await button.focus()
    await page.keyboard.press('Enter')
    await page.locator('.preview .markdown').waitFor()
    const widthOf = (): Promise<number> => page.locator('.pane').evaluate((pane) => pane.clientWidth)
    const before = await widthOf()
    await page.getByRole('separator', { name: 'Width of the pane' }).focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(widthOf).toBe(before + 40)
    await page.keyboard.press('Escape')
    await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await expect.poll(widthOf).toBe(before + 40)
  })

  test.each([
    ['a tablet', { viewport: { width: 1024, height: 768 } }],
    ['a phone', phone],
  ])('on %s sources come in a sheet beside their sentence, documents over it', async (name, options) => {
    const page = await open(running.playground.address, options)
    await ask(page, question)
    const turn = await answered(page)
    const citation = turn.locator('.citation').nth(3)
    await citation.click()
    await turn.locator('.source.shown mark.quote').first().waitFor()
    // Both are seen at once.
    const places = async (): Promise<readonly (number | undefined)[]> => [
      await citation.evaluate((element) => element.getBoundingClientRect().bottom),
      await turn.locator('.sources.asked').evaluate((element) => element.getBoundingClientRect().top),
    ]
    await expect
      .poll(async () => {
        const [bottom = 0, top = 0] = await places()
        return bottom > 0 && bottom <= top
      })
      .toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await shot(page, `sheet-${name.replace(' ', '-')}`)
    await turn.locator('.source.shown').getByRole('button', { name: 'Open document' }).click()
    await expect.poll(async () => (await marked(page)).isInSight).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Close the pane' }).click()
    await turn.getByRole('button', { name: 'Back to the answer' }).click()
    expect(await turn.locator('.sources.asked').count()).toBe(0)
  })

  test('a document that is gone is said to be, and a server that is away can be tried again', async () => {
    const page = await open(running.playground.address, { viewport: { width: 1440, height: 900 } })
    await ask(page, question)
    const turn = await answered(page)
    await page.route('**/document/chunks**', (route) => route.abort(), { times: 1 })
    await turn.getByRole('button', { name: 'Open document' }).first().click()
    await page.locator('.pane').getByRole('alert').waitFor()
    await page.locator('.pane').getByRole('button', { name: 'Try again' }).click()
    await page.locator('.preview .markdown').waitFor()
  })
})
