import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from './process.ts'

/** Maximum CPU time of one turn of the event loop. The aim is 50; the rest is for slow and busy machines. */
const maxMs = 150

const folder = temporaryFolder()
let service: Service

beforeAll(async () => {
  service = await startService(folder.path, { program: 'measured-service.ts' })
  // Loads what is loaded by first use.
  await send('/service-api/ingestion', document({}), { prefer: 'wait=60' })
  await send('/search', { query: 'water' })
  await send('/chat/send-chat-message', { message: 'Where is the water?', stream: false })
  await upload('first.txt', 'a few words')
})

afterAll(async () => {
  await service.stop()
  folder.remove()
})

/** The longest turn since this was asked last, in milliseconds of processor time. */
async function longestMs(): Promise<number> {
  service.child.send('longest')
  const [message] = (await once(service.child, 'message')) as [{ longestMs: number }]
  return message.longestMs
}

/** To make a large body takes so long that the server may end an idle connection meanwhile. */
const alone = { connection: 'close' }

async function send(path: string, body: object | string, headers: Record<string, string> = {}): Promise<number> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await service.fetch(path, { method: 'POST', headers: { ...headers, ...alone }, body: text })
  await response.text()
  return response.status
}

async function upload(name: string, text: string): Promise<number> {
  const form = new FormData()
  form.set('file', new File([text], name))
  const response = new Response(form)
  const headers = { 'content-type': response.headers.get('content-type')!, ...alone }
  const body = await response.arrayBuffer()
  const answer = await service.fetch('/service-api/ingestion/file', { method: 'POST', headers, body })
  await answer.text()
  return answer.status
}

const document = (fields: object): object => ({
  document: { semantic_identifier: 'a', metadata: {}, sections: [{ text: 'Water is wet.' }], ...fields },
})
const many = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at))
const filled = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)))
const largest = 8_000_000
const post = (fields: object) => (): Promise<number> =>
  send('/service-api/ingestion', document(fields), { prefer: 'wait=110' })
const ofText = (text: string): (() => Promise<number>) => post({ sections: [{ text }] })
const chat = (fields: object) => (): Promise<number> =>
  send('/chat/send-chat-message', { message: 'Where is the water?', stream: false, ...fields })

test.each<[what: string, run: () => Promise<number | readonly number[]>, statuses: readonly number[]]>([
  ['a document of prose', ofText(filled('The heron waits for fish. ', largest)), [200]],
  ['a document of Chinese', ofText(filled('鹭站在浅水中等待鱼儿到来。', largest)), [200]],
  ['a document of quotation marks', ofText(filled('"', largest / 2)), [200]],
  ['a document of blank lines', ofText(filled('\n', largest / 2)), [200]],
  ['a document of one table', ofText(`|a|b\n|-|-\n${filled('|a|b\n', largest * 0.8)}`), [200]],
  ['a document of one code block', ofText(`\`\`\`\n${filled('a b\n', largest * 0.75)}`), [200]],
  ['45,000 sections', post({ sections: many(45_000, (at) => ({ text: `water ${at}` })) }), [200]],
  ['400,000 sections', post({ sections: many(400_000, () => ({ text: 'a' })) }), [413]],
  ['5,000 keys of metadata', post({ metadata: Object.fromEntries(many(5_000, (at) => [`k${at}`, `v${at}`])) }), [200]],
  ['90,000 keys of metadata', post({ metadata: Object.fromEntries(many(90_000, (at) => [`k${at}`, at])) }), [422]],
  ['a list of 90,000 tags', post({ metadata: { tag: many(90_000, (at) => `v${at}`) } }), [200]],
  ['an id of 7 MB', post({ id: filled('water', 7_000_000) }), [422]],
  [
    'two million wrong sections',
    () => send('/service-api/ingestion', document({ sections: many(2_000_000, () => 1) })),
    [413],
  ],
  [
    'six large documents at once',
    () => Promise.all(many(6, (at) => post({ id: `six-${at}`, sections: [{ text: filled('fish ', largest) }] })())),
    [200],
  ],
  [
    'a batch of large documents',
    () =>
      batch(
        many(6, (at) => JSON.stringify(document({ id: `line-${at}`, sections: [{ text: filled('fish ', largest) }] }))),
      ),
    [200],
  ],
  ['a batch of 50,000 wrong lines', () => batch(many(50_000, () => '{}')), [200]],
  ['a batch of 5,000,000 blank lines', () => batch(many(5_000_000, () => '')), [200]],
  ['a message of 4 MB', chat({ message: filled('water ', 4_000_000) }), [200]],
  ['a message of 700 KB', chat({ message: filled('water ', 700_000) }), [200]],
  ['context of 700 KB', chat({ additional_context: filled('The water is deep. The heron waits. ', 700_000) }), [200]],
  ['context of 4 MB', chat({ additional_context: filled('The water is deep. ', 4_000_000) }), [200]],
  ['a message of 49,000 files', chat({ file_descriptors: many(49_000, (at) => ({ id: `f${at}` })) }), [422]],
  ['450,000 wrong tags', () => send('/search', { query: 'a', tags: many(450_000, () => 1) }), [413]],
  ['a query of a megabyte', () => send('/search', { query: filled('a ', 1_000_000) }), [422]],
  ['brackets in brackets', () => send('/search', filled('[', 1_000_000)), [413]],
  [
    'an action of 6,000 operations',
    () =>
      send('/admin/tool/custom', { name: 'a', passthrough_auth: false, default_enabled: true, definition: api(6000) }),
    // The first hundred are taken.
    [200],
  ],
  ['a file of 7 MB', () => upload('book.txt', filled('The heron waits.\n', 7_000_000)), [200]],
])('%s never holds the event loop', { timeout: 900_000 }, async (_, run, statuses) => {
  await longestMs()
  const answered = [await run()].flat()
  await settled()
  expect(await longestMs()).toBeLessThan(maxMs)
  expect([...new Set(answered)]).toEqual(statuses)
})

async function batch(lines: readonly string[]): Promise<number> {
  return send('/service-api/ingestion/batch', lines.join('\n'))
}

/** An OpenAPI document of many operations, without what a tool needs besides. */
function api(operations: number): object {
  const paths = Object.fromEntries(
    many(operations, (at) => [`/p${at}`, { get: { operationId: `o${at}`, responses: {} } }]),
  )
  return { openapi: '3.0.0', info: { title: 'a', version: '1' }, servers: [{ url: 'https://example.com' }], paths }
}

/** Until nothing waits to be indexed. */
async function settled(): Promise<void> {
  await eventually('everything is indexed', async () => {
    const figures = await service.fetch('/service-api/ingestion-figures')
    const { queue_depth: waiting } = (await figures.json()) as { queue_depth: number }
    return waiting === 0 || undefined
  })
}
