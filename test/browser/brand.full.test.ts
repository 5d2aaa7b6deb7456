import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, phone, reason, shot } from './visit.ts'
import { useWidgetService, visit } from './widget-page.ts'

/** Red, green and blue of a colour as it is painted, 0 to 255. */
const painted = (place: Locator, property: 'color' | 'backgroundColor'): Promise<number[]> =>
  place.evaluate((element, name) => {
    const canvas = document.createElement('canvas').getContext('2d')!
    canvas.fillStyle = getComputedStyle(element)[name]
    canvas.fillRect(0, 0, 1, 1)
    return Array.from(canvas.getImageData(0, 0, 1, 1).data.slice(0, 3))
  }, property)

/** Brands of one background, which is the same in a light and a dark system. */
const fixed = {
  light: { accent: '#7a1fa2', background: '#fffdf8', text: '#222' },
  dark: { accent: '#7a1fa2', background: '#15171a', text: '#eee' },
} as const
const combinations = (['light', 'dark'] as const).flatMap((ground) =>
  (['light', 'dark'] as const).map((system) => [ground, system] as const),
)

/** Contrast of two colours as WCAG defines it, 1 to 21. */
function contrast(front: readonly number[], back: readonly number[]): number {
  const luminance = (colour: readonly number[]): number => {
    const [red = 0, green = 0, blue = 0] = colour.map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [darker = 0, lighter = 0] = [luminance(front), luminance(back)].toSorted((left, right) => left - right)
  return (lighter + 0.05) / (darker + 0.05)
}

const brand = {
  accent: 'rgb(255, 214, 0)',
  background: 'light-dark(rgb(255, 250, 240), rgb(20, 10, 30))',
  text: 'light-dark(rgb(40, 0, 60), rgb(250, 240, 255))',
  radius: '7px',
  font: 'Georgia, serif',
}
const grounds = { light: [255, 250, 240], dark: [20, 10, 30] } as const
const inks = { light: [40, 0, 60], dark: [250, 240, 255] } as const
const declarations = Object.entries(brand).map(([name, value]) => `--inlay-${name}: ${value}`)

describe.skipIf(reason !== undefined)('the five variables of a brand', () => {
  const service = useWidgetService()
  let playground: Playground
  beforeAll(async () => {
    playground = await startPlayground({ INLAY_BRAND: declarations.join('; ') })
    await playground.printed('searchable after')
  })
  afterAll(() => playground?.end())

  test.each(['light', 'dark'] as const)('colour the page, and everything stays readable (%s)', async (colorScheme) => {
    const page = await open(playground.address, { colorScheme })
    await ask(page, 'How are citations checked?')
    const turn = await answered(page)
    const body = page.locator('body')
    expect(await painted(page.locator('html'), 'backgroundColor')).toEqual(grounds[colorScheme])
    expect(await painted(body, 'color')).toEqual(inks[colorScheme])
    expect(await body.evaluate((element) => getComputedStyle(element).fontFamily)).toBe('Georgia, serif')
    expect(await page.locator('.composer').evaluate((element) => getComputedStyle(element).borderRadius)).toBe('10px')
    await page.getByLabel('Your question').fill('And then?')
    const send = page.locator('.send')
    expect(await painted(send, 'backgroundColor')).toEqual([255, 214, 0])
    expect(contrast(await painted(send, 'color'), [255, 214, 0])).toBeGreaterThan(4.5)
    // Yellow on nearly white could not be read.
    const link = await painted(turn.locator('.citation').first(), 'color')
    expect(contrast(link, grounds[colorScheme])).toBeGreaterThan(4.5)
    await shot(page, `brand-${colorScheme}`)
    expect(await faultsOf(page)).toEqual([])
  })

  test.each([
    ['light', {}],
    ['dark', phone],
  ] as const)('colour the element in the same way (%s)', async (colorScheme, options) => {
    service.reply = () => [{ text: 'See [the docs](https://docs.example/).' }]
    const { page, chat } = await visit(service.host, { colorScheme, ...options })
    await page.evaluate((set) => {
      for (const [name, value] of Object.entries(set))
        document.querySelector('inlay-chat')!.style.setProperty(`--inlay-${name}`, value)
    }, brand)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByLabel('Your question').fill('Where?')
    const send = chat.locator('.send')
    expect(await painted(send, 'backgroundColor')).toEqual([255, 214, 0])
    expect(contrast(await painted(send, 'color'), [255, 214, 0])).toBeGreaterThan(4.5)
    await send.click()
    const link = chat.locator('.markdown a')
    await link.waitFor()
    expect(await painted(chat.locator('.panel'), 'backgroundColor')).toEqual(grounds[colorScheme])
    expect(await painted(chat.locator('.panel'), 'color')).toEqual(inks[colorScheme])
    expect(contrast(await painted(link, 'color'), grounds[colorScheme])).toBeGreaterThan(4.5)
    const font = chat.locator('.panel').evaluate((element) => getComputedStyle(element).fontFamily)
    expect(await font).toBe('Georgia, serif')
    const corners = chat.locator('textarea').evaluate((element) => getComputedStyle(element).borderRadius)
    expect(await corners).toBe('5px')
    await shot(page, `brand-widget-${colorScheme}`)
    expect(await faultsOf(page)).toEqual([])
  })

  describe.each(['light', 'dark'] as const)('with one %s background', (ground) => {
    let branded: Playground
    beforeAll(async () => {
      const set = Object.entries(fixed[ground]).map(([name, value]) => `--inlay-${name}: ${value}`)
      branded = await startPlayground({ INLAY_BRAND: set.join('; ') })
      await branded.printed('searchable after')
    })
    afterAll(() => branded?.end())

    test.each(['light', 'dark'] as const)('leave the page readable in a %s system', async (colorScheme) => {
      const page = await open(branded.address, { colorScheme })
      await ask(page, 'How are citations checked?')
      const turn = await answered(page)
      const back = await painted(page.locator('html'), 'backgroundColor')
      expect(contrast(await painted(turn.locator('.citation').first(), 'color'), back)).toBeGreaterThan(4.5)
      const composer = page.locator('.composer')
      expect(contrast(await painted(composer, 'color'), await painted(composer, 'backgroundColor'))).toBeGreaterThan(
        4.5,
      )
      // Tones that no brand sets.
      await page.evaluate(() => {
        const tones = ['danger', 'wait', 'code-string', 'code-number', 'code-keyword', 'code-name']
        for (const name of tones) {
          const tone = document.body.appendChild(document.createElement('i'))
          tone.className = 'tone'
          tone.style.color = `var(--${name})`
        }
      })
      const tones = await page.locator('.tone').all()
      expect(tones).toHaveLength(6)
      for (const tone of tones) expect(contrast(await painted(tone, 'color'), back)).toBeGreaterThan(4.5)
      await shot(page, `brand-${ground}-in-${colorScheme}`)
      expect(await faultsOf(page)).toEqual([])
      // Paper is white.
      await page.emulateMedia({ media: 'print' })
      const onPaper = await painted(page.locator('.tone').first(), 'color')
      expect(contrast(onPaper, [255, 255, 255])).toBeGreaterThan(4.5)
      await page.emulateMedia({ media: 'screen' })
      // A system that changes later changes nothing.
      await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' })
      expect(contrast(await painted(turn.locator('.citation').first(), 'color'), back)).toBeGreaterThan(4.5)
    })
  })

  test.each(combinations)('leave the element readable on one %s background in a %s system', async (ground, system) => {
    service.reply = () => [{ text: 'See [the docs](https://docs.example/).' }]
    const { page, chat } = await visit(service.host, { colorScheme: system })
    await page.evaluate((set) => {
      for (const [name, value] of Object.entries(set))
        document.querySelector('inlay-chat')!.style.setProperty(`--inlay-${name}`, value)
    }, fixed[ground])
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByLabel('Your question').fill('Where?')
    await chat.locator('.send').click()
    const link = chat.locator('.markdown a')
    await link.waitFor()
    const back = await painted(chat.locator('.panel'), 'backgroundColor')
    expect(contrast(await painted(link, 'color'), back)).toBeGreaterThan(4.5)
    await link.evaluate((element) => (element.style.color = 'var(--danger)'))
    expect(contrast(await painted(link, 'color'), back)).toBeGreaterThan(4.5)
    await link.evaluate((element) => (element.style.color = ''))
    await shot(page, `brand-widget-${ground}-in-${system}`)
    expect(await faultsOf(page)).toEqual([])
  })

  test.each([
    ['dark', { text: '#222' }],
    ['light', { text: '#eee' }],
    ['dark', { text: '#222', background: 'transparent' }],
    ['dark', { text: 'rgb(34 34 34 / 90%)', background: 'rgb(255 255 255 / 20%)' }],
    // The page behind the element is white, whatever the system prefers.
    ['dark', { background: 'transparent' }],
    ['light', { background: 'transparent' }],
  ] as const)('leave the element readable in a %s system without a background of its own: %o', async (system, set) => {
    service.reply = () => [{ text: 'See [the docs](https://docs.example/).' }]
    const { page, chat } = await visit(service.host, { colorScheme: system })
    await page.evaluate((colours) => {
      document.documentElement.style.colorScheme = 'light'
      const element = document.querySelector('inlay-chat')!
      for (const [name, value] of Object.entries(colours)) element.style.setProperty(`--inlay-${name}`, value)
    }, set)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    await chat.getByLabel('Your question').fill('Where?')
    await chat.locator('.send').click()
    const link = chat.locator('.markdown a')
    await link.waitFor()
    const panel = chat.locator('.panel')
    const back = 'background' in set ? [255, 255, 255] : await painted(panel, 'backgroundColor')
    expect(contrast(await painted(panel, 'color'), back)).toBeGreaterThan(4.5)
    expect(contrast(await painted(link, 'color'), back)).toBeGreaterThan(4.5)
  })

  test.each([
    ['dark', 'oklch(0.97 0.02 90)'],
    ['light', 'oklch(0.2 0.04 260)'],
    ['dark', 'lab(96 -2 6)'],
    ['light', 'color(display-p3 0.08 0.1 0.16)'],
  ] as const)('leave the element readable in a %s system on a page of %s', async (system, back) => {
    service.reply = () => [{ text: 'See [the docs](https://docs.example/).' }]
    const { page, chat } = await visit(service.host, { colorScheme: system })
    await page.evaluate((colour) => {
      document.body.style.background = colour
      document.querySelector('inlay-chat')!.style.setProperty('--inlay-background', 'transparent')
    }, back)
    await chat.getByRole('button', { name: 'Open the chat' }).click()
    const ground = await painted(page.locator('body'), 'backgroundColor')
    expect(contrast(await painted(chat.locator('.panel'), 'color'), ground)).toBeGreaterThan(4.5)
  })

  test.each(combinations)(
    'leave the element readable on a %s background in a %s system without relative colours',
    async (ground, system) => {
      const { page, chat } = await visit(service.host, { colorScheme: system })
      await page.evaluate((set) => {
        const element = document.querySelector('inlay-chat')!
        const sheet = element.shadowRoot!.adoptedStyleSheets[0]!
        sheet.deleteRule([...sheet.cssRules].findIndex((rule) => rule instanceof CSSSupportsRule))
        for (const [name, value] of Object.entries(set)) element.style.setProperty(`--inlay-${name}`, value)
      }, fixed[ground])
      await chat.getByRole('button', { name: 'Open the chat' }).click()
      const back = await painted(chat.locator('.panel'), 'backgroundColor')
      await chat.locator('h2').evaluate((element) => (element.style.color = 'var(--danger)'))
      expect(contrast(await painted(chat.locator('h2'), 'color'), back)).toBeGreaterThan(4.5)
    },
  )

  describe('with a dark text alone', () => {
    let branded: Playground
    beforeAll(async () => {
      branded = await startPlayground({ INLAY_BRAND: '--inlay-text: #222' })
    })
    afterAll(() => branded?.end())

    test.each(['light', 'dark'] as const)('leave the page readable in a %s system', async (colorScheme) => {
      const page = await open(branded.address, { colorScheme })
      const back = await painted(page.locator('html'), 'backgroundColor')
      expect(contrast(await painted(page.locator('body'), 'color'), back)).toBeGreaterThan(4.5)
      const composer = page.locator('.composer')
      expect(contrast(await painted(composer, 'color'), await painted(composer, 'backgroundColor'))).toBeGreaterThan(
        4.5,
      )
    })
  })

  test('of two values follow a system that changes while the page is open', async () => {
    const page = await open(playground.address, { colorScheme: 'light' })
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => painted(page.locator('html'), 'backgroundColor')).toEqual(grounds.dark)
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(() => painted(page.locator('html'), 'backgroundColor')).toEqual(grounds.light)
  })

  test.each(['#ffffff', '#000000', '#0000ff', '#00ff00', '#777777', '#ff00ff', '#7a1fa2'])(
    'leave what stands on the accent readable: %s',
    async (accent) => {
      const { page, chat } = await visit(service.host)
      await page.evaluate(
        (value) => document.querySelector('inlay-chat')!.style.setProperty('--inlay-accent', value),
        accent,
      )
      const launcher = chat.getByRole('button', { name: 'Open the chat' })
      const [ground, ink] = [await painted(launcher, 'backgroundColor'), await painted(launcher, 'color')]
      expect(contrast(ground, ink)).toBeGreaterThan(4.5)
    },
  )
})
