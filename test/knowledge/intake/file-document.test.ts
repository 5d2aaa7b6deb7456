import { toFileRequest } from '@inlay/knowledge/internal/intake/file-document'
import { expect, test } from 'vitest'
import { cpuMsOf } from '../../cpu-time.ts'
import { makeKnowledge, startKnowledge } from '../setup.ts'

const file = { name: 'notes.txt', bytes: new Uint8Array([1]) }

test('without a reader a file is refused, and told why', async () => {
  const { knowledge } = await makeKnowledge()
  await expect(knowledge.ingestFile({ file })).rejects.toMatchObject({ code: 'UNSUPPORTED' })
})

test('sections keep their headings and their own links, and dates of the file are those of the document', async () => {
  const { knowledge } = await startKnowledge({
    readFile: async () => ({
      title: null,
      mediaType: 'text/plain',
      sections: [
        { text: 'zebras graze', heading: 'Animals', link: 'https://a.example/own' },
        { text: 'gates close', heading: 'Hours' },
      ],
      metadata: { author: 'Odile' },
      updatedAt: Date.UTC(2026, 0, 2),
    }),
  })
  await knowledge.ingestFile({ file, id: 'notes', link: 'https://a.example/notes' })
  await knowledge.whenIdle()
  const [zebras] = await knowledge.search({ text: 'zebras', limit: 1 })
  expect(zebras?.document).toMatchObject({ link: 'https://a.example/own', updated_at: '2026-01-02T00:00:00.000Z' })
  const [gates] = await knowledge.search({ text: 'gates', limit: 1 })
  expect(gates?.document.link).toBe('https://a.example/notes')
  expect(gates?.headings).toContain('Hours')
  await knowledge.close()
})

test('a file without a date has that of the disk, and a fresh checkout changes nothing', async () => {
  const facts: { createdAt?: number; text: string } = { text: 'zebras graze' }
  const { knowledge } = await startKnowledge({
    readFile: async () => ({
      title: null,
      mediaType: 'text/plain',
      sections: [{ text: facts.text }],
      metadata: {},
      createdAt: facts.createdAt,
    }),
  })
  const ingest = async (updatedAt: number): Promise<[boolean, string | null]> => {
    const { isUnchanged } = await knowledge.ingestFile({ file, id: 'notes', updatedAt })
    await knowledge.whenIdle()
    const [first] = await knowledge.search({ text: 'zebras' })
    return [isUnchanged, first!.document.updated_at]
  }
  expect(await ingest(Date.UTC(2024, 4, 5))).toEqual([false, '2024-05-05T00:00:00.000Z'])
  expect(await ingest(Date.UTC(2026, 0, 1))).toEqual([true, '2024-05-05T00:00:00.000Z'])
  facts.text = 'zebras graze at night'
  expect(await ingest(Date.UTC(2026, 1, 1))).toEqual([false, '2026-02-01T00:00:00.000Z'])
  facts.createdAt = Date.UTC(2020, 0, 1)
  expect(await ingest(Date.UTC(2026, 2, 1))).toEqual([false, '2020-01-01T00:00:00.000Z'])
  expect(await ingest(Date.UTC(2026, 3, 1))).toEqual([true, '2020-01-01T00:00:00.000Z'])
})

test.each([
  ['application/pdf', /like a scan: turn on OCR/],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', /only on pictures/],
  ['text/plain', /contains no text/],
])('a file of %s without text is refused, and told why', async (mediaType, message) => {
  const { knowledge } = await makeKnowledge({
    readFile: async () => ({ title: 'Contract', mediaType, sections: [], metadata: {} }),
  })
  const refusal = { code: 'INVALID_INPUT', data: { reason: 'no_text' }, message: expect.stringMatching(message) }
  await expect(knowledge.ingestFile({ file, id: 'scan' })).rejects.toMatchObject(refusal)
  await knowledge.close()
})

test.each([
  ['# Opening hours ##  \nAt nine.', 'Opening hours'],
  ['<a id="x"></a>\n## `Gates`\r\nClosed.', 'Gates'],
  ['# #', '#'],
  [`# Long${' '.repeat(4_900)}line${' '.repeat(4_900)}here`, `Long${' '.repeat(4_900)}line${' '.repeat(4_900)}here`],
])('%.20j names its document by its heading', async (text, title) => {
  const extracted = { title: null, mediaType: 'text/plain', sections: [{ text }], metadata: {} }
  const nameIt = (): void => expect(toFileRequest({ file }, extracted).document.semantic_identifier).toBe(title)
  expect(await cpuMsOf(nameIt)).toBeLessThan(5_000)
})

test('a long text of a file is stored as it is, without what cannot be stored', async () => {
  const [head, text] = ['# Opening hours\n\n', '😀 at nine\0\ud83d.\n'.repeat(120_000)]
  const { knowledge, db } = await makeKnowledge({
    readFile: async () => ({
      title: null,
      mediaType: 'text/plain',
      sections: [{ text: 'short' }, { text: head + text, heading: 'Hours' }],
      metadata: {},
    }),
  })
  expect(await knowledge.ingestFile({ file, id: 'hours' })).toMatchObject({ alreadyExisted: false })
  expect(await knowledge.ingestFile({ file, id: 'hours' })).toMatchObject({ isUnchanged: true })
  const parts = await db.selectFrom('inlay_content_parts').select('text').orderBy('position').execute()
  const stored = parts.map((part) => part.text).join('')
  expect(stored === `short${head}${text.replaceAll(/\0\ud83d\./g, '.')}`).toBe(true)
})
