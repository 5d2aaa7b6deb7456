import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, phone, reason, shot } from './visit.ts'

const long = 'averylongname'.repeat(6)
const answer = `## Opening hours

Water is H<sub>2</sub>O, and $x^2$ is a square[^1].

| Room | Seats |
|:-----|------:|
| North, ${long} | 12 |
| South | 30 |

> [!WARNING]
> Hot.

- [x] done
- [ ] to do

<details><summary>More</summary>

Folded text.

</details>

\`\`\`ts
const seats = 12 // of the north
\`\`\`

مرحبا بالعالم

[^1]: A note.
`

/** The side of a wide table to which it can be scrolled has another colour than the ground, the other side not. */
async function showsWhereItGoesOn(page: Page, table: Locator): Promise<void> {
  expect(await table.evaluate((region) => region.scrollWidth > region.clientWidth)).toBe(true)
  await table.scrollIntoViewIfNeeded()
  const side = async (name: 'left' | 'right'): Promise<string> => {
    const { x, y, width } = (await table.boundingBox())!
    // Above the words of the first row.
    const clip = { x: name === 'left' ? x : x + width - 2, y: y + 1, width: 2, height: 3 }
    return (await page.screenshot({ clip })).toString('base64')
  }
  const ground = await side('left')
  expect(await side('right')).not.toBe(ground)
  await table.evaluate((region) => region.scrollTo({ left: region.scrollWidth, behavior: 'instant' }))
  await expect.poll(() => side('right')).toBe(ground)
  expect(await side('left')).not.toBe(ground)
}

describe.skipIf(reason !== undefined)('Markdown of an answer', () => {
  let playground: Playground
  let model: StandIn
  let reply: () => readonly ReplyPart[] = () => []
  beforeAll(async () => {
    model = await startOpenAi(() => reply())
    playground = await startPlayground({
      INLAY_MODEL: 'writer',
      INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
      INLAY_MODEL_GROUNDING: 'tools',
    })
  })
  afterAll(async () => {
    await playground?.end()
    await model?.close()
  })

  test.each([
    ['desktop-light', {}],
    ['phone-dark', { ...phone, colorScheme: 'dark' as const }],
  ])('is shown whole and breaks no rule of accessibility: %s', async (name, options) => {
    reply = () => [{ text: answer }]
    const page = await open(playground.address, options)
    await ask(page, 'When is it open?')
    const turn = await answered(page)
    await turn.locator('.code-keyword', { hasText: 'const' }).waitFor()
    await turn.getByText('TypeScript', { exact: true }).waitFor()
    expect(await turn.locator('math msup').evaluate((element) => element.namespaceURI)).toContain('MathML')
    await turn.getByRole('button', { name: 'Copy code' }).waitFor()
    expect(
      await turn
        .locator('td.right')
        .first()
        .evaluate((cell) => getComputedStyle(cell).textAlign),
    ).toBe('right')
    const table = turn.getByRole('group', { name: 'Table' })
    if (name.startsWith('phone')) await showsWhereItGoesOn(page, table)
    const arabic = turn.locator('p', { hasText: 'مرحبا' })
    expect(await arabic.evaluate((paragraph) => getComputedStyle(paragraph).direction)).toBe('rtl')
    expect(await turn.getByText('Folded text.').isVisible()).toBe(false)
    await turn.getByText('More', { exact: true }).click()
    await turn.getByText('Folded text.').waitFor()
    await turn.getByRole('button', { name: 'Footnote 1' }).click()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('A note.')
    await shot(page, `markdown-${name}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width)).toBe(true)
    expect(await faultsOf(page)).toEqual([])
  })

  test('finished blocks stay in place while the answer goes on', async () => {
    const goOn = Promise.withResolvers<void>()
    reply = () => [
      { text: '# One\n\nFirst.\n\nSecond.\n\nThi' },
      { pause: () => goOn.promise },
      { text: 'rd.\n\nEnd.' },
    ]
    const page = await open(playground.address)
    await ask(page, 'Count.')
    await page.getByText('Thi', { exact: true }).waitFor()
    const first = await page.getByText('First.', { exact: true }).elementHandle()
    goOn.resolve()
    const turn = await answered(page)
    await turn.getByText('Third.', { exact: true }).waitFor()
    expect(await first?.evaluate((element) => element.isConnected)).toBe(true)
  })
})
