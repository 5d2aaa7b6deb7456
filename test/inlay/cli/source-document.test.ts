import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReader, type Reader } from 'inlay/internal/cli/source-document'
import { markedImage, scannedPdf } from '../../drivers/files/scans.ts'
import { createPageFetch } from 'inlay/internal/cli/web-pages'

const folder = mkdtempSync(join(tmpdir(), 'inlay-source-document-'))
let reader: Reader
beforeAll(async () => {
  reader = await createReader({ baseUrl: 'https://wiki.example.com/docs', fetch: createPageFetch([]) })
})
afterAll(async () => {
  await reader.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

async function documentOf(from: Reader, source: Parameters<Reader['read']>[0]) {
  const request = await from.read(source)
  if (!request) throw new Error('The file was left out.')
  return request
}

test.each([
  ['a heading of the first level', '# Leave policy\n\nText.', 'Leave policy'],
  ['a heading of a lower level', '## `Leave` policy ##\n\nText.', 'Leave policy'],
  [
    'a heading after a comment and an anchor',
    '<!-- old names -->\n\n<a id="leave"></a>\n\n## Leave policy\n\nText.',
    'Leave policy',
  ],
  ['no heading before the text', 'Text.\n\n## Later', 'page.md'],
])('a file with %s is called by it', async (_, text, title) => {
  const path = join(folder, 'page.md')
  writeFileSync(path, text)
  const { document } = await documentOf(reader, { path, id: 'docs/page.md', below: 'a b/page.md' })
  expect(document.semantic_identifier).toBe(title)
  expect(document.sections[0]?.link).toBe('https://wiki.example.com/docs/a%20b/page.md')
  expect(document.metadata).toMatchObject({ path: 'a b/page.md' })
})

test.each([
  ['when the file was changed', 'Text.', '2023-04-05T00:00:00.000Z'],
  ['the date in its front matter', '---\ndate: 2021-02-03\n---\nText.', '2021-02-03T00:00:00.000Z'],
  ['when it says it was updated', '---\ndate: 2021-02-03\nupdated: 2022-03-04\n---\nText.', '2022-03-04T00:00:00.000Z'],
])('a document is dated by %s', async (_, text, date) => {
  const path = join(folder, 'dated.md')
  writeFileSync(path, text)
  utimesSync(path, new Date(), new Date('2023-04-05T00:00:00Z'))
  const { document } = await documentOf(reader, { path, id: 'docs/dated.md', below: 'dated.md' })
  expect(document.doc_updated_at).toBe(date)
})

test('a scan is refused with what to do, and read with a reader of images', async () => {
  const path = join(folder, 'scan.pdf')
  writeFileSync(path, scannedPdf([{ image: markedImage() }]))
  const source = { path, id: 'docs/scan.pdf', below: 'scan.pdf' }
  await expect(reader.read(source)).rejects.toMatchObject({
    data: { reason: 'no_text' },
    message: expect.stringContaining('INLAY_OCR'),
  })
  let isClosed = false
  const ocr = { read: async () => 'Read by OCR.', close: async () => void (isClosed = true) }
  const seeing = await createReader({ fetch: createPageFetch([]), ocr })
  expect((await documentOf(seeing, source)).document.sections).toMatchObject([{ text: 'Read by OCR.' }])
  await seeing.close()
  expect(isClosed).toBe(true)
})

test('a base URL that is none is refused', async () => {
  await expect(createReader({ baseUrl: 'wiki', fetch: createPageFetch([]) })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  })
})
