import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOpenAi } from '../stand-in/openai.ts'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startPlayground, type Playground } from './playground.ts'
import { usePlayground } from './use-playground.ts'
import { answered, ask, faultsOf, open, openContext, phone, reason, shot } from './visit.ts'

async function addText(page: Page, title: string, text: string): Promise<void> {
  await page.getByRole('link', { name: /^Documents/ }).click()
  await page.getByRole('button', { name: 'Paste a text' }).click()
  await page.getByLabel('Title').fill(title)
  await page.getByLabel('Text', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Add document' }).click()
  await page.locator('.document-row', { hasText: title }).locator('.state.indexed').waitFor()
  await page.getByRole('link', { name: 'Ask', exact: true }).click()
}

describe.skipIf(reason !== undefined)('the page over the built-in model', () => {
  const running = usePlayground()

  test('opens with the printed address, which then holds no token, and again without it', async () => {
    const page = await open(running.playground.address)
    expect(page.url()).toBe(`${running.playground.origin}/`)
    await page.reload()
    await page.getByLabel('Your question').waitFor()
  })

  test('names a monospace font of every system for code', async () => {
    const page = await open(running.playground.address)
    const family = await page.evaluate(() => {
      const [answer, code] = [document.createElement('div'), document.createElement('code')]
      answer.className = 'markdown'
      answer.append(code)
      document.body.append(answer)
      return getComputedStyle(code).fontFamily
    })
    for (const name of ['Menlo', 'Consolas', 'DejaVu Sans Mono', 'Liberation Mono', 'monospace'])
      expect(family).toContain(name)
  })

  test('without the printed address it asks for the key', async () => {
    const page = await (await openContext()).newPage()
    await page.goto(running.playground.origin)
    await page.getByLabel('API key').fill('inlay_wrong')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('The key was not accepted').waitFor()
    await page.getByLabel('API key').fill(running.playground.key)
    await page.keyboard.press('Enter')
    await page.getByLabel('Your question').waitFor()
  })

  test('names the model as what it is', async () => {
    const page = await open(running.playground.address)
    await page.getByText('quotes your documents; no AI provider configured').waitFor()
    await shot(page, 'empty-desktop-light')
    // Without another model, what is asked for first is not folded away.
    await page.getByRole('link', { name: 'Choose a model' }).click()
    await page.getByLabel('Name in lists').waitFor()
    await shot(page, 'models-built-in')
  })

  test('a source whose words stand in code shows them, and opens its document there', async () => {
    const page = await open(running.playground.address)
    await addText(
      page,
      'Zygote commands',
      `${'An introduction of many words that says nothing. '.repeat(60)}\n\n## Run it\n\n\`\`\`sh\nzygote --hatch "quokka nursery" --slowly\n\`\`\`\n`,
    )
    await page.getByRole('link', { name: 'Search', exact: true }).click()
    await page.getByLabel('Search in all documents').fill('zygote hatch quokka nursery')
    const first = page.getByRole('list', { name: 'Passages' }).getByRole('listitem').first()
    await first.getByText('quokka').first().waitFor()
    await first.getByRole('button', { name: 'Open document' }).click()
    await page.locator('.preview').getByText('quokka nursery').waitFor()
    expect(await page.getByText('is not in this document').count()).toBe(0)
  })

  test('a pasted document becomes indexed, is cited, and is gone once deleted', async () => {
    const page = await open(running.playground.address)
    await addText(
      page,
      'Canteen',
      'The canteen of the Zurich office serves lunch from 11:30 to 13:45 on the roof terrace.',
    )
    await ask(page, 'When does the canteen in Zurich serve lunch?')
    const turn = await answered(page)
    expect(await turn.locator('.answer').textContent()).toContain('11:30 to 13:45')
    await turn.locator('.source', { hasText: 'Canteen' }).first().waitFor()
    await turn.locator('.citation').first().click()
    await expect.poll(() => turn.locator('.source.shown mark.quote').textContent()).toContain('11:30 to 13:45')
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    await shot(page, 'documents-desktop-light')
    await page.getByRole('button', { name: 'Delete Canteen' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.locator('.document-row', { hasText: 'Canteen' }).waitFor({ state: 'detached' })
  })

  test('a chosen file becomes a document, and what cannot be read is refused in words', async () => {
    const page = await open(`${running.playground.address}`)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByLabel('Choose files').setInputFiles([
      {
        name: 'parking.md',
        mimeType: '',
        buffer: Buffer.from('# Parking permits\n\nPermits are given out on Mondays.'),
      },
      { name: 'phone.heic', mimeType: 'image/heic', buffer: Buffer.from('heic') },
    ])
    await page.getByText('This kind of picture is not read.').waitFor()
    await page.locator('.document-row', { hasText: 'Parking permits' }).locator('.state.indexed').waitFor()
  })

  test('markup in a document is shown and does nothing', async () => {
    const page = await open(running.playground.address)
    const attack =
      '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><svg onload="globalThis.pwned=1">'
    await addText(
      page,
      `Mascot ${attack}`,
      `The office mascot is a heron called Quibble ${attack} [here](javascript:globalThis.pwned=1).`,
    )
    await ask(page, 'What is the office mascot called?')
    const turn = await answered(page)
    expect(await turn.textContent()).toContain('Quibble')
    await turn.locator('.citation').first().click()
    for (const details of await turn.locator('summary').all()) await details.click()
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    expect(await page.locator('img, script:not([src]), iframe, a[href^="javascript"]').count()).toBe(0)
  })

  test('a follow-up goes on with the session, a new chat begins another', async () => {
    const page = await open(running.playground.address)
    const sessions: (string | null)[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/send-chat-message')) sessions.push(request.postDataJSON().chat_session_id)
    })
    await ask(page, 'What does a 200 promise?')
    await answered(page)
    await ask(page, 'And how do I delete a document?')
    await answered(page)
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    expect(await page.locator('.turn').count()).toBe(0)
    await ask(page, 'What are scopes?')
    await answered(page)
    expect(sessions).toEqual([null, expect.stringMatching(/^[0-9a-f-]{36}$/), null])
  })

  test('a long text that is pasted stays whole', async () => {
    const page = await open(running.playground.address)
    const field = page.getByLabel('Your question')
    await field.focus()
    await page.evaluate((text) => document.execCommand('insertText', false, text), 'a long text '.repeat(2_500))
    expect((await field.inputValue()).length).toBe(30_000)
  })

  test('Shift+Enter breaks the line', async () => {
    const page = await open(running.playground.address)
    const field = page.getByLabel('Your question')
    await field.fill('one')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('two')
    expect(await field.inputValue()).toBe('one\ntwo')
    expect(await page.locator('.turn').count()).toBe(0)
  })

  test('on a phone nothing lies over the answer above an open source', async () => {
    const page = await open(running.playground.address, phone)
    await ask(page, 'How are citations checked?')
    const turn = await answered(page)
    /** Place of the buttons in the whole page: it stays the same while they scroll away with the text. */
    const placeAfter = (y: number): Promise<number> =>
      page.getByRole('button', { name: 'Share' }).evaluate((button, to) => {
        scrollTo({ top: to, behavior: 'instant' })
        return button.getBoundingClientRect().top + scrollY
      }, y)
    await turn.locator('.citation').first().click()
    await page.locator('.sources.asked mark.quote').first().waitFor()
    const place = await placeAfter(0)
    expect(await placeAfter(100)).toBeCloseTo(place, 0)
    await shot(page, 'source-on-phone')
    await page.getByRole('button', { name: 'Back to the answer' }).click()
    await page.locator('.sources.asked').waitFor({ state: 'detached' })
    expect(await placeAfter(100)).toBeGreaterThan(place + 20)
  })

  test.each([
    ['a desktop in light', {}],
    ['a desktop in dark', { colorScheme: 'dark' as const }],
    ['a phone in light', phone],
    ['a phone in dark', { ...phone, colorScheme: 'dark' as const }],
  ])('on %s nothing sticks out and every rule of accessibility holds', async (name, options) => {
    const page = await open(running.playground.address, options)
    const check = async (view: string): Promise<void> => {
      await shot(page, `${view}-${name.replaceAll(' ', '-')}`)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
      expect(await faultsOf(page)).toEqual([])
    }
    await check('empty')
    await ask(page, 'How are citations checked?')
    await (await answered(page)).locator('.citation').first().click()
    await page.locator('.passage.open mark.quote').first().waitFor()
    await check('answer')
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.locator('.document-row').first().waitFor()
    await check('documents')
  })
})

describe.skipIf(reason !== undefined)('the page over a model that takes its time', () => {
  let playground: Playground
  let model: StandIn
  let reply: () => readonly ReplyPart[] | { status: number } = () => []
  beforeAll(async () => {
    model = await startOpenAi(() => reply())
    playground = await startPlayground({
      INLAY_MODEL: 'slow',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      // The first words of an unknown model would wait for a sign that it searches by itself.
      INLAY_MODEL_GROUNDING: 'tools',
    })
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
  })

  test('a visit and a reload ask no model, search nothing and have no request refused', async () => {
    await playground.printed('searchable after')
    const before = model.requests.length
    const page = await (await openContext()).newPage()
    const sent: string[] = []
    const refused: string[] = []
    const uncompressed: string[] = []
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
      const isScript = response.url().endsWith('.js') && response.headers()['content-encoding'] === undefined
      if (isScript) uncompressed.push(response.url())
    })
    for (const visit of [() => page.goto(playground.address), () => page.reload()]) {
      sent.length = 0
      await visit()
      await page.getByRole('link', { name: /^Documents \d/ }).waitFor()
      await page.waitForLoadState('networkidle')
      expect(sent.filter((line) => line.startsWith('POST'))).toEqual(expect.not.arrayContaining(['POST /api/search']))
      expect(sent.length).toBeLessThanOrEqual(6)
    }
    expect(refused).toEqual([])
    expect(uncompressed).toEqual([])
    expect(model.requests).toHaveLength(before)
  })

  test('what the model says appears while it says it, with its reasoning folded away', async () => {
    const goOn = Promise.withResolvers<void>()
    reply = () => [
      { reasoning: 'The reader wants **one** sentence.' },
      { text: 'The first half' },
      { pause: () => goOn.promise },
      { text: ' and the second.' },
    ]
    const page = await open(playground.address)
    await ask(page, 'Tell me slowly.')
    await page.locator('.answer.streaming').getByText('The first half').waitFor()
    await page.getByRole('button', { name: 'Stop answering' }).waitFor()
    expect(await page.getByText('The reader wants').isVisible()).toBe(false)
    await page.getByText('Reasoning', { exact: true }).click()
    await page.getByText('The reader wants').waitFor()
    goOn.resolve()
    expect(await (await answered(page)).locator('.answer').textContent()).toBe('The first half and the second.')
  })

  test('the stop button ends the answer and keeps what was said', async () => {
    reply = () => [{ text: 'This much was said' }, { hang: true }]
    const page = await open(playground.address)
    await ask(page, 'Tell me for ever.')
    await page.locator('.answer').getByText('This much was said').waitFor()
    await page.getByRole('button', { name: 'Stop answering' }).click()
    await page.getByText('You stopped this answer.').waitFor()
    await page.locator('.answer').getByText('This much was said').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('question')
  })

  test('an answer that the output limit cut offers to go on, with one press', async () => {
    reply = () => [{ text: 'The keys ha' }, { end: 'length' }]
    const page = await open(playground.address)
    await ask(page, 'Where do the keys hang?')
    await (await answered(page)).getByText('reached its output limit').waitFor()
    reply = () => [{ text: 'ng behind the boiler.' }]
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.locator('.turn .answer', { hasText: 'ng behind the boiler.' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Go on' }).count()).toBe(0)
    expect(JSON.stringify(model.requests.at(-1)?.body['messages'])).toContain('The keys ha')
  })

  test('a failure is told in words, and trying again works', async () => {
    reply = () => ({ status: 401 })
    const page = await open(playground.address)
    await ask(page, 'Will this work?')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/credentials|key/)
    await page.route('**/send-chat-message', (route) => route.abort(), { times: 20 })
    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await page.unroute('**/send-chat-message')
    reply = () => [{ text: 'Half' }, { cut: true }]
    await ask(page, 'Will this break?')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    reply = () => [{ text: 'It does now.' }]
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.answer', { hasText: 'It does now.' }).waitFor()
  })

  test('markup of a model is shown and does nothing', async () => {
    reply = () => [
      { text: '<img src=x onerror="globalThis.pwned=1"> ![p](https://tracker.example/p.png) ' },
      { text: '[a](javascript:globalThis.pwned=1) <scr' },
      { text: 'ipt>globalThis.pwned=1</script> end.' },
    ]
    const page = await open(playground.address)
    await ask(page, 'Be evil.')
    expect(await (await answered(page)).textContent()).toContain('onerror=')
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    expect(await page.locator('img, a[href^="javascript"]').count()).toBe(0)
  })
})
