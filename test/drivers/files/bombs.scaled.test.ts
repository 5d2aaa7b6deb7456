import { deflateSync } from 'node:zlib'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { docx, forgedZip, latin1, paragraph, pdf, pdfStream, relations, utf8, xlsx, zip } from './samples.ts'
import { cases } from '../../cases.ts'

/** Runs with the full tests alone. */
const atLength = cases(test.skip, test)

const megabyte = 1_000_000
const maxMemoryBytes = 300 * 1_048_576
const extract = fileExtractor({ timeoutMs: 60_000, maxMemoryBytes })
const hasty = fileExtractor({ timeoutMs: 10_000, maxMemoryBytes })
afterAll(() => Promise.all([extract.close(), hasty.close()]))

const reasonOf = (name: string, bytes: Uint8Array, read = extract): Promise<string> =>
  read({ name, bytes }).then(
    () => 'read',
    (error: { code: string; data: { reason: string } }) => `${error.code} ${error.data.reason}`,
  )

afterEach(async () => {
  expect((await extract({ name: 'a.docx', bytes: docx(paragraph('next')) })).sections).toMatchObject([{ text: 'next' }])
})

const wordParts = (document: Uint8Array, toldBytes?: number): Parameters<typeof forgedZip>[0] => [
  { name: '_rels/.rels', content: utf8(relations([{ id: 'r', type: 'officeDocument', target: 'word/document.xml' }])) },
  { name: 'word/document.xml', content: document, toldBytes },
]

describe('zip bombs', () => {
  test('a part packed a thousandfold is refused before it is unpacked', async () => {
    expect(await reasonOf('a.docx', forgedZip(wordParts(new Uint8Array(50 * megabyte))))).toBe('PAYLOAD_TOO_LARGE bomb')
  })

  test('a part that is larger than its directory tells is refused when it reaches that size', async () => {
    expect(await reasonOf('a.docx', forgedZip(wordParts(new Uint8Array(50 * megabyte), 1000)))).toBe(
      'INVALID_INPUT broken',
    )
  })

  test('parts that only together are too large are refused', async () => {
    const small = fileExtractor({ maxUnpackedBytes: megabyte })
    const rows = Array.from({ length: 8 }, (_, sheet) => [
      `S${sheet}`,
      `<row><c t="str"><v>${String(sheet).repeat(200_000)}</v></c></row>`,
    ])
    await expect(small({ name: 'a.xlsx', bytes: xlsx(Object.fromEntries(rows)) })).rejects.toMatchObject({
      data: { reason: 'too_large' },
    })
    await small.close()
  })

  test('an archive inside a document is never opened', async () => {
    const inner = zip({ 'a.zip': zip({ 'b.txt': new Uint8Array(20 * megabyte) }) })
    expect(await reasonOf('a.docx', docx(paragraph('x'), { parts: { 'word/embeddings/a.zip': inner } }))).toBe('read')
    expect(await reasonOf('a.zip', inner)).toBe('INVALID_INPUT unsupported')
  })
})

describe('repeated cells', () => {
  const sheet = (rows: string): Uint8Array =>
    zip({
      mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
      'content.xml': `<?xml version="1.0"?><office:document-content><office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
    })
  const cell = (text: string): string => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`

  test('a row that repeats its text counts each time', async () => {
    const row = `<table:table-row table:number-rows-repeated="1000">${cell('heron '.repeat(500_000))}${cell('b')}</table:table-row>`
    expect(await reasonOf('a.ods', sheet(row))).toBe('PAYLOAD_TOO_LARGE too_large')
  })
})

describe('XML bombs', () => {
  const laughs = Array.from({ length: 9 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`)
  const doctype = `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs.join('')}]>`

  test.each(['word/document.xml', 'word/styles.xml'])('a billion laughs in %s are refused', async (part) => {
    const bytes = docx(paragraph('x'), {
      parts: { [part]: `<?xml version="1.0"?>${doctype}<w:x>&l9;</w:x>` },
      relations: [{ id: 's', type: 'styles', target: 'styles.xml' }],
    })
    expect(await reasonOf('a.docx', bytes)).toBe('PAYLOAD_TOO_LARGE bomb')
  })

  test('also in UTF-16', async () => {
    const text = Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${doctype}<x>&l9;</x>`, 'utf16le')
    expect(await reasonOf('a.docx', docx('', { parts: { 'word/document.xml': text } }))).toBe('PAYLOAD_TOO_LARGE bomb')
  })

  test('in a page or a text they are just not expanded', async () => {
    const file = await extract({
      name: 'a.xhtml',
      bytes: utf8(
        `<?xml version="1.0"?>${doctype.replace('<!DOCTYPE x', '<!DOCTYPE html')}<html><body>&l9;</body></html>`,
      ),
    })
    expect(file.sections.map(({ text }) => text.length).every((length) => length < 1000)).toBe(true)
  })

  test('aliases of front matter do not multiply', async () => {
    const lines = Array.from(
      { length: 12 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level}, `.repeat(9)}*a${level}]`,
    )
    expect(await reasonOf('a.md', utf8(`---\na0: &a0 lol\n${lines.join('\n')}\n---\nbody`))).toBe('read')
  })
})

describe('what a small file can unfold to', () => {
  atLength('a PDF page packed twice, a million to one, meets a limit', async () => {
    const packed = deflateSync(deflateSync(Buffer.alloc(500 * megabyte, ' ')))
    const page = pdfStream(packed, '/Filter[/FlateDecode/FlateDecode]')
    const bytes = pdf([''], { objects: [page] })
    // The page's content is the appended object.
    const forged = latin1(Buffer.from(bytes).toString('latin1').replace('/Contents 7 0 R', '/Contents 8 0 R'))
    expect(forged.length).toBeLessThan(megabyte)
    expect(await reasonOf('a.pdf', forged, hasty)).toMatch(/^PAYLOAD_TOO_LARGE (?:out_of_memory|too_slow)$/)
  })

  test('one long text in a hundred thousand cells meets the limit of text', async () => {
    const cells = '<row><c t="s"><v>0</v></c></row>'.repeat(100_000)
    const bytes = xlsx({ S: cells }, { strings: `<si><t>${'x'.repeat(30_000)}</t></si>` })
    expect(await reasonOf('a.xlsx', bytes)).toBe('PAYLOAD_TOO_LARGE too_large')
  })

  test('cells in the last of all columns cost no more than others', async () => {
    const bytes = xlsx({ S: '<row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>'.repeat(20_000) })
    expect((await extract({ name: 'a.xlsx', bytes })).sections[0]?.text).toMatch(
      /^\| 1 \| 2 \|\n\| --- \| --- \|\n\| 1 \| 2 \|\n/,
    )
  })

  test('a diagonal of cells does not fill the memory with gaps', async () => {
    const letters = (column: number): string =>
      column < 0 ? '' : letters(Math.floor(column / 26) - 1) + String.fromCharCode(65 + (column % 26))
    const rows = Array.from({ length: 16_000 }, (_, column) => `<row><c r="${letters(column)}1"><v>1</v></c></row>`)
    expect(await reasonOf('a.xlsx', xlsx({ S: `<row><c><v>1</v></c><c><v>1</v></c></row>${rows.join('')}` }))).toBe(
      'PAYLOAD_TOO_LARGE too_large',
    )
  })

  test('spans of a table do not multiply its text', async () => {
    const head = `<tr>${`<td rowspan=1000>${'x'.repeat(200)}`.repeat(2000)}`
    const file = await extract({
      name: 'a.html',
      bytes: utf8(`<!doctype html><table>${head}${'<tr><td>y'.repeat(1000)}</table>`),
    })
    expect(file.sections[0]!.text.length).toBeLessThan(20 * megabyte)
    expect(await reasonOf('a.html', utf8('<!doctype html><table><tr><td colspan=1000000000>a<td>b</table>'))).toBe(
      'read',
    )
  })
})

describe('nesting without end', () => {
  test.each([
    ['elements', '<div>'],
    ['lists', '<ul><li>'],
    ['quotations', '<blockquote>'],
    ['emphasis', '<b><i>'],
    ['tables', '<table><tr><td>'],
  ])('%s: thousands are read, beyond that a reason is told', async (_, open) => {
    const { sections } = await extract({ name: 'a.html', bytes: utf8(`<!doctype html><body>${open.repeat(5000)}deep`) })
    expect(sections[0]?.text).toContain('deep')
    expect(await reasonOf('a.html', utf8(`<!doctype html><body>${open.repeat(50_000)}deep`))).toBe(
      'INVALID_INPUT broken',
    )
  })

  test('of a Word document: a reason is told', async () => {
    const depth = 50_000
    const body = `${'<w:sdt><w:sdtContent>'.repeat(depth)}${paragraph('deep')}${'</w:sdtContent></w:sdt>'.repeat(depth)}`
    expect(await reasonOf('a.docx', docx(body))).toBe('INVALID_INPUT broken')
  })
})
