import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { utf8, zip } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const content = (body: string, styles = ''): string =>
  `<?xml version="1.0"?><office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`
const file = (kind: string, body: string, more: Record<string, string> = {}): Uint8Array =>
  zip({ mimetype: `application/vnd.oasis.opendocument.${kind}`, 'content.xml': body, ...more })
const read = async (bytes: Uint8Array, name = 'a.odt') => extract({ name, bytes })
const textOf = async (bytes: Uint8Array): Promise<string> =>
  (await read(bytes)).sections.map(({ heading, text }) => (heading ? `[${heading}]\n${text}` : text)).join('\n\n')

describe('OpenDocument texts', () => {
  test('keep headings, lists, tables, links, notes and comments', async () => {
    const body = content(
      `<office:text><text:table-of-content><text:p>Tides 1</text:p></text:table-of-content>
      <text:tracked-changes><text:changed-region><text:deletion><text:p>old words</text:p></text:deletion></text:changed-region></text:tracked-changes>
      <text:h text:outline-level="2">Tides</text:h>
      <text:p>High<text:s text:c="2"/>water<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>At noon.</text:p></text:note-body></text:note>, see <text:a xlink:href="https://example.com/x">here</text:a><office:annotation><dc:creator>Ann</dc:creator><dc:date>2026-01-01</dc:date><text:p>Check this.</text:p></office:annotation>.</text:p>
      <text:list text:style-name="N"><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>
      <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Port</text:p></table:table-cell><table:table-cell><text:p>Height</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>Brest</text:p></table:table-cell><table:table-cell><text:p>7 m</text:p></table:table-cell></table:table-row></table:table>
      </office:text>`,
      '<text:list-style style:name="N"><text:list-level-style-number/></text:list-style>',
    )
    const meta =
      '<office:document-meta><office:meta><dc:title>Of tides</dc:title><meta:initial-creator>Bo</meta:initial-creator><dc:date>2026-02-03T00:00:00Z</dc:date></office:meta></office:document-meta>'
    const reading = await read(file('text', body, { 'meta.xml': meta }))
    expect(reading).toMatchObject({
      title: 'Of tides',
      mediaType: 'application/vnd.oasis.opendocument.text',
      metadata: { author: 'Bo' },
      updatedAt: Date.UTC(2026, 1, 3),
    })
    expect(reading.sections[0]!.text).toBe(
      '## Tides\n\nHigh water (At noon.), see [here](https://example.com/x) (Comment by Ann: Check this.).\n\n1. one\n2. two\n\n| Port | Height |\n| --- | --- |\n| Brest | 7 m |',
    )
  })

  const formula = (before: string, annotation = ''): string =>
    `<?xml version="1.0"?>${before}<math:math><math:semantics><math:mrow><math:mi>E</math:mi><math:mo>=</math:mo><math:mi>m</math:mi></math:mrow>${annotation}</math:semantics></math:math>`
  const withFormula = (part: string): Uint8Array =>
    file(
      'text',
      content(
        '<office:text><text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> holds.</text:p></office:text>',
      ),
      { 'Object 1/content.xml': part },
    )
  const doctype = '<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD Modified W3C MathML 1.01//EN" "math.dtd">'

  test('keep formulas in their sentences, also those of old programs, which name a document type', async () => {
    expect(await textOf(withFormula(formula(doctype)))).toBe('So E=m holds.')
    const typed = '<math:annotation math:encoding="StarMath 5.0">E = m</math:annotation>'
    expect(await textOf(withFormula(formula(doctype, typed)))).toBe('So E = m holds.')
  })

  test('are read without a formula that declares entities, which is named', async () => {
    const reading = await read(withFormula(formula('<!DOCTYPE m [<!ENTITY l "ha">]>')))
    expect(reading).toMatchObject({
      sections: [{ text: 'So holds.' }],
      metadata: { unreadable_parts: 'Object 1/content.xml' },
    })
  })

  test('a merged head of a table stands over each of its columns', async () => {
    const cell = (text: string, spans = ''): string =>
      `<table:table-cell ${spans}><text:p>${text}</text:p></table:table-cell>`
    const rows =
      `<table:table-row>${cell('Region')}${cell('Sales', 'table:number-columns-spanned="2"')}<table:covered-table-cell/></table:table-row>` +
      `<table:table-row>${cell('')}${cell('2023')}${cell('2024')}</table:table-row>`
    expect(await textOf(file('text', content(`<office:text><table:table>${rows}</table:table></office:text>`)))).toBe(
      '| Region | Sales | Sales |\n| --- | --- | --- |\n|  | 2023 | 2024 |',
    )
  })

  test('with a password or without content are refused with the reason', async () => {
    const locked = file('text', '\u0001', { 'META-INF/manifest.xml': '<m><manifest:encryption-data/></m>' })
    await expect(read(locked)).rejects.toMatchObject({ data: { reason: 'encrypted' } })
    await expect(read(file('text', '<office:document-content/>'))).rejects.toMatchObject({ data: { reason: 'broken' } })
  })
})

test('OpenDocument spreadsheets show values as displayed, without hidden sheets', async () => {
  const cell = (text: string, attributes = ''): string =>
    `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`
  const body = content(
    `<office:spreadsheet><table:table table:name="Prices"><table:table-row>${cell('Item')}${cell('2026', 'table:number-columns-spanned="2"')}<table:covered-table-cell/></table:table-row>
    <table:table-row>${cell('')}${cell('Q1')}${cell('Q2')}</table:table-row>
    <table:table-row>${cell('Rope')}${cell('€ 4.20', 'office:value="4.2"')}${cell('€ 5.00')}</table:table-row>
    <table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
    <table:table table:name="Secret" table:style-name="h"><table:table-row>${cell('no')}</table:table-row></table:table></office:spreadsheet>`,
    '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>',
  )
  expect(await textOf(file('spreadsheet', body))).toBe(
    '[Prices]\n| Item | 2026 Q1 | 2026 Q2 |\n| --- | --- | --- |\n| Rope | € 4.20 | € 5.00 |',
  )
})

test('OpenDocument presentations keep titles, notes and the data of charts', async () => {
  const body =
    content(`<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Catch</text:p></draw:text-box></draw:frame>
    <draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="x.png"/></draw:frame>
    <presentation:notes><draw:frame><draw:text-box><text:p>Say it slowly.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page></office:presentation>`)
  const chart = content(
    '<office:chart><chart:chart><chart:title><text:p>By year</text:p></chart:title><table:table><table:table-rows><table:table-row><table:table-cell><text:p>2025</text:p></table:table-cell><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table-rows></table:table></chart:chart></office:chart>',
  )
  const reading = await read(file('presentation', body, { 'Object 1/content.xml': chart }), 'a.odp')
  expect(reading).toMatchObject({ title: 'Catch' })
  expect(reading.sections).toMatchObject([
    { heading: 'Catch', page: 1, text: 'By year\n\n| 2025 | 12 |\n| --- | --- |\n\nNotes: Say it slowly.' },
  ])
})

describe('Rich Text', () => {
  const rtf = (body: string): Uint8Array =>
    utf8(
      `{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset204 Arial Cyr;}}{\\colortbl;\\red0;}{\\stylesheet{\\s0 Normal;}{\\s1 heading 1;}{\\*\\cs2 heading 3 Char;}}{\\info{\\title Of tides}{\\author Bo}}{\\header Page 1}${body}}`,
    )

  test('keeps headings, tables, links and notes, and drops headers, hidden and deleted text', async () => {
    const reading = await read(
      rtf(
        `\\pard\\s1 Tides\\par\\pard\\plain High {\\b water}{\\footnote At noon.}, see {\\field{\\*\\fldinst{HYPERLINK "https://example.com/x"}}{\\fldrslt{\\ul he}{re}}}{\\v hidden}{\\deleted gone}.\\par
\\trowd\\intbl Port\\cell Height\\cell\\row\\trowd\\intbl Brest\\cell 7 m\\cell\\row\\pard After.\\par{\\pict 0102ff}`,
      ),
      'a.rtf',
    )
    expect(reading).toMatchObject({
      title: 'Of tides',
      metadata: { author: 'Bo' },
      mediaType: 'application/rtf',
    })
    expect(reading.sections[0]!.text).toBe(
      '# Tides\n\nHigh water (At noon.), see [here](https://example.com/x).\n\n| Port | Height |\n| --- | --- |\n| Brest | 7 m |\n\nAfter.',
    )
  })

  test('reads letters of code pages and of Unicode', async () => {
    expect(await textOf(rtf("caf\\'e9 {\\f1 \\'ec\\'e8\\'f0} \\u8364? {\\uc0\\u-10179\\u-8704} 5\\~%\\par"))).toBe(
      'café мир € 😀 5 %',
    )
  })

  test('that is cut off or nested without end is read as far as it goes', async () => {
    expect(await textOf(utf8('{\\rtf1 begun {\\b and'))).toBe('begun and')
    expect(await textOf(utf8(`{\\rtf1 ${'{'.repeat(100_000)}deep`))).toBe('deep')
  })
})
