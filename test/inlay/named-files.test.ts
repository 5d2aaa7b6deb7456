import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, operator, type Inlay } from 'inlay'
import { afterAll, beforeAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'inlay-named-files-'))
const key = 'the-key-of-the-test'
let inlay: Inlay
beforeAll(async () => {
  inlay = createInlay({ dataFolder: folder, apiKey: key, worker: { lingerMs: 1 }, onError: () => {} })
  await inlay.start()
})
afterAll(async () => {
  await inlay.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const request = (path: string, by = key): Request =>
  new Request(`http://host.example/api${path}`, { headers: { authorization: `Bearer ${by}` } })

async function call(path: string, body?: FormData | object): Promise<{ status: number; json: unknown }> {
  const headers = { authorization: `Bearer ${key}`, prefer: 'wait=60' }
  const init =
    body === undefined
      ? { headers }
      : { method: 'POST', headers, body: body instanceof FormData ? body : JSON.stringify(body) }
  const response = await inlay.fetch(new Request(`http://host.example/api${path}`, init))
  return { status: response.status, json: await response.json() }
}

async function upload(name: string, text: string): Promise<string> {
  const form = new FormData()
  form.append('files', new File([text], name, { type: 'text/csv' }))
  const { json } = await call('/user/file/upload', form)
  return (json as { user_files: { file_id: string }[] }).user_files[0]!.file_id
}

const ingest = (fields: object): ReturnType<typeof call> =>
  call('/service-api/ingestion', {
    document: { id: 'animals', semantic_identifier: 'Animals', source: 'file', metadata: {}, ...fields },
  })

test('an uploaded table is indexed row by row, each chunk with its header', async () => {
  const rows = Array.from({ length: 300 }, (_, at) => `animal${at},enclosure ${at},keeper ${at % 7}`)
  const id = await upload('animals.csv', `Species,Enclosure,Keeper\n${rows.join('\n')}\n`)
  const sections = [{ type: 'tabular', csv_file_id: id, link: 'https://zoo.example/animals.csv', heading: 'Animals' }]
  expect(await ingest({ sections })).toMatchObject({ status: 200 })
  const { json: state } = await call('/service-api/ingestion/animals')
  expect(state).toMatchObject({ state: 'indexed' })
  expect((state as { chunk_count: number }).chunk_count).toBeGreaterThan(3)
  const [best] = await inlay.knowledge.search({ text: 'animal250', limit: 1 })
  expect(best?.content).toContain('| animal250 | enclosure 250 | keeper 5 |')
  expect(best?.content).toMatch(/^\| ?Species ?\| ?Enclosure ?\| ?Keeper ?\|/)
  expect(best?.document.link).toBe('https://zoo.example/animals.csv')
})

test.each([
  ['a table', { sections: [{ csv_file_id: 'no such file', link: 'l' }] }, ['sections', '0', 'csv_file_id']],
  ['the raw file', { sections: [{ text: 'x' }], file_id: 'no such file' }, ['file_id']],
])('a document that names an unknown file as %s is refused', async (_, fields, loc) => {
  const { status, json } = await ingest({ id: 'other', ...fields })
  expect(status).toBe(422)
  expect(json).toMatchObject({ detail: [{ loc: ['body', 'document', ...loc], type: 'value_error' }] })
  expect((await call('/service-api/ingestion/other')).status).toBe(404)
})

test('the raw file of a document that exists is taken and shown', async () => {
  const id = await upload('raw.csv', 'a,b\n1,2\n')
  expect(await ingest({ id: 'raw', sections: [{ text: 'the okapi report' }], file_id: id })).toMatchObject({
    status: 200,
  })
  const [best] = await inlay.knowledge.search({ text: 'okapi report', limit: 1 })
  expect(best?.document.file_id).toBe(id)
})

test.each([
  ['a table', (id: string) => ({ sections: [{ csv_file_id: id, link: 'l' }] })],
  ['the raw file', (id: string) => ({ sections: [{ text: 'x' }], file_id: id })],
])('a file that a document names as %s stays while the document does, for its owner alone', async (_, fieldsOf) => {
  const id = await upload('held.csv', 'a,b\n1,2\n')
  await ingest({ id: 'holder', ...fieldsOf(id) })
  const [file] = await inlay.agent.files.find([id], operator)
  const remove = () => inlay.agent.files.remove(file!.id, operator)
  expect(await remove()).toEqual({ projects: [], personas: [], isInDocument: true })
  expect((await inlay.fetch(request(`/chat/file/${id}`))).status).toBe(200)
  const other = await inlay.keys.create({ name: 'other', scopes: ['chat'] })
  expect((await inlay.fetch(request(`/chat/file/${id}`, other.key))).status).toBe(404)
  await inlay.knowledge.remove('holder')
  expect(await remove()).toMatchObject({ isInDocument: false })
})
