import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { RecordedRequest, Reply, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { openContext } from './visit.ts'

/** A page of another origin than the service, with the example of the docs in it. */
export interface HostPage {
  readonly origin: string
  /** Which service the page names, and with which key. */
  point(service: { readonly origin: string; readonly key: string }): void
  close(): Promise<void>
}

/** The strictest policy: nothing inline, no HTML from strings. */
const policyFor = (origin: string): string =>
  `default-src 'none'; script-src ${origin}; connect-src ${origin}; require-trusted-types-for 'script'; trusted-types 'none'`

/** Serves the page on its own port. */
async function startHostPage(): Promise<HostPage> {
  const example = readFileSync('playground/examples/widget/index.html', 'utf8')
  let html = ''
  let policy = ''
  const server = createServer((request, response) => {
    if (request.url !== '/') return void response.writeHead(204).end()
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // A listening TCP server has an address of this form.
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    point({ origin, key }) {
      html = example.replace('http://localhost:3000', origin).replace('YOUR_CHAT_KEY', key)
      policy = policyFor(origin)
      if (!html.includes(`${origin}/api/inlay-chat.js`) || !html.includes(key)) throw new Error('the example changed')
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A service, its model and a page of another origin that holds the element. */
export interface WidgetService {
  readonly playground: Playground
  readonly model: StandIn
  readonly host: HostPage
  /** Sets how the model answers from now on. */
  reply: (request: RecordedRequest) => Reply
}

/** Starts one for the tests of a `describe`, and ends it after them. */
export function useWidgetService(): WidgetService {
  const ends: (() => Promise<unknown>)[] = []
  // The rest is there once `beforeAll` has run.
  const service = { reply: () => [{ text: 'Yes.' }] } as unknown as {
    -readonly [Part in keyof WidgetService]: WidgetService[Part]
  }
  beforeAll(async () => {
    service.model = await startOpenAi((request) => service.reply(request))
    ends.push(() => service.model.close())
    service.host = await startHostPage()
    ends.push(() => service.host.close())
    service.playground = await startPlayground({
      INLAY_MODEL: 'm',
      INLAY_MODEL_BASE_URL: `${service.model.origin}/v1`,
      // Its text is streamed, with or without a search before it.
      INLAY_MODEL_GROUNDING: 'tools',
      INLAY_SEARCH_HELP: 'off',
      INLAY_CORS_ORIGINS: service.host.origin,
    })
    ends.push(() => service.playground.end())
    // Questions wait until the project's own documentation was read in.
    await service.playground.printed('searchable after')
    service.host.point(service.playground)
  })
  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
  })
  return service
}

/** A visited page, and what it complained about: violations of its policy, exceptions. */
export interface Visit {
  readonly page: Page
  readonly chat: Locator
  readonly complaints: readonly string[]
}

/** Opens the page in a new window. */
export async function visit(host: HostPage, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await openContext({ viewport: { width: 1000, height: 800 }, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      complaints.push(message.text())
  })
  await page.goto(host.origin)
  const chat = page.locator('inlay-chat')
  await chat.getByRole('button', { name: 'Open the chat' }).waitFor()
  return { page, chat, complaints }
}

/** Asks a question in the open chat; returns its turn. */
export async function ask(chat: Locator, question: string): Promise<Locator> {
  await chat.getByLabel('Your question').fill(question)
  await chat.getByLabel('Your question').press('Enter')
  return chat.locator('.turn', { hasText: question })
}

/** Asks a question and waits for the end of its answer. */
export async function answerTo(chat: Locator, question: string): Promise<Locator> {
  const turn = await ask(chat, question)
  await turn.and(chat.locator('[aria-busy="false"]')).waitFor()
  return turn
}
