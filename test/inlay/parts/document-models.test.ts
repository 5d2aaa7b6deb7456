import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelProviders } from '@inlay/drivers/model-providers'
import type { Principal, UploadAnswer } from '@inlay/protocol'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { png } from '../../conversations/files/setting.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { StandIn } from '../../stand-in/model-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'inlay-images-'))
let count = 0
const open: Inlay[] = []
let server: StandIn

/** Says of an image that it is one, and of a text what it is asked. */
beforeEach(async () => {
  server = await startOpenAi((request) => [
    { text: JSON.stringify(request.body).includes('image_url') ? 'A red heron.' : 'Concerns zebras.' },
  ])
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((inlay) => inlay.close()))
  await server.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const callers: Record<string, Principal> = {
  ana: { id: 'ana', scopes: ['ingest', 'chat'] },
  bob: { id: 'bob', scopes: ['ingest', 'chat'] },
}

function make(options: InlayOptions & { sees?: boolean } = {}): Inlay {
  const { sees = true, ...rest } = options
  const model = { name: 'stand-in', takesImages: sees }
  const inlay = createInlay({
    dataFolder: join(folder, String(++count)),
    worker: { lingerMs: 1 },
    authenticate: (request) => callers[request.headers.get('x-user') ?? ''],
    model: modelProviders({
      providers: [{ name: 'local', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models: [model] }],
    }),
    ...rest,
  })
  open.push(inlay)
  return inlay
}

async function ask(inlay: Inlay, user: string, path: string, body?: object): Promise<Response> {
  const isForm = body instanceof FormData
  return inlay.fetch(
    new Request(`http://host.example/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-user': user, prefer: 'wait=60', ...(isForm ? {} : { 'content-type': 'application/json' }) },
      body: isForm ? body : body && JSON.stringify(body),
    }),
  )
}

/** Uploads a picture, or a text. @returns both of its ids */
async function upload(inlay: Inlay, user: string, isPicture = true): Promise<{ id: string; file_id: string }> {
  const form = new FormData()
  const blob = isPicture ? new Blob([new Uint8Array(png)], { type: 'image/png' }) : new Blob(['words'])
  form.append('files', blob, isPicture ? 'heron.png' : 'notes.txt')
  const answer = (await (await ask(inlay, user, '/user/file/upload', form)).json()) as UploadAnswer
  return answer.user_files[0]!
}

const ingest = (inlay: Inlay, user: string, sections: object[], pair = 1): Promise<Response> =>
  ask(inlay, user, '/service-api/ingestion', {
    document: { id: 'birds', semantic_identifier: 'Birds', sections, metadata: {} },
    cc_pair_id: pair,
  })

const ana = { id: 'ana', scopes: ['chat'] as const }

async function remove(inlay: Inlay, id: string): Promise<unknown> {
  const headers = { 'x-user': 'ana' }
  const path = `http://h/api/user/projects/file/${id}`
  return (await inlay.fetch(new Request(path, { method: 'DELETE', headers }))).json()
}

const results = (inlay: Inlay, text: string): ReturnType<Inlay['knowledge']['search']> =>
  inlay.knowledge.search({ text, limit: 5 })

describe('an image of a section', () => {
  test('is found by what the model sees on it, and shown to those who see the document', async () => {
    const inlay = make()
    const { file_id } = await upload(inlay, 'ana')
    expect((await ingest(inlay, 'ana', [{ text: 'The reeds.' }, { image_file_id: file_id }])).status).toBe(200)
    expect(await results(inlay, 'red heron')).toMatchObject([{ content: 'A red heron.', document: { file_id } }])
    expect(server.requests).toHaveLength(1)
    expect(JSON.stringify(server.requests[0]!.body)).toContain(Buffer.from(png).toString('base64'))
    for (const user of ['ana', 'bob']) {
      const response = await ask(inlay, user, `/chat/file/${file_id}`)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(png))
    }
  })

  test('belongs to the text beside it: both are found, and both hits name it', async () => {
    const inlay = make()
    const { file_id } = await upload(inlay, 'ana')
    await ingest(inlay, 'ana', [{ text: 'The reeds at dawn.', image_file_id: file_id, heading: 'Plate 3' }])
    for (const words of ['reeds at dawn', 'red heron'])
      expect(await results(inlay, words)).toMatchObject([{ document: { document_id: 'birds', file_id } }])
    const [passage] = await results(inlay, 'heron reeds')
    expect(passage!.content).toBe('The reeds at dawn.\n\nA red heron.')
  })

  test('is nobody else’s while the document is not, and no longer once the document is gone', async () => {
    const inlay = make()
    const { file_id } = await upload(inlay, 'ana')
    const status = async (): Promise<number> => (await ask(inlay, 'bob', `/chat/file/${file_id}`)).status
    expect(await status()).toBe(404)
    const pair = await inlay.knowledge.pairs.create({ name: 'hers', isPublic: false, users: ['ana'] })
    await ingest(inlay, 'ana', [{ image_file_id: file_id }], pair.id)
    expect(await status()).toBe(404)
    await inlay.knowledge.pairs.update(pair.id, { isPublic: true })
    expect(await status()).toBe(200)
    await inlay.knowledge.remove('birds')
    expect(await status()).toBe(404)
  })

  test('is named by either id of the upload', async () => {
    const inlay = make()
    const { id } = await upload(inlay, 'ana')
    await ingest(inlay, 'ana', [{ text: 'The reeds.', image_file_id: id }])
    expect(await results(inlay, 'reeds')).toMatchObject([{ document: { file_id: id } }])
    expect((await ask(inlay, 'bob', `/chat/file/${id}`)).status).toBe(200)
  })

  test('stays while a document shows it, by whichever id, and goes with the document', async () => {
    const inlay = make()
    const held = await upload(inlay, 'ana')
    for (const name of [held.id, held.file_id]) {
      await ingest(inlay, 'ana', [{ text: 'The reeds.', image_file_id: name }])
      expect(await inlay.agent.files.remove(held.id, ana)).toMatchObject({ isInDocument: true })
      const answer = await remove(inlay, held.id)
      expect(answer).toEqual({ has_associations: true, project_names: [], assistant_names: [] })
      expect((await ask(inlay, 'bob', `/chat/file/${name}`)).status).toBe(200)
    }
    await inlay.knowledge.remove('birds')
    expect(await remove(inlay, held.id)).toMatchObject({ has_associations: false })
    expect((await ask(inlay, 'ana', `/chat/file/${held.file_id}`)).status).toBe(404)
  })

  test('is a 422 when it is unknown, somebody else’s, or no image', async () => {
    const inlay = make()
    const [foreign, notes] = [await upload(inlay, 'bob'), await upload(inlay, 'ana', false)]
    for (const id of [foreign.file_id, foreign.id, notes.file_id, 'unknown', crypto.randomUUID()]) {
      const response = await ingest(inlay, 'ana', [{ text: 'x' }, { text: 'y', image_file_id: id }])
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { detail: [{ loc: ['body', 'document', 'sections', '1', 'image_file_id'], type: 'value_error' }] },
      ])
    }
    expect(await inlay.knowledge.hasDocuments()).toBe(false)
  })

  test.each<[string, InlayOptions & { sees?: boolean }]>([
    ['a model that cannot see', { sees: false }],
    ['descriptions turned off', { describeImage: null }],
    ['the built-in model', { model: 'extractive' }],
  ])('leaves no trace in the text with %s', async (_, options) => {
    const inlay = make(options)
    const { file_id } = await upload(inlay, 'ana')
    await ingest(inlay, 'ana', [{ text: 'The reeds.', image_file_id: file_id }, { image_file_id: file_id }])
    expect(await results(inlay, 'reeds')).toMatchObject([{ content: 'The reeds.', document: { file_id } }])
    expect(await inlay.knowledge.status('birds')).toMatchObject({ chunkCount: 1 })
    expect(server.requests).toEqual([])
  })
})

describe('scans, with the language model as their reader', () => {
  const scan = { name: 'heron.png', bytes: new Uint8Array(png) }

  test('a picture becomes a document with the text that the model reads on it', async () => {
    const inlay = make({ ocr: 'model' })
    await inlay.start()
    await inlay.knowledge.ingestFile({ file: scan, id: 'heron' }, { waitMs: 60_000 })
    expect(await results(inlay, 'red heron')).toMatchObject([{ content: 'A red heron.' }])
    const request = JSON.stringify(server.requests[0]!.body)
    expect(request).toContain(Buffer.from(png).toString('base64'))
    expect(request).toMatch(/all text on this page exactly as it stands/)
  })

  test.each(['length', 'content_filter'])(
    'a text that ends with %s is not taken for the whole page',
    async (reason) => {
      await server.close()
      server = await startOpenAi(() => [{ text: 'A red' }, { end: reason }])
      const inlay = make({ ocr: 'model' })
      await inlay.start()
      await expect(inlay.knowledge.ingestFile({ file: scan })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('use OCR with tesseract'),
      })
    },
  )

  test('a model that takes no images is not asked: the file is refused with what to do', async () => {
    const inlay = make({ ocr: 'model', sees: false })
    await inlay.start()
    await expect(inlay.knowledge.ingestFile({ file: scan })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringMatching(/accepts no images: choose one that does, or OCR with tesseract/),
    })
    expect(server.requests).toHaveLength(0)
  })
})

test('documents are summed up by the model when asked for, for search alone', async () => {
  const sections = ['stripes', 'hooves'].map((word) => ({ text: `${word} ${'filler '.repeat(300)}` }))
  const plain = make()
  await ingest(plain, 'ana', sections)
  expect(await results(plain, 'zebras')).toEqual([])
  expect(server.requests).toEqual([])
  const summed = make({ summarize: 'model' })
  await ingest(summed, 'ana', sections)
  const passages = await results(summed, 'zebras')
  expect(passages.length).toBeGreaterThan(0)
  expect(JSON.stringify(passages)).not.toMatch(/zebras/i)
  const silent = make({ summarize: 'model', model: 'extractive' })
  await ingest(silent, 'ana', sections)
  expect(await results(silent, 'hooves')).not.toEqual([])
})
