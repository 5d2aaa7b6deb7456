import type { Page } from 'playwright-core'
import { createClient } from '@inlay/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, openContext, phone, reason, shot } from './visit.ts'

describe.skipIf(reason !== undefined)('the composer', () => {
  let playground: Playground
  let model: StandIn
  let reply: () => readonly ReplyPart[] = () => [{ text: 'Yes.' }]
  beforeAll(async () => {
    model = await startOpenAi(() => reply())
    const server = { provider: 'local', base_url: `${model.origin}/v1` }
    playground = await startPlayground({
      INLAY_MODELS: JSON.stringify([
        { name: 'small', ...server },
        { name: 'large', reasoning: true, ...server },
      ]),
      INLAY_MODEL_GROUNDING: 'tools',
      INLAY_SESSION_NAMES: 'question',
    })
    const client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    await client.ingest(
      {
        id: 'zebra',
        semantic_identifier: 'Zebra handbook',
        source: 'web',
        sections: [{ text: 'The zebra is called Quibble.' }],
        metadata: { team: 'stables' },
      },
      { waitSeconds: 30 },
    )
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
  })

  /** The bodies of the questions a page sends. */
  const questionsOf = (page: Page): Record<string, unknown>[] => {
    const bodies: Record<string, unknown>[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/send-chat-message')) bodies.push(request.postDataJSON())
    })
    return bodies
  }

  test('two models answer side by side, and the answer that is kept goes on', async () => {
    const page = await open(playground.address, { viewport: { width: 1440, height: 900 } })
    const sent = questionsOf(page)
    await page.getByRole('button', { name: 'Options' }).click()
    const panel = page.getByRole('group', { name: 'How questions are answered' })
    await panel.getByLabel('Compare with').selectOption({ index: 1 })
    await panel.getByRole('button', { name: 'Close' }).click()
    await page.getByText('Beside it: ').waitFor()
    let count = 0
    reply = () => [{ text: `Answer ${++count} of the **two**.` }]
    await ask(page, 'Which is better?')
    const columns = page.locator('.column')
    await page.getByRole('button', { name: 'Keep this answer: large' }).waitFor()
    expect(await columns.count()).toBe(2)
    expect(sent[0]?.['llm_overrides']).toHaveLength(2)
    const answers = await columns.locator('.answer').allTextContents()
    expect(answers).toEqual([1, 2].map(() => expect.stringMatching(/^Answer \d+ of the two\./) as string))
    expect(new Set(answers).size).toBe(2)
    expect(await columns.getByRole('heading').allTextContents()).toEqual(['small', 'large'])
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'comparison')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await shot(page, 'comparison-phone')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('button', { name: 'Keep this answer: large' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.turn .arrows').waitFor()
    expect(await columns.count()).toBe(0)
    expect(await page.locator('.answer').textContent()).toBe(answers[1])
    expect(await page.locator('.answered-by').textContent()).toBe('large')
    await page.reload()
    expect(await (await answered(page)).locator('.answer').textContent()).toBe(answers[1])
  })

  test('a comparison that is left undecided goes on with the first answer, also when the page is reloaded in its midst', async () => {
    const page = await open(playground.address)
    const choose = async () => {
      await page.getByRole('button', { name: 'Options' }).click()
      const panel = page.getByRole('group', { name: 'How questions are answered' })
      await panel.getByLabel('Compare with').selectOption({ index: 1 })
      await panel.getByRole('button', { name: 'Close' }).click()
    }
    await choose()
    const goOn = Promise.withResolvers<void>()
    reply = () => [{ text: 'First half' }, { pause: () => goOn.promise }, { text: ' and second.' }]
    await ask(page, 'Slowly, both?')
    await expect.poll(() => page.locator('.column .answer', { hasText: 'First half' }).count()).toBe(2)
    await page.reload()
    await expect.poll(() => page.locator('.column .answer', { hasText: 'First half' }).count()).toBe(2)
    goOn.resolve()
    await page.getByRole('button', { name: 'Keep this answer: small' }).waitFor()
    // Neither a choice that fails, nor a change in another tab, nor a reload takes the answers away.
    await page.route('**/set-preferred-response', (route) => route.abort())
    await page.getByRole('button', { name: 'Keep this answer: large' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.locator('.column').count()).toBe(2)
    await shot(page, 'comparison-not-kept')
    await page.unroute('**/set-preferred-response')
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByRole('button', { name: 'Keep this answer: large' }).waitFor()
    const stored = await other.locator('.column .answer').allTextContents()
    expect(stored).toEqual(Array(2).fill(expect.stringContaining('First half and second.')))
    const read = page.waitForResponse((response) => response.url().includes('/get-chat-session/'))
    await other.evaluate(
      (sessionId) => new BroadcastChannel('inlay').postMessage({ kind: 'chat', sessionId }),
      page.url().slice(-36),
    )
    await (await read).finished()
    // The new turns have other ids, and the note on the failed choice is gone.
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await page.locator('.column').count()).toBe(2)
    reply = () => [{ text: 'It goes on.' }]
    await ask(page, 'And now?')
    await page.locator('.answer', { hasText: 'It goes on.' }).waitFor()
    expect(await page.locator('.column').count()).toBe(0)
    expect(await page.locator('.turn').count()).toBe(2)
    expect(await page.locator('.turn').first().locator('.answer').textContent()).toContain('First half and second.')
    await page.locator('.turn').first().locator('.arrows').waitFor({ timeout: 20_000 })
    await page.reload()
    await (await answered(page)).locator('.answer', { hasText: 'It goes on.' }).waitFor()
    expect(await page.locator('.turn').first().locator('.answered-by').textContent()).toBe('small')
  })

  test('sources of each answer side by side are told apart by model and question', async () => {
    const page = await open(playground.address)
    await page.getByRole('button', { name: 'Options' }).click()
    const panel = page.getByRole('group', { name: 'How questions are answered' })
    await panel.getByLabel('Compare with').selectOption({ index: 1 })
    await panel.getByRole('button', { name: 'Close' }).click()
    let step = 0
    const search: ReplyPart = { calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['zebra'] } }] }
    reply = () => (step++ < 2 ? [search] : [{ text: 'It is called Quibble [1].' }])
    await ask(page, 'What is the zebra called?')
    await page.getByRole('button', { name: 'Keep this answer: large' }).waitFor()
    await expect.poll(() => page.locator('.column aside').count()).toBe(2)
    for (const model of ['small', 'large'])
      await page
        .getByRole('complementary', { name: `Sources of the answer of ${model} What is the zebra called?` })
        .waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('model, temperature, actions and filters are chosen, shown as chips, sent, and taken back', async () => {
    const page = await open(playground.address)
    const sent = questionsOf(page)
    await page.getByRole('button', { name: 'Options' }).click()
    const panel = page.getByRole('group', { name: 'How questions are answered' })
    await panel.getByLabel(/^Model/).selectOption('large')
    await panel.getByLabel('Temperature').fill('0.3')
    await panel.getByLabel('Reasoning effort').selectOption('high')
    await panel.getByLabel('Changed').selectOption('30')
    await panel.getByRole('button', { name: 'web', exact: true }).click()
    await panel.getByLabel('Tag').fill('stab')
    await panel.getByRole('button', { name: 'team: stables' }).click()
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'options')
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    const chips = page.getByRole('list', { name: 'Chosen for the next questions' }).getByRole('listitem')
    expect(await chips.allTextContents()).toEqual([
      'large',
      'Temperature 0.3',
      'Effort: high',
      'web',
      'team: stables',
      'In the last month',
    ])
    await shot(page, 'chips')
    let step = 0
    const search: ReplyPart = { calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['zebra'] } }] }
    reply = () => (step++ === 0 ? [search] : [{ text: 'Quibble.' }])
    await ask(page, 'Its name?')
    await answered(page)
    expect(sent[0]).toMatchObject({
      llm_override: { temperature: 0.3 },
      internal_search_filters: {
        source_type: ['web'],
        tags: [{ tag_key: 'team', tag_value: 'stables' }],
        time_cutoff: expect.any(String),
      },
    })
    // The chat's name is asked for with the model's own settings.
    expect(model.requests.map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ model: 'large', temperature: 0.3, reasoning_effort: 'high' }),
    )
    expect(await chips.count()).toBe(6)
    for (const left of [5, 4, 3, 2, 1, 0]) {
      await page
        .getByRole('button', { name: /^Remove / })
        .first()
        .click()
      expect(await chips.count()).toBe(left)
    }
    reply = () => [{ text: 'As ever.' }]
    await ask(page, 'And now?')
    await page.locator('.answer', { hasText: 'As ever.' }).waitFor()
    expect(Object.keys(sent[1] ?? {})).not.toContain('llm_override')
    expect(Object.keys(sent[1] ?? {})).not.toContain('internal_search_filters')
  })

  test('actions that are unticked are not offered to the model', async () => {
    const page = await open(playground.address)
    const sent = questionsOf(page)
    await page.getByRole('button', { name: 'Options' }).click()
    const boxes = page.getByRole('group', { name: 'Actions that may be used' }).getByRole('checkbox')
    await boxes.first().waitFor()
    for (const box of await boxes.all()) await box.uncheck()
    reply = () => [{ text: 'Without.' }]
    await ask(page, 'Alone?')
    await answered(page)
    expect(sent[0]?.['allowed_tool_ids']).toEqual([])
  })

  test('a slash offers commands, chosen by keyboard', async () => {
    const page = await open(playground.address)
    const field = page.getByLabel('Your question')
    await field.pressSequentially('/')
    const list = page.getByRole('listbox', { name: 'Suggestions' })
    await list.getByRole('option', { name: /^\/new/ }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'commands')
    await field.pressSequentially('res')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('button', { name: 'Deep research' }).getAttribute('aria-pressed')).toBe('true')
    expect(await field.inputValue()).toBe('')
    await field.pressSequentially('/opt')
    await list.getByRole('option', { name: /^\/options/ }).waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('group', { name: 'How questions are answered' }).waitFor()
  })

  test('an @ offers agents and documents; a title goes into the question', async () => {
    const page = await open(playground.address)
    const field = page.getByLabel('Your question')
    await field.pressSequentially('What says @zebra')
    await page.getByRole('option', { name: /Zebra handbook/ }).waitFor()
    await page.keyboard.press('Enter')
    expect(await field.inputValue()).toBe('What says “Zebra handbook” ')
    await field.pressSequentially('of names? @')
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor({ state: 'detached' })
    await field.fill('@mastra')
    await page
      .getByRole('option', { name: /Mastra/i })
      .first()
      .click()
    expect(await field.inputValue()).toBe('')
    expect(await page.getByLabel('Answered by').evaluate((element: HTMLSelectElement) => element.selectedIndex)).toBe(1)
  })

  test('a long text that is pasted becomes a file with its beginning, or goes into the question after all', async () => {
    const page = await open(playground.address)
    const field = page.getByLabel('Your question')
    const paste = (text: string): Promise<void> =>
      field.evaluate((element, pasted) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', pasted)
        element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      }, text)
    await paste(`The long beginning. ${'More of it. '.repeat(500)}`)
    const chip = page.locator('.attachments .file-chip')
    await chip.filter({ hasText: 'Pasted text.txt' }).waitFor()
    await chip.getByText('The long beginning.').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Insert as text' }).click()
    expect(await field.inputValue()).toContain('The long beginning. More of it.')
    expect(await chip.count()).toBe(0)
  })

  test('files are dropped anywhere on the conversation, and pictures show what they are', async () => {
    const page = await open(playground.address)
    const drop = (type: string): Promise<void> =>
      page.evaluate(async (name) => {
        const canvas = document.createElement('canvas')
        canvas.width = 40
        canvas.height = 40
        const picture = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
        const dataTransfer = new DataTransfer()
        if (picture !== null) dataTransfer.items.add(new File([picture], 'square.png', { type: 'image/png' }))
        document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }))
      }, type)
    await drop('dragover')
    await page.getByPlaceholder('Drop files here to ask about them').waitFor()
    await drop('drop')
    await page.locator('.attachments img.file-picture').waitFor()
    await page.getByPlaceholder('Ask your documents').waitFor()
    await shot(page, 'dropped')
    expect(await faultsOf(page)).toEqual([])
  })

  test('on a phone the options fit', async () => {
    const page = await open(playground.address, phone)
    await page.getByRole('button', { name: 'Options' }).click()
    await page.getByRole('group', { name: 'How questions are answered' }).getByText('team: stables').waitFor()
    await shot(page, 'options-phone')
    expect(await page.evaluate(() => document.documentElement.scrollWidth - screen.width)).toBeLessThanOrEqual(0)
    const top = await page.locator('.options-panel').evaluate((element) => element.getBoundingClientRect().top)
    expect(top).toBeGreaterThanOrEqual(0)
  })

  test('a browser that prefers German is spoken to in German, from the question to the steps', async () => {
    const context = await openContext({ locale: 'de-DE' })
    const page = await context.newPage()
    await page.goto(playground.address)
    reply = () => [{ text: 'Guten Tag.' }]
    await page.getByLabel('Ihre Frage').fill('Wie geht es?')
    await page.keyboard.press('Enter')
    await page.locator('.turn-actions').waitFor()
    await page.getByRole('button', { name: 'Gute Antwort' }).waitFor()
    await page.getByRole('button', { name: 'Optionen' }).click()
    await page.getByRole('group', { name: 'Wie Fragen beantwortet werden' }).getByLabel('Temperatur').waitFor()
    expect(await page.locator('.step').first().textContent()).toMatch(/Dokumente/)
    expect(await faultsOf(page)).toEqual([])
    await shot(page, 'german')
  })
})
