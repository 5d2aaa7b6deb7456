import { createClient, type Client } from '@inlay/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, openContext, phone, reason, shot } from './visit.ts'

const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 68>>stream
BT /F1 18 Tf 20 100 Td (The greenhouse opens at seven.) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF`

describe.skipIf(reason !== undefined)('documents in the page', () => {
  let playground: Playground
  let client: Client
  beforeAll(async () => {
    playground = await startPlayground()
    client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    await playground.printed('searchable after')
  })
  afterAll(() => playground?.end())

  test("the project's own documentation goes by one click, and does not come back", async () => {
    const page = await open(`${playground.address}`)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByText('The documentation of Inlay itself').waitFor()
    await shot(page, 'own-documentation')
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('There are no documents yet.').waitFor()
    expect((await client.documents()).documents).toEqual([])
    expect((await client.documentSets()).map(({ name }) => name)).toEqual([])
  })

  test('files of all kinds are taken, empty ones refused, and two of one name asked about', async () => {
    const page = await open(`${playground.address}`)
    await page.getByRole('link', { name: /^Documents/ }).click()
    const picker = page.getByLabel('Choose files')
    const readme = (text: string): { name: string; mimeType: string; buffer: Buffer } => ({
      name: 'README.md',
      mimeType: '',
      buffer: Buffer.from(text),
    })
    await picker.setInputFiles([
      { name: 'greenhouse.pdf', mimeType: 'application/pdf', buffer: Buffer.from(pdf) },
      readme('# Parking\n\nBicycles are parked behind the greenhouse.'),
      { name: 'empty.md', mimeType: '', buffer: Buffer.from('') },
      { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') },
      { name: 'letter.doc', mimeType: '', buffer: Buffer.from('old') },
    ])
    await page.getByText('2 files were added.').waitFor()
    await page.getByText('empty.md: The file is empty.').waitFor()
    // The service says whether it reads pictures; the page, what becomes of an old format.
    await page.getByText('photo.png: The file is an image: its text is read when OCR is on (INLAY_OCR).').waitFor()
    await page.getByText('letter.doc: This kind of file is not read. Save it as .docx').waitFor()
    await picker.setInputFiles([readme('# Canteen\n\nLunch is served from noon.')])
    await page.getByText('README.md is here already.').waitFor()
    await shot(page, 'file-of-a-taken-name')
    await page.getByRole('button', { name: 'Keep both' }).click()
    const listed = (title: string): Promise<void> =>
      page.locator('.document-row', { hasText: title }).locator('.state.indexed').waitFor()
    await listed('Canteen')
    await listed('Parking')
    await listed('greenhouse.pdf')
    await picker.setInputFiles([readme('# Garage\n\nCars are parked in the garage.')])
    await page.getByRole('button', { name: 'Replace it' }).click()
    await listed('Garage')
    await page.locator('.document-row', { hasText: 'Parking' }).waitFor({ state: 'detached' })
    expect(await page.locator('.document-row').count()).toBe(3)
    // Refused files stay listed until they are cleared.
    const refused = page.getByRole('list', { name: 'Files that were not added' })
    expect(await refused.locator('li').count()).toBe(3)
    await page.reload()
    await refused.waitFor()
    expect(await refused.locator('li').allTextContents()).toContain('empty.md: The file is empty.')
    await page.getByRole('button', { name: 'Clear the list' }).click()
    expect(await refused.count()).toBe(0)
    // Two files of one name at once, from two folders.
    const notes = (text: string) => ({ ...readme(text), name: 'NOTES.md' })
    await picker.setInputFiles([notes('# Herons\n\nThey wade.'), notes('# Otters\n\nThey dive.')])
    await page.getByText('NOTES.md is here already.').waitFor()
    await page.getByRole('button', { name: 'Keep both' }).click()
    await listed('Herons')
    await listed('Otters')
  })

  test('files are dropped anywhere on the documents, whose list begins high on the page', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.locator('.document-row').first().waitFor()
    const height = await page.locator('.add-documents').evaluate((place) => place.getBoundingClientRect().height)
    expect(height).toBeLessThan(100)
    const drag = (type: string): Promise<void> =>
      page
        .locator('.document-row')
        .last()
        .evaluate((row, name) => {
          const dataTransfer = new DataTransfer()
          dataTransfer.items.add(new File(['# Puffins\n\nThey nest in burrows.'], 'puffins.md'))
          row.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }))
        }, type)
    await drag('dragover')
    await page.locator('.drop.over').waitFor()
    await shot(page, 'documents-drop')
    await drag('drop')
    await page.locator('.document-row', { hasText: 'Puffins' }).locator('.state.indexed').waitFor()
    expect(await page.locator('.drop.over').count()).toBe(0)
    expect(await faultsOf(page)).toEqual([])
  })

  test('a long path widens neither the page nor its cards', async () => {
    const path = `handbook/${'a-very-long-folder-name-without-any-space/'.repeat(6)}opening-hours.md`
    await client.ingest({
      id: path,
      semantic_identifier: path,
      sections: [{ text: 'The aviary opens at a quarter past eleven.', link: path }],
      metadata: {},
    })
    await client.ingest({
      id: 'unbroken',
      semantic_identifier: 'Aviary' + 'withoutanyspaceorhyphen'.repeat(12),
      sections: [{ text: 'The aviary opens for school classes on request.', link: path }],
      metadata: {},
    })
    for (const [name, options] of [
      ['phone-light', phone],
      ['desktop-dark', { colorScheme: 'dark' as const }],
    ] as const) {
      const page = await open(playground.address, options)
      await page.getByRole('link', { name: /^Documents/ }).click()
      await page
        .locator('.document-row', { hasText: 'aviary' })
        .or(page.locator('.document-row').first())
        .first()
        .waitFor()
      await page.getByRole('link', { name: 'Ask', exact: true }).click()
      await ask(page, 'When does the aviary open?')
      const turn = await answered(page)
      await turn.locator('.source').first().waitFor()
      for (const summary of await turn.locator('summary').all()) await summary.click()
      await turn.locator('.step-documents').first().waitFor()
      await shot(page, `long-path-${name}`)
      const widths = await page.evaluate(() => ({
        page: document.documentElement.scrollWidth,
        window: innerWidth,
        cards: [...document.querySelectorAll('.source')].map((card) => card.getBoundingClientRect().right),
      }))
      expect(widths.page).toBeLessThanOrEqual(widths.window)
      for (const right of widths.cards) expect(right).toBeLessThanOrEqual(widths.window)
      expect(await faultsOf(page)).toEqual([])
    }
  })

  test('what is found and what is cited add up', async () => {
    const page = await open(playground.address)
    await ask(page, 'Where are cars parked?')
    const turn = await answered(page)
    const title = await turn.getByText(/Searched your documents, \d+ found/).textContent()
    const total = Number(/(\d+) found/.exec(title ?? '')![1])
    const also = turn.locator('.also-found summary .count')
    const alsoFound = (await also.count()) === 0 ? 0 : Number(await also.textContent())
    const cited = await turn.locator('.sources > .source-list > .source').count()
    expect(cited + alsoFound).toBe(total)
  })

  test('another tab sees new documents and chats at once', async () => {
    const context = await openContext({ viewport: { width: 1280, height: 860 } })
    const [left, right] = [await context.newPage(), await context.newPage()]
    await left.goto(playground.address)
    await left.getByLabel('Your question').waitFor()
    await ask(left, 'When does the aviary open?')
    await answered(left)
    await right.goto(left.url())
    await answered(right)
    await ask(left, 'And where are cars parked?')
    await answered(left)
    await expect.poll(() => right.locator('.turn').count()).toBe(2)
    expect(await (await answered(right)).locator('.question').textContent()).toBe('And where are cars parked?')
  })

  test('after the server was away the page goes on by itself, and never asks for a key it has', async () => {
    const page = await open(playground.address)
    await page.route(/\/(api|page)\//, (route) => route.abort('connectionrefused'))
    await page.reload()
    await page.getByText('The server cannot be reached').waitFor()
    expect(await page.getByLabel('API key').count()).toBe(0)
    await page.unroute(/\/(api|page)\//)
    await page.getByLabel('Your question').waitFor()
  })

  describe('of two thousand documents', () => {
    const many = 2000
    let total: number
    beforeAll(async () => {
      const documents = Array.from({ length: many }, (_, number) => ({
        id: `many/${String(number).padStart(4, '0')}`,
        semantic_identifier: `Report ${number}`,
        sections: [
          { text: `Figures of the year ${number}. ${number === 177 ? 'And many more words. '.repeat(90) : ''}` },
        ],
        metadata: { shelf: number % 2 === 0 ? 'even' : 'odd' },
      }))
      for await (const line of client.ingestBatch(documents)) expect(line.status).toBe(200)
      await client.ingest(
        { id: 'last', semantic_identifier: 'aaa Newest', sections: [{ text: 'New.' }], metadata: {} },
        { waitSeconds: 120 },
      )
      total = Object.values((await client.figures()).documents).reduce((sum, count) => sum + count, 0)
    }, 180_000)

    test('few rows are drawn, all are counted, sorted and found', async () => {
      const page = await open(playground.address)
      await page.getByRole('link', { name: /^Documents/ }).click()
      const table = page.getByRole('grid', { name: 'Documents' })
      const rows = page.locator('.document-row')
      await expect.poll(() => rows.first().textContent()).toContain('aaa Newest')
      await expect
        .poll(() => page.locator('.states button.indexed .count').textContent(), { timeout: 60_000 })
        .toBe(total.toLocaleString('en'))
      expect(await table.getAttribute('aria-rowcount')).toBe(String(total + 1))
      expect(await rows.count()).toBeLessThan(60)
      await shot(page, 'many-documents')
      // Scrolled to the end again and again, until the oldest of them is there.
      await expect
        .poll(
          async () => {
            await page.evaluate(() => scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' }))
            return rows.last().getAttribute('aria-rowindex')
          },
          { timeout: 30_000 },
        )
        .toBe(String(total + 1))
      expect(await rows.count()).toBeLessThan(60)
      await page.getByLabel('Search documents by name').fill('Report 1')
      const header = (name: string) => page.getByRole('columnheader', { name })
      await header('Name').getByRole('button').click()
      await expect.poll(() => rows.nth(1).textContent()).toContain('Report 10many')
      expect(await header('Name').getAttribute('aria-sort')).toBe('ascending')
      await header('Name').getByRole('button').click()
      await expect.poll(() => rows.first().textContent()).toContain('Report 1999')
      await header('Size').getByRole('button').click()
      await expect.poll(() => rows.first().textContent()).toContain('Report 177')
      await page.getByLabel('Order').selectOption('Path, A to Z')
      await page.getByLabel('Search documents by name').fill('report 104')
      await expect.poll(() => rows.count()).toBe(11)
      expect(await rows.first().textContent()).toContain('many/0104')
      await page.getByLabel('Tag', { exact: true }).fill('shelf: odd')
      await expect.poll(() => rows.count()).toBe(5)
      await page.getByLabel('Search documents by name').fill('no such name')
      await page.getByText('No document matches.').waitFor()
      expect(await faultsOf(page)).toEqual([])
    })

    test('rows are walked, selected and opened by keyboard, on a phone too', async () => {
      const page = await open(playground.address)
      await page.getByRole('link', { name: /^Documents/ }).click()
      await page.getByLabel('Search documents by name').fill('Report 15')
      const rows = page.locator('.document-row')
      await expect.poll(() => rows.first().textContent()).toContain('Report 1599')
      await rows.first().focus()
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-rowindex'))
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Space')
      await page.keyboard.press('Shift+ArrowDown')
      await page.keyboard.press('Shift+ArrowDown')
      expect(await focused()).toBe('5')
      await page.getByText('3 selected', { exact: true }).waitFor()
      await page.keyboard.press('End')
      await expect.poll(async () => Number(await focused())).toBeGreaterThan(90)
      expect(
        await page.evaluate(() => {
          const { top, bottom } = document.activeElement!.getBoundingClientRect()
          return top >= 0 && bottom <= innerHeight
        }),
      ).toBe(true)
      await page.keyboard.press('Home')
      // The question has the focus before the browser draws it, so that the next key reaches it however busy the page is.
      const focusedText = await rows.first().evaluate(async (row) => {
        row.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true }))
        await Promise.resolve()
        return document.activeElement?.textContent
      })
      expect(focusedText).toBe('Delete')
      await page.getByRole('group', { name: 'Delete Report 1599?' }).waitFor()
      await page.keyboard.press('Escape')
      expect(await focused()).toBe('2')
      await page.keyboard.press('Enter')
      await page.locator('.preview').getByText('Figures of the year 1599.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByLabel('Search documents by name').fill('Report 25')
      await expect.poll(() => rows.count()).toBe(11)
      await rows.nth(3).focus()
      const [title, next] = await rows
        .locator('.document-title')
        .allTextContents()
        .then((all) => all.slice(3, 5))
      await page.keyboard.press('Delete')
      await page.getByRole('group', { name: `Delete ${title}?` }).waitFor()
      await page.keyboard.press('Enter')
      await expect.poll(() => rows.count()).toBe(10)
      total--
      // The row that comes in its place has the focus.
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain(next)
      const small = await open(playground.address, { ...phone, colorScheme: 'dark', locale: 'de-DE' })
      await small.getByRole('link', { name: /^Dokumente/ }).click()
      await small.locator('.document-row').first().waitFor()
      await small.getByRole('checkbox', { name: 'aaa Newest auswählen' }).check()
      await small.getByText('1 ausgewählt', { exact: true }).waitFor()
      await shot(small, 'many-documents-phone')
      expect(await small.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
      expect(await faultsOf(small)).toEqual([])
    })

    test('tags of a document are changed in its row, and what is refused is said', async () => {
      const page = await open(playground.address)
      await page.getByRole('link', { name: /^Documents/ }).click()
      await page.getByLabel('Search documents by name').fill('Report 1042')
      const row = page.locator('.document-row', { hasText: 'Report 1042' })
      await row.getByRole('button', { name: 'Tags, sets and access of Report 1042' }).click()
      const tags = page.getByRole('form', { name: 'Tags' })
      const lines = tags.getByLabel('Tags, one a line')
      expect(await lines.inputValue()).toContain('shelf: even')
      await lines.fill('team')
      await tags.getByRole('button', { name: 'Save tags' }).click()
      await tags.getByText('Write each tag as name: value.').waitFor()
      await lines.fill('team: Harbour')
      await page.route(/\/service-api\/ingestion\/many/, (route) =>
        route.fulfill({ status: 409, json: { error_code: 'CONFLICT', detail: 'The document was changed meanwhile.' } }),
      )
      await tags.getByRole('button', { name: 'Save tags' }).click()
      await tags.getByText('The document was changed meanwhile.').waitFor()
      await page.unroute(/\/service-api\/ingestion\/many/)
      await tags.getByRole('button', { name: 'Save tags' }).click()
      await tags.getByText('Saved. The document is indexed again').waitFor()
      await row.getByRole('button', { name: 'Only team=Harbour' }).waitFor()
      const access = page.getByRole('form', { name: 'Access and sets of “Default”' })
      await access.getByLabel('Only these find its documents').check()
      await access.getByLabel('Groups, one a line').fill('harbour')
      await shot(page, 'document-details')
      expect(await faultsOf(page)).toEqual([])
      await access.getByLabel('In a new document set, named').fill('Harbour')
      await access.getByRole('button', { name: 'Save access and sets' }).click()
      await access.getByText('Saved.').waitFor()
      expect(await access.getByRole('checkbox', { name: 'Harbour' }).isChecked()).toBe(true)
      expect(await client.documentSets()).toMatchObject([
        { name: 'Harbour', is_public: false, cc_pair_summaries: [{ id: 1 }] },
      ])
      const pairs = await fetch(`${playground.origin}/api/manage/cc-pair`, {
        headers: { authorization: `Bearer ${playground.key}` },
      })
      expect(((await pairs.json()) as object[])[0]).toMatchObject({ access_type: 'private', groups: ['harbour'] })
      await access.getByLabel('Everybody with a key finds its documents').check()
      await access.getByRole('checkbox', { name: 'Harbour' }).uncheck()
      await access.getByRole('button', { name: 'Save access and sets' }).click()
      await expect.poll(async () => (await client.documentSets())[0]?.cc_pair_summaries).toEqual([])
      // The search is still there after another view.
      await page.getByRole('link', { name: 'Ask', exact: true }).click()
      await page.getByRole('link', { name: /^Documents/ }).click()
      expect(await page.getByLabel('Search documents by name').inputValue()).toBe('Report 1042')
      await row.getByRole('button', { name: 'Tags, sets and access of Report 1042' }).click()
      await page.keyboard.press('Escape')
      await tags.waitFor({ state: 'detached' })
    })

    test('all that are found are deleted at once, and those that stay are named with the reason', async () => {
      const page = await open(playground.address)
      await page.getByRole('link', { name: /^Documents/ }).click()
      await page.getByLabel('Search documents by name').fill('Report 1')
      await page.locator('.document-row', { hasText: 'aaa Newest' }).waitFor({ state: 'detached' })
      await page.getByLabel('Select those shown').check()
      await page.getByRole('button', { name: 'Select all found' }).click()
      await page.getByText('1,111 selected').waitFor()
      await page.route(/\/service-api\/ingestion\/many%2F0111$/, (route) =>
        route.fulfill({
          status: 403,
          json: { error_code: 'INSUFFICIENT_PERMISSIONS', detail: 'It belongs to others.' },
        }),
      )
      await page.getByRole('button', { name: 'Delete 1,111 documents' }).click()
      const question = page.getByRole('group', { name: 'Delete 1,111 documents? This cannot be undone.' })
      await question.getByRole('button', { name: 'Keep' }).click()
      await page.getByRole('button', { name: 'Delete 1,111 documents' }).click()
      await question.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText(/^Deleted [\d,]+ of 1,111/).waitFor()
      await shot(page, 'deleting-many')
      await page.getByText('1,110 documents were deleted.').waitFor({ timeout: 90_000 })
      await page.getByText('1 was not: It belongs to others.').waitFor()
      await page.getByText('1 selected', { exact: true }).waitFor()
      await expect.poll(() => page.locator('.document-row').count()).toBe(1)
      await page.getByRole('button', { name: 'Close' }).click()
      // Another search clears what is selected: nothing is deleted that is not seen.
      await page.getByLabel('Search documents by name').fill('Report 11')
      await page.getByText('1 selected', { exact: true }).waitFor({ state: 'detached' })
      expect((await client.figures()).documents.indexed).toBe(total - 1110)
      await shot(page, 'deleted-many')
    }, 150_000)
  })

  test('rows stay while the server is away, which is said until it is back', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.locator('.document-row').first().waitFor()
    const before = await page.locator('.document-row').count()
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    await page.getByRole('columnheader', { name: 'Size' }).getByRole('button').click()
    await page.getByText('The server cannot be reached.').waitFor()
    expect(await page.locator('.document-row').count()).toBe(before)
    await page.unroute('**/api/**')
    await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' })
    // In the order that was wanted meanwhile.
    const [largest] = (await client.documents({ order: 'largest', limit: 1 })).documents
    await expect.poll(() => page.locator('.document-row').first().textContent()).toContain(largest!.semantic_id)
  })

  test('how the service is, with figures that move and how to turn on what is not measured', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByRole('link', { name: 'Health of the service' }).click()
    const parts = page.getByRole('list', { name: 'Parts of the service' })
    const tabs = page.getByRole('navigation', { name: 'Sections' })
    expect(await tabs.locator('[aria-current]').textContent()).toBe('Health')
    expect(await tabs.getByRole('link', { name: 'Usage' }).getAttribute('href')).toBe('#admin/usage')
    await parts.getByText('None: searches compare words alone').waitFor()
    // Rows of deleted documents go in the background.
    await expect
      .poll(
        async () => {
          const { index } = await client.figures()
          const shown = await page.getByRole('region', { name: 'Index' }).textContent()
          return shown?.includes(`Passages${index.rows.toLocaleString('en')}Not`)
        },
        { timeout: 30_000 },
      )
      .toBe(true)
    const { documents } = await client.figures()
    await page
      .getByRole('region', { name: /documents$/ })
      .getByText(documents.indexed.toLocaleString('en'))
      .first()
      .waitFor()
    await client.search({ query: 'ferries' })
    await page.getByRole('row', { name: /^Search of the documents/ }).waitFor({ timeout: 15_000 })
    await page.getByRole('img', { name: /^Passages, last \d+s: / }).waitFor({ timeout: 15_000 })
    await shot(page, 'health')
    expect(await faultsOf(page)).toEqual([])
    const look = (isHidden: boolean): Promise<void> =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    await look(true)
    // An earlier request may still be running.
    await page.waitForLoadState('networkidle')
    await expect(page.waitForRequest('**/ingestion-figures', { timeout: 6_000 })).rejects.toThrow('Timeout')
    const nextRequest = page.waitForRequest('**/ingestion-figures', { timeout: 2_000 })
    await look(false)
    await nextRequest
    const phonePage = await open(playground.address, { ...phone, colorScheme: 'dark' })
    await phonePage.route('**/metrics', (route) =>
      route.fulfill({ status: 501, json: { error_code: 'NOT_IMPLEMENTED', detail: 'Metrics are disabled.' } }),
    )
    await phonePage.route('**/health/ready', (route) =>
      route.fulfill({
        status: 503,
        json: { error_code: 'SERVICE_UNAVAILABLE', detail: 'The database does not respond.' },
      }),
    )
    await phonePage.goto(`${playground.origin}/#health`)
    await phonePage.getByText('The database does not respond.').waitFor()
    await phonePage.getByText('INLAY_TELEMETRY=on').waitFor()
    expect(await phonePage.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    expect(await faultsOf(phonePage)).toEqual([])
  })

  test.each([
    ['desktop-light', {}],
    ['phone-dark', { ...phone, colorScheme: 'dark' as const }],
  ])('passages are found in the texts, each with the words it has: %s', async (name, options) => {
    const page = await open(playground.address, options)
    await page.getByRole('link', { name: /^Documents/ }).click()
    await page.getByRole('button', { name: 'Paste a text' }).click()
    await page.getByLabel('Title').fill('Boats')
    await page.getByLabel('Text', { exact: true }).fill('Every kayak is stored behind the boathouse in winter.')
    await page.getByRole('button', { name: 'Add document' }).click()
    await page.locator('.document-row', { hasText: 'Boats' }).locator('.state.indexed').waitFor()
    await page.getByRole('link', { name: 'search in all documents' }).click()
    await page.getByLabel('Search in all documents').fill('where are kayaks stored')
    const first = page.getByRole('list', { name: 'Passages' }).getByRole('listitem').first()
    await first.getByText('Boats').waitFor()
    await first.getByText('Has 2 of 4 words: kayaks, stored').waitFor()
    expect(await first.locator('mark').allTextContents()).toEqual(['kayak', 'stored'])
    await first.getByRole('button', { name: 'Show passage' }).click()
    // No embedding model is configured, so that the words alone make the score.
    const why = first.getByLabel('Why this rank')
    expect(await why.locator('dt').allTextContents()).toEqual(['Words', 'Score'])
    expect(await why.locator('dd').first().textContent()).toContain('counts 100%')
    await shot(page, `search-${name}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await first.getByRole('button', { name: 'Open document' }).click()
    await page.locator('.preview').getByText('Every kayak is stored').waitFor()
  })

  test('a document says when a quote is not in it, and reads again what could not be read', async () => {
    const sections = Array.from({ length: 60 }, (_, at) => ({
      text: `${`Item ${at} of the inventory lists lamps, ropes and oars. `.repeat(30)}${at === 50 ? 'The lighthouse keeper signs it.' : ''}`,
    }))
    const document = { id: 'inventory', semantic_identifier: 'Inventory', sections, metadata: {} }
    await client.ingest(document, { waitSeconds: 60 })
    const page = await open(playground.address)
    await page.getByRole('link', { name: 'Search', exact: true }).click()
    await page.getByLabel('Search in all documents').fill('lighthouse keeper signs')
    const first = page.getByRole('list', { name: 'Passages' }).getByRole('listitem').first()
    await first.locator('.source-name').waitFor()
    await first.getByRole('button', { name: 'Open document' }).click()
    const preview = page.locator('.preview')
    await preview.getByText('The lighthouse keeper signs it.').waitFor()
    expect(await preview.getByText('The sentence is not in this document').count()).toBe(0)
    const refused: string[] = []
    await page.route('**/document/chunks*', (route) => {
      refused.push(new URL(route.request().url()).searchParams.get('first') ?? '')
      return route.abort('failed')
    })
    // Without scrolling to it first: once it is seen, it reads by itself and gives way to the failure.
    await preview.getByRole('button', { name: 'Show what comes before' }).dispatchEvent('click')
    await preview.getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/document/chunks*')
    const again = page.waitForRequest('**/document/chunks*')
    await preview.getByRole('button', { name: 'Try again' }).click()
    expect(new URL((await again).url()).searchParams.get('first')).toBe(refused[0])
    await preview
      .getByText(/Item 30 of the inventory/)
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    await page.route('**/document/chunks*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replaceAll(/lighthouse|Item/g, 'harbour') })
    })
    await first.getByRole('button', { name: 'Open document' }).click()
    await preview.getByText('The sentence is not in this document word for word.').waitFor()
    // More of it is read while it is seen.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('a row says path, size and time, opens its text, and leads to others of its tag and set', async () => {
    const path = `page/${'a-long-folder-name/'.repeat(12)}leaflet.md`
    const add = (id: string, metadata: Record<string, string>) =>
      client.ingest(
        { id, semantic_identifier: `Leaflet ${id.length}`, sections: [{ text: 'Ferries leave at nine.' }], metadata },
        { waitSeconds: 30 },
      )
    await add(path, { team: 'harbour' })
    await add('short', { team: 'airport' })
    for (const options of [{}, phone]) {
      const page = await open(playground.address, options)
      await page.getByRole('link', { name: /^Documents/ }).click()
      const row = page.locator('.document-row', { hasText: path })
      await row.getByText(/^\d+(\.\d+)? (byte|kB)$/).waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
      expect(await faultsOf(page)).toEqual([])
      // Cards of a phone have no room for tags.
      if (options === phone) await page.getByLabel('Tag', { exact: true }).fill('team: harbour')
      else await row.getByRole('button', { name: 'Only team=harbour' }).click()
      await expect.poll(() => page.locator('.document-row').count()).toBe(1)
      await row.getByRole('button', { name: /^Leaflet/ }).click()
      await page.locator('.preview').getByText('Ferries leave at nine.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'No longer only team=harbour' }).click()
      await expect.poll(() => page.locator('.document-row').count()).toBeGreaterThan(1)
    }
  })
})
