import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createInlay, type Inlay } from 'inlay'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../browser/browser.ts'
import { scannedPdf, type PdfImage } from '../drivers/files/scans.ts'

const data = 'node_modules/@tesseract.js-data'
const isInstalled = existsSync('node_modules/tesseract.js') && existsSync(data)

const folder = mkdtempSync(join(tmpdir(), 'inlay-scans-'))
const chrome = isInstalled ? await launchBrowser() : { reason: 'tesseract.js is not installed' }
const browser = 'browser' in chrome ? chrome.browser : undefined
let inlay: Inlay
let page: Page

beforeAll(async () => {
  if (!browser) return
  const languages = join(folder, 'models', 'tesseract')
  mkdirSync(languages, { recursive: true })
  for (const language of ['eng', 'deu'])
    copyFileSync(
      `${data}/${language}/4.0.0_best_int/${language}.traineddata.gz`,
      join(languages, `${language}.traineddata.gz`),
    )
  page = await browser.newPage({ viewport: { width: 794, height: 1123 }, deviceScaleFactor: 2.5 })
  inlay = createInlay({ dataFolder: folder, ocr: 'tesseract/eng+deu', worker: { lingerMs: 1 }, onError: () => {} })
  await inlay.start()
})
afterAll(async () => {
  await inlay?.close()
  await browser?.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** A photograph of a printed page: nothing of it is text any more. */
async function scanOf(html: string, type: 'jpeg' | 'png' = 'jpeg'): Promise<Uint8Array> {
  await page.setContent(`<body style="font: 16px/1.5 serif; margin: 80px">${html}</body>`)
  return page.screenshot(type === 'jpeg' ? { type, quality: 80 } : { type })
}

async function imageOf(html: string): Promise<PdfImage> {
  const entries = '/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode'
  return { width: 1985, height: 2808, data: await scanOf(html), entries }
}

const english = `<h1>Remote work policy</h1><p>Employees may work from home on up to three days a week. A request is sent
to the head of the department, who answers within ten working days.</p><p>The monthly allowance for the home office is
45 euros and is paid together with the salary.</p>`
const german = `<h1>Reisekosten</h1><p>Für Dienstreisen mit der Bahn wird die zweite Klasse erstattet. Übernachtungen sind
bis 110 Euro je Nacht möglich; darüber hinaus muss die Geschäftsführung vorher zustimmen.</p>
<p>Belege sind spätestens vier Wochen nach der Rückkehr einzureichen.</p>`

const searched = async (text: string): Promise<string> =>
  (await inlay.knowledge.search({ text, limit: 1 }))[0]?.content.replace(/\s+/g, ' ') ?? ''

test.skipIf(!browser)('a scan in two languages is found by the words on it, and cites its page', async () => {
  const bytes = scannedPdf([{ image: await imageOf(english) }, { image: await imageOf(german) }])
  await inlay.knowledge.ingestFile({ file: { name: 'rules.pdf', bytes }, id: 'rules' }, { waitMs: 120_000 })
  expect(await searched('allowance for the home office')).toContain(
    'monthly allowance for the home office is 45 euros and is paid together with the salary',
  )
  expect(await searched('Wer muss zustimmen, wenn die Übernachtung teurer ist?')).toContain(
    'bis 110 Euro je Nacht möglich; darüber hinaus muss die Geschäftsführung vorher zustimmen',
  )
})

test.skipIf(!browser)('a table keeps its rows, columns are read one after the other', async () => {
  const row = (...cells: string[]): string => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
  const table = `<table cellpadding=8 style="width:90%">${row('Item', 'Quantity', 'Price')}${row('Ink cartridge', '12', '14.90')}${row('Stapler', '3', '8.75')}</table>`
  const sentence = (text: string): string => `<p>${`${text} `.repeat(3)}</p>`
  const columns = `<div style="columns:2;width:640px">${sentence('The council decided in March that the bridge is repaired before winter.')}${sentence('The library opens a branch in the old station, with a cafe.')}</div>`
  const bytes = scannedPdf([{ image: await imageOf(table) }, { image: await imageOf(columns) }])
  await inlay.knowledge.ingestFile({ file: { name: 'mixed.pdf', bytes }, id: 'mixed' }, { waitMs: 120_000 })
  expect(await searched('Stapler')).toMatch(/Ink cartridge( \|)? 12( \|)? 14.90 Stapler( \|)? 3( \|)? 8.75/)
  expect(await searched('council bridge winter')).toMatch(
    /The council decided in March that the bridge is repaired before winter. The/,
  )
})

test.skipIf(!browser)('a picture of a page is found by the words on it', async () => {
  const bytes = await scanOf('<h2>Kantine</h2><p>Am Freitag gibt es Zanderfilet mit Petersilienkartoffeln.</p>', 'png')
  await inlay.knowledge.ingestFile({ file: { name: 'kantine.png', bytes }, id: 'kantine' }, { waitMs: 120_000 })
  expect(await searched('Zanderfilet')).toContain('Am Freitag gibt es Zanderfilet mit Petersilienkartoffeln.')
})
