/**
 * Measures the web page in a browser: requests and bytes of a visit, when the question field can be used, also at
 * 400 kbit/s, and the main thread while a long answer of Markdown comes in.
 *
 *   npm run bench:page [-- --characters 80000] [--quick]
 *
 * --quick streams 8,000 characters. Skipped where there is no Chromium.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { launchBrowser } from '../browser/browser.ts'
import { startPlayground, type Playground } from '../browser/playground.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import type { ReplyPart } from '../stand-in/model-server.ts'
import { leaveOut, note } from './figures.ts'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, characters: { type: 'string' } },
})
const characters = Number(options.characters ?? (options.quick ? 8_000 : 80_000))
if (options.quick) leaveOut(`answers of more than ${characters} characters`)

/** Characters of a part of the stream, about those of a token, and how many come at once. */
const partLength = 5
const burst = 16
const burstMs = 20

const sections = (length: number): string => {
  let text = ''
  for (let count = 1; text.length < length; count++)
    text += `## Section ${count}\n\nThe **archive** of building ${count} keeps *letters*, plans and [maps](https://example.com/${count}) of the years ${1800 + count} to ${1900 + count}; a visit has to be asked for with \`visit --room ${count}\` a week before.\n\n- The reading room opens at ${8 + (count % 3)}.\n- Copies cost ${count} cents a page, and are sent by post.\n  1. First the form.\n  2. Then the bill.\n\n${count % 4 === 0 ? '| Room | Seats | Opens |\n|:--|--:|:-:|\n| North | 12 | 8:00 |\n| South | 30 | 9:00 |\n\n' : ''}${count % 5 === 0 ? '```ts\nexport function seats(room: string): number {\n  return room === "north" ? 12 : 30\n}\n```\n\n' : ''}`
  return text.slice(0, length)
}

function* partsOf(text: string): Generator<ReplyPart> {
  for (let at = 0, count = 0; at < text.length; at += partLength, count++) {
    yield { text: text.slice(at, at + partLength) }
    if (count % burst === burst - 1) yield { pause: () => delay(burstMs) }
  }
}

interface Visit {
  readonly requests: number
  readonly bytes: number
  readonly usableMs: number
}

async function visit(page: Page, session: CDPSession, go: () => Promise<unknown>): Promise<Visit> {
  let [requests, bytes] = [0, 0]
  const onRequest = (): void => void requests++
  const onData = ({ encodedDataLength }: { encodedDataLength: number }): void => void (bytes += encodedDataLength)
  page.on('request', onRequest)
  session.on('Network.loadingFinished', onData)
  const begun = performance.now()
  await go()
  await page.getByLabel('Your question').waitFor()
  const usableMs = performance.now() - begun
  await page.waitForLoadState('networkidle')
  page.off('request', onRequest)
  session.off('Network.loadingFinished', onData)
  return { requests, bytes, usableMs }
}

async function measureVisits(browser: Browser, { address }: Playground): Promise<void> {
  for (const [name, bitsPerSecond] of [
    ['loopback', null],
    ['400 kbit/s', 400_000],
  ] as const) {
    const context = await browser.newContext()
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    if (bitsPerSecond !== null)
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 100,
        downloadThroughput: bitsPerSecond / 8,
        uploadThroughput: bitsPerSecond / 8,
      })
    const first = await visit(page, session, () => page.goto(address))
    console.log(
      `first visit, ${name}: ${first.requests} requests, ${(first.bytes / 1000).toFixed(1)} kB, usable after ${first.usableMs.toFixed(0)} ms`,
    )
    note(`first visit, ${name}, requests`, first.requests)
    note(`first visit, ${name}, kB`, first.bytes / 1000)
    note(`first visit, ${name}, ms`, first.usableMs)
    await context.close()
  }
}

async function metricsOf(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}

async function measureStream(browser: Browser, { address }: Playground): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  await page.goto(address)
  await page.getByLabel('Your question').waitFor()
  await page.evaluate(() => {
    const tasks: number[] = []
    Object.assign(globalThis, { tasks })
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    })
  })
  const before = await metricsOf(session)
  const begun = performance.now()
  await page.getByLabel('Your question').fill('Tell me all.')
  await page.keyboard.press('Enter')
  await page.locator('.turn-actions').waitFor({ timeout: 120_000 })
  const seconds = (performance.now() - begun) / 1000
  const after = await metricsOf(session)
  const spent = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0)
  const tasks = await page.evaluate(() => Reflect.get(globalThis, 'tasks') as number[])
  const longest = Math.max(0, ...tasks)
  console.log(
    `an answer of ${characters} characters in ${seconds.toFixed(1)} s: main thread ${spent('TaskDuration').toFixed(2)} s ` +
      `(script ${spent('ScriptDuration').toFixed(2)}, style ${spent('RecalcStyleDuration').toFixed(2)}, layout ${spent('LayoutDuration').toFixed(2)}), ` +
      `${tasks.length} tasks over 50 ms, longest ${longest.toFixed(0)} ms`,
  )
  note('stream, s of main thread', spent('TaskDuration'))
  note('stream, s of script', spent('ScriptDuration'))
  await context.close()
}

const launched = await launchBrowser()
if ('reason' in launched) throw new Error(`no browser: ${launched.reason}`)
const text = sections(characters)
const model = await startOpenAi(() => [...partsOf(text)])
const playground = await startPlayground({
  INLAY_MODEL: 'long',
  INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
  INLAY_MODEL_GROUNDING: 'tools',
})
try {
  await playground.printed('searchable after')
  await measureVisits(launched.browser, playground)
  await measureStream(launched.browser, playground)
} finally {
  await playground.end()
  await model.close()
  await launched.browser.close()
}
