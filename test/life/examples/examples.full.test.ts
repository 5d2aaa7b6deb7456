import type { AddressInfo } from 'node:net'
import { globSync } from 'node:fs'
import type { Run } from '@inlay/agent'
import { scriptedModel } from '@inlay/agent/testing'
import { createLineDecoder, type Packet } from '@inlay/protocol'
import { createInlay, type HostAction, type Inlay } from 'inlay'
import { createTestInlay } from 'inlay/testing'
import { builtInModel, modelProviders } from 'inlay/drivers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { pdf, pdfText } from '../../drivers/files/samples.ts'
import { testFolder } from '../harness.ts'
import { blocksOf, runBlock } from './page-code.ts'

const guide = (name: string): string => `docs/1.guide/${name}.md`
const driver = (name: string): string => `docs/2.drivers/${name}.md`
const parts = 'docs/6.parts.md'
const leave = 'Staff get 25 days of leave.'
const question = 'How many days of leave do staff get?'
const ana = { id: 'ana', scopes: ['chat'] } as const
const operator = 'the-key-of-the-operator'

/** An assistant beside the example, for those that talk to one. */
async function otherInlay(): Promise<Inlay> {
  const inlay = await createTestInlay({ apiKey: operator, documents: [{ sections: [{ text: leave }] }] })
  onTestFinished(() => inlay.close())
  return inlay
}

/** Addresses that a browser's `fetch` reaches, relative or absolute. */
const fetchOf =
  (inlay: Inlay) =>
  (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input, 'https://app.example')
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${operator}`)
    return inlay.fetch(new Request(url, { ...init, headers }))
  }

const toolNames = async (inlay: Inlay): Promise<string[]> => {
  const answer = await inlay.fetch(new Request('http://host/api/tool'), { principal: ana })
  return ((await answer.json()) as { name: string }[]).map(({ name }) => name)
}

const answering = (text: string): ReturnType<typeof scriptedModel> => scriptedModel(() => [text])

const answerOf = async (inlay: Inlay, message = question): Promise<string> => {
  const started = await inlay.agent.send({ message }, { caller: ana })
  return (await started.whole()).answer
}

const pdfBytes = pdf([pdfText([[72, 720, 12, leave]])])

describe('mounting', () => {
  test.each(['README.md', guide('2.mount')])('%s: a server answers', async (page) => {
    const { servers } = await runBlock([page, 1])
    await expect.poll(() => servers[0]?.listening, { timeout: 60_000 }).toBe(true)
    const { port } = servers[0]!.address() as AddressInfo
    expect((await fetch(`http://127.0.0.1:${port}/api/health`)).status).toBe(200)
  })

  test('without HTTP: a document is found and cited', async () => {
    const inlay = createInlay({ dataFolder: testFolder() })
    onTestFinished(() => inlay.close())
    const { passages, answer } = await runBlock<{ passages: object[]; answer: string }>([guide('2.mount'), 3], {
      inlay,
    })
    expect(passages).toHaveLength(1)
    expect(answer).toContain('25 days')
  })
})

describe('one part alone', () => {
  test('search without chat', async () => {
    const { passages } = await runBlock<{ passages: { content: string }[] }>([parts, 1])
    expect(passages.map(({ content }) => content)).toEqual([leave])
  })

  test("answers over the host's own retrieval", async () => {
    const models = modelProviders({ providers: [{ name: 'built-in', type: 'extractive' }], builtIn: builtInModel })
    const { knowledge } = await otherInlay()
    type Ask = (search: unknown, message: string) => Promise<string>
    const { ask } = await runBlock<{ ask: Ask }>([parts, 2], { models })
    expect(await ask((query: never) => knowledge.search(query), question)).toContain('25 days')
  })

  test("packets in a host's own handler", async () => {
    const { reply } = await runBlock<{ reply: (packets: readonly Packet[]) => Response }>([parts, 3])
    const packet: Packet = {
      placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
      obj: { type: 'message_delta', content: 'Hello' },
    }
    const decoder = createLineDecoder()
    const lines = [...decoder.push(new Uint8Array(await reply([packet]).arrayBuffer())), ...decoder.end()]
    expect(lines.map(({ line }) => line)).toEqual([packet])
  })

  test('the client in a browser', async () => {
    const show = vi.fn<(text: string) => void>()
    await runBlock([parts, 4], { fetch: fetchOf(await otherInlay()), show })
    expect(show.mock.lastCall?.[0]).toContain('25 days')
  })
})

describe('documents and keys', () => {
  test('a file becomes a document', async () => {
    const inlay = createInlay({ dataFolder: testFolder() })
    onTestFinished(() => inlay.close())
    await runBlock([guide('3.documents'), 1], { inlay, readFile: async () => pdfBytes })
    await expect.poll(() => answerOf(inlay), { timeout: 60_000 }).toContain('25 days')
  })

  test('limits of callers', async () => {
    const { last } = await runBlock([guide('6.keys'), 1])
    await last.start()
  })

  test("the host's own sign-in, asked or handed over", async () => {
    const signedIn = { id: 'ana', email: 'ana@example.com', groups: ['hr'] }
    const readSession = async (request: Request): Promise<object | undefined> =>
      request.headers.has('cookie') ? signedIn : undefined
    const request = (headers: HeadersInit): Request => new Request('http://host/api/tool', { headers })
    const asking = await runBlock([guide('6.keys'), 2], { readSession })
    expect((await asking.last.fetch(request({ cookie: 'session=1' }))).status).toBe(200)
    expect((await asking.last.fetch(request({}))).status).toBe(401)
    type Handle = (request: Request) => Promise<Response>
    const { handle } = await runBlock<{ handle: Handle }>([guide('6.keys'), 3], { readSession, inlay: asking.last })
    expect((await handle(request({ cookie: 'session=1' }))).status).toBe(200)
  })

  test('a key for the chat of one person', async () => {
    const inlay = await otherInlay()
    const { key } = await runBlock<{ key: string }>([guide('10.front-ends/1.chat-ui'), 3], { inlay, id: 'ana' })
    const headers = { authorization: `Bearer ${key}` }
    expect((await inlay.fetch(new Request('http://host/api/tool', { headers }))).status).toBe(200)
  })
})

describe('actions and hooks', () => {
  test('an action, tools of the AI SDK, and services of the web are offered to the model', async () => {
    const order = vi.fn(async () => ({ state: 'sent' }))
    const own = await runBlock<{ inlay: Inlay; orderState: HostAction }>([guide('7.actions'), 1], { shop: { order } })
    expect(await toolNames(own.inlay)).toContain('order_state')
    const { inlay } = await runBlock<{ inlay: Inlay }>([guide('7.actions'), 2], { forecast: async () => 'sunny' })
    expect(await toolNames(inlay)).toContain('weather')
    vi.stubEnv('BRAVE_API_KEY', 'brave-key')
    vi.stubEnv('OPENAI_API_KEY', 'openai-key')
    const web = await runBlock<{ inlay: Inlay }>([guide('7.actions'), 3])
    expect(await toolNames(web.inlay)).toEqual(expect.arrayContaining(['web_search', 'generate_image']))
    await runBlock([guide('7.actions'), 4])
  })

  test('hooks refuse messages and documents, and take note', async () => {
    const add = vi.fn(async () => {})
    const given = {
      isOffLimits: async (text: string) => text === 'No',
      officeOf: async () => 'Bremen',
      ledger: { add },
    }
    const turns = await runBlock<{ inlay: Inlay }>([guide('7.actions'), 6], given)
    await expect(answerOf(turns.inlay, 'No')).rejects.toMatchObject({ code: 'QUERY_REJECTED' })
    await answerOf(turns.inlay)
    await expect
      .poll(() => add.mock.calls, { timeout: 60_000 })
      .toContainEqual([expect.objectContaining({ caller: 'ana' })])
    const { inlay } = await runBlock<{ inlay: Inlay }>([guide('7.actions'), 8], given)
    const accept = (title: string): Promise<unknown> =>
      inlay.knowledge.accept({ document: { id: title, title, sections: [{ text: leave }] } }, { waitMs: 60_000 })
    await expect(accept('Salaries')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await accept('Leave')
    await expect
      .poll(() => add.mock.calls, { timeout: 60_000 })
      .toContainEqual([expect.objectContaining({ documentId: 'Leave', phase: 'indexed' })])
  })
})

describe('models', () => {
  test('a model of the host answers, one or several', async () => {
    const { inlay } = await runBlock<{ inlay: Inlay }>([guide('7.actions'), 9], { languageModel: answering('Aye.') })
    expect(await answerOf(inlay)).toBe('Aye.')
    type SingleModel = (model: object) => never
    const { singleModel } = await runBlock<{ singleModel: SingleModel }>([guide('5.models'), 2])
    const other = createInlay({ dataFolder: testFolder(), model: singleModel(answering('Aye aye.')) })
    onTestFinished(() => other.close())
    expect(await answerOf(other)).toBe('Aye aye.')
  })

  test('the engine alone streams its lines', async () => {
    const { singleModel } = await runBlock<{ singleModel: (model: object) => never }>([guide('5.models'), 2])
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const given = { models: singleModel(answering('Aye.')), request: { message: question } }
    await runBlock<{ run: Run }>([guide('13.engine'), 1], given)
    expect(log.mock.calls.flat().join('\n')).toContain('Aye.')
    log.mockRestore()
  })
})

describe('front ends', () => {
  test('the client sends, resumes, uploads, ingests and tells failures', async () => {
    const inlay = await otherInlay()
    const send = fetchOf(inlay)
    const first = await (
      await send('/api/chat/send-chat-message', {
        method: 'POST',
        body: JSON.stringify({ message: question, stream: false }),
      })
    ).json()
    const { chat_session_id: sessionId } = first as { chat_session_id: string }
    const [show, forget] = [vi.fn<(text: string) => void>(), vi.fn<(id: string) => void>()]
    const documents = [{ id: 'a', semantic_identifier: 'a', metadata: {}, sections: [{ text: 'A' }] }]
    const input = { files: [new File(['The soup is hot.'], 'soup.txt')] }
    const given = {
      fetch: send,
      show,
      forget,
      sessionId,
      id: crypto.randomUUID(),
      input,
      documents,
      keyOfTheMoment: () => operator,
    }
    type Exports = { citation_info: object[]; whole: { answer: string } }
    const { citation_info, whole } = await runBlock<Exports>([guide('10.front-ends/2.client'), 1, 2, 3, 4], given)
    expect(citation_info).toHaveLength(1)
    expect(whole.answer).not.toBe('')
    expect(forget).toHaveBeenCalledWith(given.id)
    await runBlock([guide('10.front-ends/1.chat-ui'), 4], { ...given })
    expect(show.mock.lastCall?.[0]).toContain('25 days')
    const { messages } = await runBlock<{ messages: { role: string }[] }>([guide('10.front-ends/1.chat-ui'), 1], given)
    expect(messages.map(({ role }) => role)).toContain('assistant')
  })
})

describe('settings', () => {
  const driverPages = globSync('docs/2.drivers/*.md').filter((page) => /^createInlay\(/m.test(blocksOf(page)[0] ?? ''))
  const environment = {
    DATABASE_URL: 'postgres://u:p@127.0.0.1:1/none',
    COHERE_API_KEY: 'cohere-key',
    OPENAI_API_KEY: 'openai-key',
    WIKI_TOKEN: 'wiki',
  }

  const examples: readonly (readonly [page: string, number: number])[] = [
    [guide('10.front-ends/1.chat-ui'), 2],
    [guide('12.research'), 1],
    [guide('17.observe'), 1],
    [guide('19.several-processes'), 1],
    [guide('19.several-processes'), 2],
    [guide('19.several-processes'), 3],
    [guide('20.tenants'), 1],
    [guide('20.tenants'), 2],
    [guide('20.tenants'), 3],
    ['docs/9.search-quality.md', 1],
    ...driverPages.map((page) => [page, 1] as const),
  ]

  test.each(examples)('%s, example %i is accepted', async (page, number) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    await runBlock([page, number])
  })

  test('a file is read as text', async () => {
    type Exports = { sections: { text: string }[] }
    const given = { readFile: async () => pdfBytes }
    const { sections } = await runBlock<Exports>([driver('file-extraction'), 1], given)
    expect(sections.map(({ text }) => text).join()).toContain(leave)
  })
})
