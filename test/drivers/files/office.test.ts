import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { docx, paragraph, pptx, shape, slideLine, wordPart, xlsx, zip } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const wordText = async (...file: Parameters<typeof docx>): Promise<string> =>
  (await extract({ name: 'a.docx', bytes: docx(...file) })).sections.map(({ text }) => text).join('\n\n')

describe('Word documents', () => {
  test('a link that leads nowhere does not fail the document', async () => {
    const link = '<w:p><w:hyperlink r:id="none" w:history="1"><w:r><w:t>The rules</w:t></w:r></w:hyperlink></w:p>'
    const { sections } = await extract({ name: 'a.docx', bytes: docx(link + paragraph('hold.')) })
    expect(sections[0]?.text).toBe('The rules\n\nhold.')
  })

  test('headings, paragraphs and emphasis', async () => {
    const run =
      '<w:p><w:r><w:t xml:space="preserve">plain </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r></w:p>'
    const file = await extract({
      name: 'a.docx',
      bytes: docx(paragraph('Leave', 'Heading1') + run + paragraph('Days', 'Heading2')),
    })
    expect(file.mediaType).toMatch(/wordprocessingml/)
    expect(file.sections).toMatchObject([{ text: '# Leave\n\nplain **bold**\n\n## Days' }])
  })

  test('headings of an organisation are told by their outline level, also inherited', async () => {
    const styles = wordPart(
      'styles',
      `<w:style w:type="paragraph" w:styleId="AcmeTop"><w:name w:val="Acme Top"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
       <w:style w:type="paragraph" w:styleId="AcmeRed"><w:name w:val="Acme Red"/><w:basedOn w:val="AcmeTop"/></w:style>
       <w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>`,
    )
    const body =
      paragraph('One', 'AcmeTop') + paragraph('Two', 'AcmeRed') + paragraph('a = 1', 'Code') + paragraph('  b', 'Code')
    const text = await wordText(body, {
      parts: { 'word/styles.xml': styles },
      relations: [{ id: 's', type: 'styles', target: 'styles.xml' }],
    })
    expect(text).toBe('# One\n\n# Two\n\n```\na = 1\n  b\n```')
  })

  test('lists by their numbering, with levels', async () => {
    const level = (number: number, format: string): string =>
      `<w:lvl w:ilvl="${number}"><w:numFmt w:val="${format}"/></w:lvl>`
    const numbering = wordPart(
      'numbering',
      `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal')}${level(1, 'bullet')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`,
    )
    const item = (text: string, depth: number): string =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
    const text = await wordText(item('one', 0) + item('inner', 1) + item('two', 0), {
      parts: { 'word/numbering.xml': numbering },
      relations: [{ id: 'n', type: 'numbering', target: 'numbering.xml' }],
    })
    expect(text).toBe('1. one\n   - inner\n2. two')
  })

  test('tables, with cells that span rows', async () => {
    const cell = (text: string, properties = ''): string =>
      `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`
    const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`
    const table = `<w:tbl>${row(cell('Team'), cell('Name'))}${row(cell('Red', '<w:vMerge w:val="restart"/>'), cell('Ann | A'))}${row(cell('', '<w:vMerge/>'), cell('Bob'))}</w:tbl>`
    expect(await wordText(table)).toBe('| Team | Name |\n| --- | --- |\n| Red | Ann \\| A |\n| Red | Bob |')
  })

  test('a title in the first row of a table, merged over its columns, stands above it', async () => {
    const cell = (text: string, span = ''): string => `<w:tc><w:tcPr>${span}</w:tcPr>${paragraph(text)}</w:tc>`
    const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`
    const body = `<w:tbl>${row(cell('Rates', '<w:gridSpan w:val="2"/>'))}${row(cell('Country'), cell('Day'))}${row(cell('Norway'), cell('40'))}</w:tbl>`
    expect((await extract({ name: 'a.docx', bytes: docx(body) })).sections[0]?.text).toBe(
      'Rates\n\n| Country | Day |\n| --- | --- |\n| Norway | 40 |',
    )
  })

  test('hidden text is left out', async () => {
    const run = (text: string, properties: string): string =>
      `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
    const body = `<w:p>${run('Seen, ', '<w:b/>')}${run('secret, ', '<w:vanish/>')}${run('shown again.', '<w:vanish w:val="0"/>')}</w:p>`
    expect((await extract({ name: 'a.docx', bytes: docx(body) })).sections[0]?.text).toBe('**Seen,** shown again.')
  })

  test('text is not hidden by what it was before a tracked change', async () => {
    const change = (now: string, before: string): string =>
      `<w:r><w:rPr>${now}<w:rPrChange w:id="1" w:author="A"><w:rPr>${before}</w:rPr></w:rPrChange></w:rPr><w:t xml:space="preserve">`
    const body = `<w:p>${change('<w:b/>', '<w:vanish/>')}Shown. </w:t></w:r>${change('<w:vanish/>', '<w:b/>')}Hidden.</w:t></w:r></w:p>`
    expect((await extract({ name: 'a.docx', bytes: docx(body) })).sections[0]?.text).toBe('**Shown.**')
  })

  test('comments of reviewers, with the place they stand at', async () => {
    const body = `<w:p><w:r><w:t>Pay by Friday</w:t></w:r><w:r><w:commentReference w:id="1"/></w:r></w:p>`
    const comment = `<w:comment w:id="1" w:author="Ann Lee" w:initials="AL">${paragraph('Monday is a holiday.')}</w:comment>`
    const text = await wordText(body, {
      parts: { 'word/comments.xml': wordPart('comments', comment) },
      relations: [{ id: 'c', type: 'comments', target: 'comments.xml' }],
    })
    expect(text).toBe('Pay by Friday[AL1]\n\n- **Comment [AL1]**: Monday is a holiday.')
  })

  test('links, footnotes, and only the newest state of tracked changes', async () => {
    const body = `<w:p><w:hyperlink r:id="l"><w:r><w:t>rules</w:t></w:r></w:hyperlink><w:del><w:r><w:delText> old</w:delText></w:r></w:del><w:ins><w:r><w:t xml:space="preserve"> new</w:t></w:r></w:ins><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`
    const text = await wordText(body, {
      parts: {
        'word/footnotes.xml': wordPart('footnotes', `<w:footnote w:id="2">${paragraph('See the law.')}</w:footnote>`),
      },
      relations: [
        { id: 'l', type: 'hyperlink', target: 'https://x.org/rules', outside: true },
        { id: 'f', type: 'footnotes', target: 'footnotes.xml' },
      ],
    })
    expect(text).toMatch(/^\[rules\]\(https:\/\/x\.org\/rules\) new\[1\]\n\n1\. See the law\.$/)
  })

  test('notes, links and pictures that the file does not contain are left out, and missing notes are counted', async () => {
    const reference = (kind: string, id: number): string => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`
    const notes =
      reference('footnote', 2) + reference('footnote', 9) + reference('endnote', 1) + reference('comment', 4)
    const picture =
      '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="P"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:embed="gone"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    const bytes = docx(`<w:p><w:r><w:t>Pay by Friday</w:t></w:r>${notes}${picture}</w:p>${paragraph('or later.')}`, {
      parts: {
        'word/footnotes.xml': wordPart('footnotes', `<w:footnote w:id="2">${paragraph('See the law.')}</w:footnote>`),
      },
      relations: [{ id: 'f', type: 'footnotes', target: 'footnotes.xml' }],
    })
    const { sections, metadata } = await extract({ name: 'a.docx', bytes })
    expect(sections.map(({ text }) => text)).toEqual(['Pay by Friday[1]\n\nor later.\n\n1. See the law.'])
    expect(metadata).toEqual({ missing_notes: '3' })
  })

  test('title, author, keywords and dates', async () => {
    const core =
      '<dc:title>Leave</dc:title><dc:creator>Ann;Bob</dc:creator><cp:lastModifiedBy>Cy</cp:lastModifiedBy><cp:keywords>a, b</cp:keywords><dcterms:created xsi:type="dcterms:W3CDTF">2024-01-02T03:04:05Z</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">2024-02-03T00:00:00Z</dcterms:modified>'
    expect(await extract({ name: 'a.docx', bytes: docx(paragraph('x'), { core }) })).toMatchObject({
      title: 'Leave',
      metadata: { author: ['Ann', 'Bob'], last_modified_by: 'Cy', keywords: ['a', 'b'] },
      createdAt: Date.UTC(2024, 0, 2, 3, 4, 5),
      updatedAt: Date.UTC(2024, 1, 3),
    })
  })

  test('pictures are counted, their description is text, and they are not unpacked', async () => {
    const picture =
      '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="P" descr="A red door"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:embed="i"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
    const file = await extract({
      name: 'a.docx',
      bytes: docx(picture + paragraph('x'), {
        parts: { 'word/media/image1.png': new Uint8Array(12_000_000) },
        relations: [{ id: 'i', type: 'image', target: 'media/image1.png' }],
      }),
    })
    expect(file).toMatchObject({ sections: [{ text: 'A red door\n\nx' }] })
  })
})

describe('presentations', () => {
  test('each slide is a section in the order of the show, named by its title', async () => {
    const bytes = pptx([
      { tree: shape(slideLine('Leave'), 'ctrTitle') + shape(slideLine('Rules of 2024'), 'subTitle') },
      {
        tree:
          shape(slideLine('Days'), 'title') +
          shape(slideLine('Thirty') + slideLine('whole days', '<a:pPr lvl="1"/>'), 'body') +
          shape(slideLine('2'), 'sldNum'),
        notes: 'Say it slowly.',
      },
    ])
    const file = await extract({ name: 'a.pptx', bytes })
    expect(file.title).toBe('Leave')
    expect(file.sections).toMatchObject([
      { heading: 'Leave', page: 1, text: '- Rules of 2024' },
      { heading: 'Days', page: 2, text: '- Thirty\n  - whole days\n\nNotes: Say it slowly.' },
    ])
  })

  test('tables, groups, links and free text boxes', async () => {
    const cell = (text: string): string => `<a:tc><a:txBody>${slideLine(text)}</a:txBody></a:tc>`
    const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>${cell('A')}${cell('B')}</a:tr><a:tr>${cell('1')}${cell('2')}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
    const link = '<a:p><a:r><a:rPr><a:hlinkClick r:id="rIdL"/></a:rPr><a:t>site</a:t></a:r></a:p>'
    const bytes = pptx([
      {
        tree: `<p:grpSp>${shape(slideLine('in a group'))}</p:grpSp>${shape(link)}${table}`,
        links: { rIdL: 'https://x.org/' },
      },
    ])
    expect((await extract({ name: 'a.pptx', bytes })).sections[0]?.text).toBe(
      'in a group\n\n[site](https://x.org/)\n\n| A | B |\n| --- | --- |\n| 1 | 2 |',
    )
  })

  test('the data of a chart is a table under its title', async () => {
    const point = (at: number, value: string): string => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`
    const series = (name: string, values: readonly string[]): string =>
      `<c:ser><c:tx><c:strRef><c:strCache>${point(0, name)}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>${point(0, 'Oslo')}${point(1, 'Bergen')}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>${values.map((value, at) => point(at, value)).join('')}</c:numCache></c:numRef></c:val></c:ser>`
    const chart = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Visitors</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>${series('2025', ['120', '80'])}${series('2026', ['140.10000000000002', '90'])}</c:barChart></c:plotArea></c:chart></c:chartSpace>`
    const bytes = pptx([{ tree: shape(slideLine('Museum'), 'title'), chart }])
    const [slide] = (await extract({ name: 'a.pptx', bytes })).sections
    expect(slide).toMatchObject({ heading: 'Museum' })
    expect(slide!.text).toBe(
      'Chart: Visitors\n\n|  | 2025 | 2026 |\n| --- | --- | --- |\n| Oslo | 120 | 140.1 |\n| Bergen | 80 | 90 |',
    )
  })

  test('the values of a chart are written as they are shown', async () => {
    const series =
      '<c:ser><c:val><c:numRef><c:numCache><c:formatCode>0.0%</c:formatCode><c:pt idx="0"><c:v>0.125</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>'
    const chart = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea><c:barChart>${series}</c:barChart></c:plotArea></c:chart></c:chartSpace>`
    const [slide] = (await extract({ name: 'a.pptx', bytes: pptx([{ tree: '', chart }]) })).sections
    expect(slide!.text).toContain('| 1 | 12.5% |')
  })

  test('the description of a picture is text, the name of its file is none', async () => {
    const picture = (descr: string): string =>
      `<p:pic><p:nvPicPr><p:cNvPr id="1" name="P" descr="${descr}"/></p:nvPicPr></p:pic>`
    const tree = `${picture('A red door')}${picture('C:\\door.png')}${picture('A lake &#10;&#10;Description automatically generated with low confidence')}`
    expect((await extract({ name: 'a.pptx', bytes: pptx([{ tree }]) })).sections).toMatchObject([
      { text: 'A red door\n\nA lake' },
    ])
  })

  test('hidden slides are left out and count', async () => {
    const bytes = pptx([
      { tree: shape(slideLine('Welcome'), 'title') },
      { tree: shape(slideLine('Salaries'), 'title'), isHidden: true },
      { tree: shape(slideLine('End'), 'title') },
    ])
    expect((await extract({ name: 'a.pptx', bytes })).sections).toMatchObject([
      { text: 'Welcome', page: 1 },
      { text: 'End', page: 3 },
    ])
  })

  test('a slide that is all title is a passage, an empty one is none but counts', async () => {
    const bytes = pptx([
      { tree: shape(slideLine('Welcome'), 'title') },
      { tree: '' },
      { tree: shape(slideLine('End'), 'title') },
    ])
    expect((await extract({ name: 'a.pptx', bytes })).sections).toMatchObject([
      { text: 'Welcome', page: 1 },
      { text: 'End', page: 3 },
    ])
  })
})

describe('workbooks', () => {
  const sheet = async (rows: string, more?: Parameters<typeof xlsx>[1]): Promise<string> =>
    (await extract({ name: 'a.xlsx', bytes: xlsx({ S: rows }, more) })).sections[0]?.text ?? ''

  test('each sheet is a section named by its tab, with shared and inline texts', async () => {
    const file = await extract({
      name: 'a.xlsx',
      bytes: xlsx(
        {
          'Days &amp; more':
            '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="B2"><v>30</v></c></row>',
          Empty: '',
        },
        { strings: '<si><t>Name</t></si><si><r><t>Da</t></r><r><t>ys</t></r><rPh><t>no</t></rPh></si>' },
      ),
    })
    expect(file.sections).toMatchObject([
      { heading: 'Days & more', text: '| Name | Days |\n| --- | --- |\n| Ann | 30 |' },
    ])
  })

  test('numbers are written as they are shown: dates, times, percentages, no rounding noise', async () => {
    const styles =
      '<numFmts><numFmt numFmtId="164" formatCode="[$-407]d/\\ mmmm\\ yyyy;@"/><numFmt numFmtId="165" formatCode="0.00&quot; days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="22"/><xf numFmtId="21"/><xf numFmtId="165"/></cellXfs>'
    const cells = [
      [0, '0.30000000000000004'],
      [1, '45352'],
      [2, '45352'],
      [3, '0.125'],
      [4, '45352.75'],
      [5, '0.5'],
      [6, '2.5'],
    ].map(([style, value], column) => `<c r="${'ABCDEFG'[column]}1" s="${style}"><v>${value}</v></c>`)
    expect(await sheet(`<row r="1">${cells.join('')}</row>`, { styles })).toBe(
      '| 0.3 | 2024-03-01 | 2024-03-01 | 12.5% | 2024-03-01 18:00:00 | 12:00:00 | 2.50 days |\n| --- | --- | --- | --- | --- | --- | --- |'.replace(
        /\n$/,
        '',
      ),
    )
  })

  test('currencies and units stand with their numbers', async () => {
    const styles =
      '<numFmts><numFmt numFmtId="164" formatCode="#,##0.00\\ [$€-407]"/><numFmt numFmtId="165" formatCode="[$$-409]#,##0"/><numFmt numFmtId="166" formatCode="_-&quot;£&quot;* #,##0.00_-;\\-&quot;£&quot;* #,##0.00_-"/><numFmt numFmtId="167" formatCode="0.0&quot; kg&quot;"/><numFmt numFmtId="168" formatCode="#,##0.00_);(#,##0.00)"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/><xf numFmtId="168"/></cellXfs>'
    const cells = [
      [1, '1234.5'],
      [2, '950'],
      [3, '-12.125'],
      [4, '6.25'],
      [5, '7.5'],
    ].map(([style, value], column) => `<c r="${'ABCDE'[column]}1" s="${style}"><v>${value}</v></c>`)
    expect((await sheet(`<row r="1">${cells.join('')}</row>`, { styles })).split('\n')[0]).toBe(
      '| 1234.50 € | $950 | -£12.13 | 6.3 kg | 7.5 |',
    )
  })

  const text = (reference: string, value: string): string => `<c r="${reference}" t="str"><v>${value}</v></c>`

  test('comments on cells stand below the table', async () => {
    const comments = (type: string, xml: string) => ({ type, name: `xl/${type}.xml`, xml })
    const old = comments(
      'comments',
      '<comments><commentList><comment ref="B2" authorId="0"><text><r><t>Approved </t></r><r><t>in May</t></r></text></comment></commentList></comments>',
    )
    const rows =
      '<row r="1"><c r="A1" t="str"><v>Item</v></c><c r="B1" t="str"><v>Price</v></c></row><row r="2"><c r="A2" t="str"><v>Ink</v></c><c r="B2"><v>3</v></c></row>'
    const table = '| Item | Price |\n| --- | --- |\n| Ink | 3 |'
    expect(await sheet(rows, { sheetParts: [old] })).toBe(`${table}\n\nComments:\n- B2: Approved in May`)
    const thread = comments(
      'threadedComment',
      '<ThreadedComments><threadedComment ref="B2"><text>Who approved?</text></threadedComment><threadedComment ref="B2"><text>The board.</text></threadedComment></ThreadedComments>',
    )
    expect(await sheet(rows, { sheetParts: [old, thread] })).toBe(
      `${table}\n\nComments:\n- B2: Who approved?\n- B2: The board.`,
    )
  })

  test('hidden sheets are left out', async () => {
    const plain = {
      Shown: `<row r="1">${text('A1', 'seen')}</row>`,
      Secret: `<row r="1">${text('A1', 'salaries')}</row>`,
    }
    for (const state of ['hidden', 'veryHidden']) {
      const bytes = xlsx(plain, { states: { Secret: state } })
      expect((await extract({ name: 'a.xlsx', bytes })).sections).toMatchObject([{ heading: 'Shown', text: 'seen' }])
    }
  })

  test('a title above a table, merged or not, is no header', async () => {
    const rows =
      `<row r="1">${text('A1', 'Prices of 2026')}<c r="B1"/></row><row r="2">${text('A2', 'in euros')}</row>` +
      `<row r="3">${text('A3', 'Article')}${text('B3', 'Price')}</row><row r="4">${text('A4', 'Pen')}${text('B4', '2')}</row>`
    const expected = 'Prices of 2026\n\nin euros\n\n| Article | Price |\n| --- | --- |\n| Pen | 2 |'
    expect(await sheet(rows)).toBe(expected)
    expect(await sheet(rows, { merges: ['A1:B1'] })).toBe(expected)
  })

  test('merged headings over columns and merged names over rows stand in each of them', async () => {
    const rows =
      `<row r="1">${text('A1', 'Region')}${text('B1', '2025')}${text('D1', '2026')}</row>` +
      `<row r="2">${text('B2', 'Spring')}${text('C2', 'Autumn')}${text('D2', 'Spring')}${text('E2', 'Autumn')}</row>` +
      `<row r="3">${text('A3', 'North')}${text('B3', '1')}${text('C3', '2')}${text('D3', '3')}${text('E3', '4')}</row>` +
      `<row r="4">${text('B4', '5')}${text('C4', '6')}${text('D4', '7')}${text('E4', '8')}</row>`
    expect((await sheet(rows, { merges: ['A1:A2', 'B1:C1', 'D1:E1', 'A3:A4'] })).split('\n')).toEqual([
      '| Region | 2025 Spring | 2025 Autumn | 2026 Spring | 2026 Autumn |',
      '| --- | --- | --- | --- | --- |',
      '| North | 1 | 2 | 3 | 4 |',
      '| North | 5 | 6 | 7 | 8 |',
    ])
  })

  test('days are counted from 1904 where the workbook says so', async () => {
    const more = { styles: '<cellXfs><xf numFmtId="14"/></cellXfs>', workbook: '<workbookPr date1904="1"/>' }
    expect(await sheet('<row r="1"><c r="A1" s="0"><v>43890</v></c></row>', more)).toBe('2024-03-01')
  })

  test('truth values, errors and results of formulas', async () => {
    const row =
      '<row r="1"><c r="A1" t="b"><v>1</v></c><c r="B1" t="e"><v>#N/A</v></c><c r="C1" t="str"><f>A1&amp;"x"</f><v>TRUEx</v></c><c r="D1"><f>1+1</f><v>2</v></c></row>'
    expect(await sheet(row)).toBe('| TRUE | #N/A | TRUEx | 2 |\n| --- | --- | --- | --- |')
  })

  test('line ends that are written as codes are line ends', async () => {
    const text = await sheet('<row><c t="s"><v>0</v></c></row>', { strings: '<si><t>one_x000D_\ntwo_x</t></si>' })
    expect(text.split(/\s+/)).toEqual(['one', 'two_x'])
  })

  test('blocks parted by an empty row are tables of their own, a single column is lines', async () => {
    const cell = (reference: string, value: string): string => `<c r="${reference}" t="str"><v>${value}</v></c>`
    const rows = `<row r="1">${cell('A1', 'Prices 2024')}</row><row r="3">${cell('B3', 'Article')}${cell('D3', 'Price')}</row><row r="4">${cell('B4', 'Pen')}${cell('D4', '1 | 2')}</row>`
    expect(await sheet(rows)).toBe('Prices 2024\n\n| Article | Price |\n| --- | --- |\n| Pen | 1 \\| 2 |')
  })

  test('cells without references, as some programs write them, stand in order', async () => {
    expect(
      await sheet('<row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row><row><c><v>1</v></c><c><v>2</v></c></row>'),
    ).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |')
  })
})

describe('office files that are not as they should be', () => {
  const whole = docx(paragraph('x'.repeat(2000)))

  test.each([
    ['cut off', whole.slice(0, whole.length - 400)],
    ['cut off after its header', whole.slice(0, 40)],
    ['with a changed byte', whole.map((byte, at) => (at === whole.length >> 1 ? byte ^ 0x55 : byte))],
  ])('a file %s is refused as broken', async (_, bytes) => {
    await expect(extract({ name: 'a.docx', bytes })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'broken' },
    })
  })

  test('a zip protected by a password is refused as encrypted', async () => {
    const bytes = docx(paragraph('x'))
    // Bit 0 of the flags, in the headers and in the directory.
    const view = new DataView(bytes.buffer)
    for (let at = 0; at < bytes.length - 4; at++) {
      if (view.getUint32(at, true) === 0x04034b50) bytes[at + 6]! |= 1
      if (view.getUint32(at, true) === 0x02014b50) bytes[at + 8]! |= 1
    }
    await expect(extract({ name: 'a.docx', bytes })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'encrypted' },
    })
  })

  test('an Office file protected by a password is refused as encrypted', async () => {
    const bytes = Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(1000),
      Buffer.from('EncryptedPackage', 'utf16le'),
      Buffer.alloc(500),
    ])
    await expect(extract({ name: 'a.xlsx', bytes })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'encrypted' },
    })
  })

  test('what it is, is told by its parts and not by its name', async () => {
    expect((await extract({ name: 'a.pdf', bytes: xlsx({ S: '<row><c><v>1</v></c></row>' }) })).mediaType).toMatch(
      /spreadsheetml/,
    )
  })

  test.each([
    ['an archive of files', { 'a.txt': 'x' }],
    ['an OpenDocument database', { mimetype: 'application/vnd.oasis.opendocument.base', 'content.xml': '<x/>' }],
    ['a binary workbook', { 'xl/workbook.bin': 'x' }],
  ])('%s is refused as unsupported', async (_, parts) => {
    await expect(extract({ name: 'a.zip', bytes: zip(parts) })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'unsupported' },
    })
  })
})
