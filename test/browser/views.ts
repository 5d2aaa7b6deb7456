import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createClient, type Client } from '@inlay/client'
import { frameLine, type PacketBody, type StreamLine } from '@inlay/protocol'
import { createInlay, readSettings } from 'inlay'
import { createPage } from 'inlay/page'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { listen } from '../../playground/server/listen.ts'
import { buildPage } from '../../playground/server/page-build.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import type { ReplyPart } from '../stand-in/model-server.ts'
import { searchDoc } from '../page/sources/search-doc.ts'

/** A service with the same documents, chats and answers at every start, and everything that can be seen of it. */
export interface ViewService {
  /** Opens a view in a new window, with a typeface that is the same on every machine. Close its context after use. */
  open(browser: Browser, view: View): Promise<Page>
  close(): Promise<void>
}

/** Something people can come to see. */
export interface View {
  readonly name: string
  readonly window: BrowserContextOptions
  /** Whether the browser does not know the key yet. */
  readonly isLocked?: boolean
  /** Leads from an empty window to the view. */
  readonly show: (page: Page, stage: Stage) => Promise<unknown>
}

interface Stage {
  readonly origin: string
  /** Opens the page at a place in it. */
  readonly enter: (page: Page, hash?: string) => Promise<void>
  readonly client: Client
  readonly projectId: number
  readonly chatId: string
}

const wide: BrowserContextOptions = { viewport: { width: 1440, height: 900 } }
const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const dark = { colorScheme: 'dark' } as const

const key = 'key-of-the-pictures'
const root = resolve(import.meta.dirname, '../..')
const typeface = join(
  dirname(createRequire(join(root, 'packages/drivers/package.json')).resolve('pdfjs-dist/package.json')),
  'standard_fonts/LiberationSans-Regular.ttf',
)

/** One typeface for all text, and nothing that moves. */
const still = `
@font-face { font-family: Still; src: url(/still.ttf) }
:root { --inlay-font: Still !important; --mono: Still !important }
*, *::before, *::after { animation: none !important; transition: none !important; caret-color: transparent !important }`

const documents: readonly (readonly [id: string, title: string, text: string])[] = [
  [
    'handbook/holidays.md',
    'Holidays',
    'Everybody has 28 days of holiday. Five of them can be carried over until March.',
  ],
  [
    'handbook/rooms.md',
    'Rooms and hours',
    'The reading room opens at 8 and closes at 18. Saturdays it closes at noon.',
  ],
  ['handbook/travel.md', 'Travel', 'Trains are booked second class. A hotel may cost 120 euros a night.'],
  ['handbook/expenses.pdf', 'Expenses', 'Receipts are handed in within 30 days, with the form of the finance office.'],
  ['minutes/2026-02.docx', 'Minutes of February', 'The harbour gets a second gate. Mia Roth asks for two quotes.'],
]

function replyTo(question: string): readonly ReplyPart[] {
  if (question.includes('long')) return [{ text: 'The reading room opens at 8' }, { hang: true }]
  if (question.includes('fails')) return [{ error: { message: 'The model is overloaded.' } }]
  return [
    {
      text: [
        'Everybody has **28 days** of holiday [1].',
        '- Five of them can be carried over until March [1].\n- The rest ends with the year.',
        '| office | days |\n|---|---|\n| Harbour | 28 |\n| Hill | 30 |',
        '```ts\nconst days = 28\n```',
        'The share is $\\frac{28}{365}$, and in full:\n\n$$d = \\frac{28}{365}$$',
      ].join('\n\n'),
    },
  ]
}

/** Starts the service. */
export async function startViewService(): Promise<ViewService> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-views-'))
  // A chat is named by a call that is not streamed.
  const model = await startOpenAi(({ body }) =>
    body['stream'] === true ? replyTo(JSON.stringify(body['messages'])) : [{ text: 'Days of holiday' }],
  )
  const server = { provider: 'local', base_url: `${model.origin}/v1`, grounding: 'search-first' }
  const { options } = readSettings({
    INLAY_MODELS: JSON.stringify([
      { name: 'small', ...server },
      { name: 'large', ...server },
    ]),
  })
  const inlay = createInlay({ ...options, telemetry: true, dataFolder: folder, basePath: '/api', apiKey: key })
  const [built] = await Promise.all([buildPage(root), inlay.start()])
  const served = await createPage({
    folder: built,
    basePath: '/api',
    api: inlay.fetch,
    handover: { token: 'token', key },
  })
  const listening = await listen({ host: '127.0.0.1', port: 0, fetch: served.fetch })
  if ('refusal' in listening) throw new Error(listening.refusal)
  const origin = `http://127.0.0.1:${listening.port}`
  const client = createClient({ baseUrl: `${origin}/api`, apiKey: key })
  const stage: Stage = { origin, client, ...(await furnish(client)), enter }

  async function enter(page: Page, hash = ''): Promise<void> {
    await page.goto(`${origin}/${hash}`)
    await page.locator('.top').waitFor()
  }

  return {
    async open(browser, { window, show, isLocked = false }) {
      const opened = { origin, localStorage: [{ name: 'inlay-key', value: key }] }
      const context = await browser.newContext({
        storageState: { cookies: [], origins: isLocked ? [] : [opened] },
        locale: 'en-GB',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
        bypassCSP: true,
        ...window,
      })
      context.setDefaultTimeout(20_000)
      const page = await context.newPage()
      await page.route('**/still.ttf', async (route) => route.fulfill({ body: await readFile(typeface) }))
      await page.addInitScript((css) => {
        const add = (): void => {
          const style = document.createElement('style')
          style.textContent = css
          document.head.append(style)
        }
        if (document.head) add()
        else document.addEventListener('DOMContentLoaded', add)
      }, still)
      await show(page, stage)
      await page.evaluate(async () => {
        await document.fonts.load('16px Still')
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
        scrollTo({ top: 0, behavior: 'instant' })
      })
      return page
    },
    async close() {
      await listening.close(inlay)
      await model.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** Puts documents, a project, an agent and chats into the service. */
async function furnish(client: Client): Promise<Pick<Stage, 'projectId' | 'chatId'>> {
  for (const [id, title, text] of documents)
    await client.ingest(
      {
        id,
        semantic_identifier: title,
        sections: [{ text, link: `https://intranet.example/${id}` }],
        metadata: { team: 'Office' },
      },
      { waitSeconds: 60 },
    )
  const { id: projectId } = await client.projects.create('Onboarding')
  await client.projects.update(projectId, { instructions: 'Answer briefly, for somebody who is new here.' })
  await client.files.upload([new File(['Rooms open at 8.'], 'rooms.txt')], { projectId })
  await client.agents.create({
    name: 'Travel desk',
    description: 'Answers about journeys',
    system_prompt: '',
    task_prompt: '',
    datetime_aware: true,
    document_set_ids: [],
    tool_ids: [],
    is_public: true,
    starter_messages: [
      { name: 'Hotels', message: 'What may a hotel cost?' },
      { name: 'Trains', message: 'Which class are trains booked in?' },
    ],
  })
  const { chat_session_id: chatId } = await client.ask('How many days of holiday are there?')
  await client.ask('When does the reading room open?')
  return { projectId, chatId: chatId ?? '' }
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question)
  await page.keyboard.press('Enter')
}

async function answered(page: Page): Promise<void> {
  await page.locator('.turn').last().locator('.turn-actions').waitFor()
}

/** Breaks the connection to the server. */
async function cut(page: Page): Promise<void> {
  await page.route(/\/(api|page)\//, (route) => route.abort('connectionrefused'))
}

/** Answers the next question with these packets. */
async function serve(page: Page, bodies: readonly PacketBody[]): Promise<void> {
  let turn = 0
  const lines: StreamLine[] = [{ user_message_id: 1, reserved_assistant_message_id: 2 }]
  for (const obj of [...bodies, { type: 'stop', stop_reason: null } as const]) {
    lines.push({ placement: { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: 0 }, obj })
    if (obj.type === 'section_end') turn++
  }
  const body = lines.map((line, at) => frameLine(JSON.stringify(line), { format: 'sse', sequence: at + 1 })).join('')
  await page.route('**/send-chat-message', (route) => route.fulfill({ body, contentType: 'text/event-stream' }))
}

const plan = searchDoc({ document_id: 'plan', semantic_identifier: 'Plan of the harbour', link: null })
const research: readonly PacketBody[] = [
  { type: 'deep_research_plan_start' },
  { type: 'deep_research_plan_delta', content: '1. Look at the plan.\n2. Look at the budget.' },
  { type: 'section_end' },
  { type: 'research_agent_start', research_task: 'What the plan of the harbour says about gates' },
  { type: 'intermediate_report_start' },
  { type: 'intermediate_report_delta', content: 'It has two gates [1].' },
  { type: 'intermediate_report_cited_docs', cited_docs: [plan] },
  { type: 'section_end' },
  { type: 'message_start', final_documents: [plan], pre_answer_processing_seconds: 0 },
  { type: 'citation_info', citation_number: 1, document_id: 'plan' },
  { type: 'message_delta', content: 'The harbour has two gates [[1]]().' },
]

/** Names of files of six kinds that are not taken, more than fit into a window. */
const refusedNames = Array.from(
  { length: 75 },
  (_, at) => `scan ${at + 1}.${['exe', 'zip', 'mp3', 'doc', 'psd', 'heic'][at % 6]}`,
)

/** A page of a host that sets whatever is inherited. */
const hostile = `<!doctype html><meta charset="utf-8"><title>Host</title><style>
body { font: italic 700 30px/3 serif; letter-spacing: .4em; word-spacing: 2em; text-transform: uppercase; white-space: pre;
text-align: right; text-indent: 3em; direction: rtl; visibility: visible; text-shadow: 2px 2px red; cursor: wait }
inlay-chat { border: 9px solid red; padding: 30px; margin: 20px; opacity: .9 }
</style><h1>A page</h1><inlay-chat base-url="/api" api-key="${key}" open></inlay-chat><script src="/api/inlay-chat.js"></script>`

const at =
  (hash: string, selector: string) =>
  async (page: Page, { enter }: Stage): Promise<void> => {
    await enter(page, hash)
    await page.locator(selector).first().waitFor()
  }

const gate = async (page: Page, { origin }: Stage): Promise<void> => {
  await page.goto(origin)
  await page.locator('.gate input').waitFor()
}
const answer = async (page: Page, { enter, chatId }: Stage): Promise<void> => {
  await enter(page, `#chat/${chatId}`)
  await answered(page)
  await page.locator('.answer math').first().waitFor()
}
const shared = async (page: Page, { enter, client, chatId }: Stage): Promise<void> => {
  await client.sessions.share(chatId, 'public')
  await enter(page, `#shared/${chatId}`)
  await page.locator('.answer math').first().waitFor()
}
const sections = ['models', 'keys', 'agents', 'actions', 'usage', 'audit', 'packets'] as const

/** All views, each in the windows in which it differs. */
export const views: readonly View[] = [
  ...(
    [
      ['gate', wide],
      ['gate-phone', phone],
    ] as const
  ).map(([name, window]) => ({ name, window, isLocked: true, show: gate })),
  {
    name: 'gate-refused',
    window: wide,
    isLocked: true,
    show: async (page, stage) => {
      await gate(page, stage)
      await page.locator('.gate input').fill('wrong')
      await page.keyboard.press('Enter')
      await page.getByText(/not accepted/).waitFor()
    },
  },
  {
    name: 'no-server',
    window: wide,
    show: async (page, { origin }) => {
      await cut(page)
      await page.goto(origin)
      await page.locator('.gate button').waitFor()
    },
  },
  { name: 'empty', window: wide, show: at('', '.welcome') },
  { name: 'empty-dark', window: { ...wide, ...dark }, show: at('', '.welcome') },
  { name: 'empty-phone', window: phone, show: at('', '.welcome') },
  {
    name: 'agent',
    window: wide,
    show: async (page, stage) => {
      await at('', '.welcome')(page, stage)
      await page.locator('.agent-choice select').selectOption({ label: 'Travel desk' })
    },
  },
  {
    name: 'menu-phone',
    window: phone,
    show: async (page, stage) => {
      await at('', '.welcome')(page, stage)
      await page.locator('.open-drawer').click()
      await page.locator('.drawer .recent a').first().waitFor()
    },
  },
  {
    name: 'options',
    window: wide,
    show: async (page, stage) => {
      await at('', '.welcome')(page, stage)
      await page.getByRole('button', { name: 'Options' }).click()
      await page.getByLabel('Compare with').waitFor()
    },
  },
  { name: 'answer', window: wide, show: answer },
  { name: 'answer-dark', window: { ...wide, ...dark }, show: answer },
  { name: 'answer-phone', window: phone, show: answer },
  {
    name: 'source-phone',
    window: phone,
    show: async (page, stage) => {
      await answer(page, stage)
      await page.locator('.citation').first().click()
      await page.locator('.passage.open').waitFor()
    },
  },
  {
    name: 'document',
    window: wide,
    show: async (page, stage) => {
      await answer(page, stage)
      await page.getByRole('button', { name: 'Open document' }).first().click()
      await page.locator('.pane').getByText('28 days').waitFor()
    },
  },
  { name: 'shared', window: wide, show: shared },
  { name: 'shared-phone', window: phone, show: shared },
  { name: 'chats', window: wide, show: at('#chats', '.chat-row') },
  {
    name: 'chats-found',
    window: wide,
    show: async (page, stage) => {
      await at('#chats', '.chat-row')(page, stage)
      await page.locator('main').getByRole('searchbox').fill('reading')
      await page.locator('main .chat-hit').first().waitFor()
    },
  },
  {
    name: 'project',
    window: wide,
    show: (page, stage) => at(`#project/${stage.projectId}`, '.project-files')(page, stage),
  },
  { name: 'documents', window: wide, show: at('#documents', '.document-row') },
  { name: 'documents-dark', window: { ...wide, ...dark }, show: at('#documents', '.document-row') },
  { name: 'documents-phone', window: phone, show: at('#documents', '.document-row') },
  {
    name: 'documents-details',
    window: wide,
    show: async (page, stage) => {
      await at('#documents', '.document-row')(page, stage)
      await page.locator('.document-row input').first().check()
      await page
        .getByRole('button', { name: /^Tags, sets/ })
        .nth(1)
        .click()
      await page.getByRole('form', { name: 'Tags' }).waitFor()
    },
  },
  {
    name: 'documents-refused',
    window: wide,
    show: async (page, stage) => {
      await at('#documents', '.document-row')(page, stage)
      const files = refusedNames.map((name) => ({ name, mimeType: '', buffer: Buffer.from('x') }))
      await page.getByLabel('Choose files').setInputFiles(files)
      await page.locator('.refused-files').waitFor()
    },
  },
  {
    name: 'documents-none-failed',
    window: wide,
    show: async (page, stage) => {
      await at('#documents', '.document-row')(page, stage)
      await page.locator('.states .failed').click()
      await page.locator('.found-documents .nothing').waitFor()
    },
  },
  {
    name: 'documents-no-server',
    window: wide,
    show: async (page, { enter }) => {
      await enter(page)
      await cut(page)
      await page.locator('.top a[href="#documents"]').click()
      await page.locator('main .failure').waitFor()
    },
  },
  {
    name: 'documents-no-code',
    window: wide,
    show: async (page, { enter }) => {
      await enter(page)
      await page.route('**/*.js', (route) => route.abort('connectionrefused'))
      await page.locator('.top a[href="#documents"]').click()
      await page.locator('main .failure').waitFor()
    },
  },
  {
    name: 'search',
    window: wide,
    show: async (page, stage) => {
      await at('#search', 'main [type=search]')(page, stage)
      await page.locator('main').getByRole('searchbox').fill('holiday')
      await page.locator('.source:visible').first().waitFor()
    },
  },
  { name: 'health', window: wide, show: at('#health', '.plot') },
  ...sections.map((section) => ({
    name: `admin-${section}`,
    window: wide,
    show: at(`#admin/${section}`, `.tabs [aria-current][href="#admin/${section}"]`),
  })),
  { name: 'admin-phone', window: phone, show: at('#admin/models', '.tabs [aria-current]') },
  {
    name: 'widget',
    window: wide,
    show: async (page, { origin }) => {
      await page.route('**/host', (route) => route.fulfill({ body: hostile, contentType: 'text/html' }))
      await page.goto(`${origin}/host`)
      const chat = page.locator('inlay-chat')
      await chat.getByLabel('Your question').fill('How many days of holiday are there?')
      await chat.getByLabel('Your question').press('Enter')
      await chat.locator('.turn[aria-busy="false"] pre').first().waitFor()
    },
  },
  // They add chats, so they come after those that list them.
  {
    name: 'stopped',
    window: wide,
    show: async (page, stage) => {
      await at('', '.welcome')(page, stage)
      await ask(page, 'Something long?')
      await page.locator('.answer', { hasText: 'opens at 8' }).waitFor()
      await page.getByRole('button', { name: 'Stop answering' }).click()
      await answered(page)
    },
  },
  {
    name: 'failed',
    window: wide,
    show: async (page, stage) => {
      await at('', '.welcome')(page, stage)
      await ask(page, 'Something that fails?')
      await page.locator('.turn .failure').waitFor()
      await answered(page)
    },
  },
  {
    name: 'research',
    window: wide,
    show: async (page, stage) => {
      await at('', '.welcome')(page, stage)
      await serve(page, research)
      await ask(page, 'What is planned for the harbour?')
      await answered(page)
      for (const summary of await page.locator('.steps summary').all()) await summary.click()
    },
  },
]
