import fc from 'fast-check'
import { toFile } from 'openai'
import { expect, test } from 'vitest'
import { apiKey, openAssistant } from './setting.ts'

const leave = (): Promise<File> => toFile(Buffer.from('# Leave\n\nEmployees get 25 days of leave a year.'), 'leave.md')

test('files are the uploads of the caller, page by page', async () => {
  const { client } = openAssistant()
  const ids: string[] = []
  for (const purpose of ['assistants', 'user_data', 'assistants'] as const)
    ids.push((await client.files.create({ file: await leave(), purpose })).id)
  expect((await client.files.waitForProcessing(ids[0]!, { pollInterval: 10 })).filename).toBe('leave.md')
  const listed: string[] = []
  for await (const { id } of client.files.list({ limit: 1, order: 'asc' })) listed.push(id)
  expect(listed.toSorted()).toEqual(ids.toSorted())
  expect((await client.files.list({ purpose: 'user_data' })).data.map(({ id }) => id)).toEqual([ids[1]])
  expect(await (await client.files.content(ids[0]!)).text()).toContain('25 days')
  await client.files.delete(ids[0]!)
  await expect(client.files.retrieve(ids[0]!)).rejects.toMatchObject({ status: 404 })
  for (const [given, param] of [
    [{ file: await toFile(Buffer.from(''), 'empty.txt'), purpose: 'assistants' }, 'file'],
    [{ file: await leave(), purpose: 'nonsense' as 'assistants' }, 'purpose'],
    [
      { file: await leave(), purpose: 'assistants', expires_after: { anchor: 'created_at', seconds: 3600 } },
      'expires_after',
    ],
  ] as const)
    await expect(client.files.create(given)).rejects.toMatchObject({ status: 400, param })
})

test('the fields of a form come in either order, and nothing hostile is a failure of the server', async () => {
  const { fetch } = openAssistant()
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://inlay.test/v1${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}` } })
  const form = new FormData()
  form.append('purpose', 'user_data')
  form.append('file', await leave())
  const answered: unknown = await ask('/files', { method: 'POST', body: form }).then((answer) => answer.json())
  expect(answered).toMatchObject({ purpose: 'user_data', filename: 'leave.md' })
  const long = new FormData()
  long.append('file', new File(['text'], `${'ä'.repeat(5_000)}.txt`))
  expect((await ask('/files', { method: 'POST', body: long })).status).toBeLessThan(500)
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (text) => {
      const word = encodeURIComponent(text)
      for (const path of [`/files/file-${word}`, `/files/${word}/content`, `/files?after=${word}&limit=${word}`])
        expect((await ask(path)).status, path).toBeLessThan(500)
    }),
    { numRuns: 30 },
  )
})
