import { deflateSync } from 'node:zlib'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { joinBytes, latin1, passwordTrailer, pdf, pdfStream, pdfText, restrictedPdf } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

/** A PDF of five pages as qpdf packs it, with an array in the place of the third page. */
const compressedTree =
  'JVBERi0xLjUKJb/3ov4KMSAwIG9iago8PCAvVHlwZSAvT2JqU3RtIC9MZW5ndGggMjA4IC9GaWx0ZXIgL0ZsYXRlRGVjb2RlIC9OIDcgL0Zpcn' +
  'N0IDM5ID4+CnN0cmVhbQp4nM2OSwrCMBRF567i7iCf/hRKBxZEEEGqM+kg1iCF0kqTiu7e5NWK4AYKyc0j3JwcCY4AQYgQgktEkHGIGKFMkCBa' +
  'cSyRRMEiTcEO6qaNK3MUYKfXXYPlyqqmuyHLqJF3Q2sdie3qq8HZTb4bUS4pY8qEspwoI/jLaK1urcFq/Givr7Vad0+H496Vj7v0z3pXnIQKbb' +
  'qhrxzIUzaOMg6CjrUymu7YVjcPbetKgR2HiyUBryEmG6pl2Wf9KP4ZCj5/RTF/RTlHxTPKxRswrdvUCmVuZHN0cmVhbQplbmRvYmoKOSAwIG9i' +
  'ago8PCAvTGVuZ3RoIDUxIC9GaWx0ZXIgL0ZsYXRlRGVjb2RlID4+CnN0cmVhbQp4nHMKUdB3M1QwNFQISVMwN1IwMjBQCElR0HDMKchIVMhILc' +
  'rPK9ZUCMlScA0BAOObC2kKZW5kc3RyZWFtCmVuZG9iagoxMCAwIG9iago8PCAvTGVuZ3RoIDQ5IC9GaWx0ZXIgL0ZsYXRlRGVjb2RlID4+CnN0' +
  'cmVhbQp4nHMKUdB3M1QwNFQISVMwN1IwMjBQCElR0HBKLUlUSMpPLCnWVAjJUnANAQDKMgqJCmVuZHN0cmVhbQplbmRvYmoKMTEgMCBvYmoKPD' +
  'wgL0xlbmd0aCA1MCAvRmlsdGVyIC9GbGF0ZURlY29kZSA+PgpzdHJlYW0KeJxzClHQdzNUMDRUCElTMDdSMDIwUAhJUdBwSc0pSVRIKSrNLdZU' +
  'CMlScA0BANeTCwkKZW5kc3RyZWFtCmVuZG9iagoxMiAwIG9iago8PCAvTGVuZ3RoIDQ3IC9GaWx0ZXIgL0ZsYXRlRGVjb2RlID4+CnN0cmVhbQ' +
  'p4nHMKUdB3M1QwNFQISVMwN1IwMjBQCElR0HAtKFZITc0p1lQIyVJwDQEAs/oJxQplbmRzdHJlYW0KZW5kb2JqCjEzIDAgb2JqCjw8IC9UeXBl' +
  'IC9YUmVmIC9MZW5ndGggNDAgL0ZpbHRlciAvRmxhdGVEZWNvZGUgL0RlY29kZVBhcm1zIDw8IC9Db2x1bW5zIDQgL1ByZWRpY3RvciAxMiA+Pi' +
  'AvVyBbIDEgMiAxIF0gL1Jvb3QgMiAwIFIgL1NpemUgMTQgL0lEIFs8NWE5MTIyM2IxZjE4MDgxOGQ0ZDBjMTBkZDJiYjVhMGE+PDVhOTEyMjNi' +
  'MWYxODA4MThkNGQwYzEwZGQyYmI1YTBhPl0gPj4Kc3RyZWFtCnicY2IAAiZGBn4Q8YmBCchjxE38Z3T+BWRVAdUxVjLAWOUMAIOjBUkKZW5kc3' +
  'RyZWFtCmVuZG9iagpzdGFydHhyZWYKODA4CiUlRU9GCg=='

const body = (lines: readonly string[], from = 700): string =>
  pdfText(lines.map((line, index) => [72, from - index * 14, 11, line] as const))

describe('text of a PDF', () => {
  test('each page is a section that knows its number', async () => {
    const { sections, mediaType } = await extract({
      name: 'a.pdf',
      bytes: pdf([body(['First page.']), body(['Second page.'])]),
    })
    expect(mediaType).toBe('application/pdf')
    expect(sections).toMatchObject([
      { text: 'First page.', page: 1 },
      { text: 'Second page.', page: 2 },
    ])
  })

  test('an empty page makes no section and does not shift the numbers of the others', async () => {
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([body(['One.']), '', body(['Three.'])]) })
    expect(sections.map(({ page }) => page)).toEqual([1, 3])
  })

  test('lines of a paragraph flow together and a word parted at a line end becomes whole', async () => {
    const page = body(['Annual leave is granted to every em-', 'ployee after the first month of', 'work.'])
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([page]) })
    expect(sections[0]?.text).toBe('Annual leave is granted to every employee after the first month of work.')
  })

  test('a larger distance between lines parts paragraphs', async () => {
    const page = `${body(['One one one', 'one two.'])}\n${body(['Two one', 'two two.'], 640)}`
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([page]) })
    expect(sections[0]?.text).toBe('One one one one two.\n\nTwo one two two.')
  })

  test('larger letters are headings, ranked by size, and the one in force is told to the next page', async () => {
    const first = pdfText([
      [72, 720, 24, 'Handbook'],
      [72, 690, 16, 'Leave'],
      [72, 670, 11, 'Every employee has thirty days of leave in a year, taken in whole days.'],
    ])
    const { sections, title } = await extract({
      name: 'a.pdf',
      bytes: pdf([first, body(['They are counted from January to December.'])]),
    })
    expect(sections[0]?.text).toMatch(/^# Handbook\n\n## Leave\n\nEvery employee/)
    expect(sections[1]?.heading).toBe('Leave')
    expect(title).toBe('Handbook')
  })

  test('bullets and numbers become lists', async () => {
    const { sections } = await extract({
      name: 'a.pdf',
      bytes: pdf([body(['\x95 apples and', 'pears', '\x95 plums', '1. first', '2. second'])]),
    })
    expect(sections[0]?.text).toBe('- apples and pears\n- plums\n1. first\n2. second')
  })

  test('lines with wide gaps that are no table stay lines', async () => {
    const page = pdfText([
      [72, 700, 11, 'Name'],
      [300, 700, 11, 'Ann'],
      [72, 686, 11, 'Born'],
      [400, 686, 11, '1990'],
    ])
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([page]) })
    expect(sections[0]?.text).toBe('Name Ann\nBorn 1990')
  })

  test('cells that stand below each other become a table', async () => {
    const rows = [
      ['Article', 'Price', 'Stock'],
      ['Apple', '1.20', '15'],
      ['Pear', '0.90', '7'],
    ]
    const page = pdfText(
      rows.flatMap((row, line) => row.map((cell, column) => [72 + column * 150, 700 - line * 16, 11, cell] as const)),
    )
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([page]) })
    expect(sections[0]?.text).toBe(
      '| Article | Price | Stock |\n| --- | --- | --- |\n| Apple | 1.20 | 15 |\n| Pear | 0.90 | 7 |',
    )
  })

  test('cells of several lines, also the first one, and indented ones stay in their row', async () => {
    const page = pdfText([
      [72, 700, 11, 'Date'],
      [170, 700, 11, 'State'],
      [260, 700, 11, 'What changed'],
      [72, 684, 11, 'May 2003'],
      [170, 684, 11, 'Draft'],
      [260, 684, 11, 'Review of the model'],
      [290, 660, 11, 'with a new kind of water'],
      [72, 640, 11, 'Murder and'],
      [72, 626, 11, 'manslaughter'],
      [170, 626, 11, '10.0'],
      [260, 626, 11, '0.9'],
      [72, 610, 11, 'Robbery'],
      [170, 610, 11, '102.1'],
      [260, 610, 11, '25.5'],
      [72, 590, 11, 'A text below the table begins where its first column does.'],
    ])
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([page]) })
    expect(sections[0]?.text).toBe(`| Date | State | What changed |
| --- | --- | --- |
| May 2003 | Draft | Review of the model with a new kind of water |
| Murder and manslaughter | 10.0 | 0.9 |
| Robbery | 102.1 | 25.5 |

A text below the table begins where its first column does.`)
  })

  describe('a table that is drawn cell by cell', () => {
    /** Cells of several lines, each drawn whole before the next one. */
    const drawn = (rows: readonly (readonly (string | null)[])[], width: number, from = 550): string => {
      let y = from
      return rows
        .map((row) => {
          const top = y
          y -= 11 * Math.max(...row.map((cell) => cell?.split('/').length ?? 1)) + 10
          return pdfText(
            row.flatMap((cell, column) =>
              (cell?.split('/') ?? []).map((line, at) => [30 + column * width, top - at * 11, 9, line] as const),
            ),
          )
        })
        .join('\n')
    }
    const read = async (page: string): Promise<string | undefined> =>
      (await extract({ name: 'a.pdf', bytes: pdf([page]) })).sections[0]?.text

    test('keeps its rows, of eight columns with cells of several lines', async () => {
      const rows = [
        ['Serial/number', 'Name', 'Place of/work', 'Begin', 'End', 'Kind of/leave', 'Days', 'Remark'],
        ['1', 'Ann/Lee', 'Oslo', 'May 3', 'May 9', 'Annual', '5', 'granted by/the head'],
        ['2', 'Bob', 'New/York', 'June 1', 'June 2', 'Special/leave', '2', 'moves'],
      ]
      const text = await read(
        `${pdfText([[30, 600, 9, 'Leave of the year.']])}\n${drawn(rows, 70)}\n${pdfText([[30, 440, 9, 'Signed.']])}`,
      )
      expect(text).toBe(`Leave of the year.

| Serial number | Name | Place of work | Begin | End | Kind of leave | Days | Remark |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 1 | Ann Lee | Oslo | May 3 | May 9 | Annual | 5 | granted by the head |
| 2 | Bob | New York | June 1 | June 2 | Special leave | 2 | moves |

Signed.`)
    })

    test('has a merged head, and empty cells', async () => {
      const rows = [
        ['Region', 'Sales of', null, 'Chief'],
        ['of the/firm', '2023', '2024', 'since'],
        ['North', '10/net', null, 'Ann/Lee'],
        ['South', '11', '12/gross', 'Bob'],
      ]
      expect(await read(drawn(rows, 100))).toBe(`| Region | Sales of |  | Chief |
| --- | --- | --- | --- |
| of the firm | 2023 | 2024 | since |
| North | 10 net |  | Ann Lee |
| South | 11 | 12 gross | Bob |`)
    })

    test('is none where prose stands in columns, or labels of a form', async () => {
      const column = (x: number, words: string) =>
        words.split(' ').map((word, at) => [x, 700 - at * 12, 10, `${word} runs on and`] as const)
      const prose = pdfText([...column(50, 'a b c d'), ...column(230, 'e f g h'), ...column(410, 'i j k l')])
      expect(await read(prose)).not.toContain('|')
      const form = [
        ['Name', 'Street/and number'],
        ['Ann', 'Main/Street 1'],
      ]
      expect(await read(drawn(form, 200))).not.toContain('|')
    })
  })

  test('two lines of widely spaced words are no table, two of figures are', async () => {
    const row = (y: number, cells: string[]) => cells.map((cell, at) => [72 + at * 70, y, 11, cell] as const)
    const words = [...row(700, ['ze', 'geweekt', 'zijn', 'af']), ...row(686, ['de', 'uien', 'bakken'])]
    const figures = [...row(600, ['Serum', '25.59', '1.59', '.052']), ...row(586, ['Before', '21.45', '2.08'])]
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([pdfText([...words, ...figures])]) })
    expect(sections[0]?.text).toBe(
      'ze geweekt zijn af\nde uien bakken\n\n| Serum | 25.59 | 1.59 | .052 |\n| --- | --- | --- | --- |\n| Before | 21.45 | 2.08 |',
    )
  })

  test('a title of two lines is one, with the usual distance of its size', async () => {
    const plain = Array.from(
      { length: 6 },
      (_, at) => [72, 640 - at * 12, 10, 'Plain text with many letters.'] as const,
    )
    const lines = [[72, 720, 20, 'Type Specialization for Dynamic'] as const, [72, 697, 20, 'Languages'] as const]
    const { title, sections } = await extract({ name: 'a.pdf', bytes: pdf([pdfText([...lines, ...plain])]) })
    expect(title).toBe('Type Specialization for Dynamic Languages')
    expect(sections[0]?.text).toMatch(/^# Type Specialization for Dynamic Languages\n\nPlain text/)
  })

  test('bookmarks are headings: of lines that look like text, and of pages without any', async () => {
    const bytes = pdf(
      [body(['1. Leave', 'Thirty days a year.']), body(['They are taken whole.']), body(['Second class only.'])],
      {
        catalog: '/Outlines 12 0 R',
        objects: [
          '<</Type/Outlines/First 13 0 R/Last 14 0 R/Count 2>>',
          '<</Title(Leave)/Parent 12 0 R/Next 14 0 R/Dest[6 0 R/XYZ 0 792 0]>>',
          '<</Title(Travel by train)/Parent 12 0 R/Prev 13 0 R/Dest[10 0 R/XYZ 0 792 0]>>',
        ],
      },
    )
    const { sections } = await extract({ name: 'a.pdf', bytes })
    expect(sections).toMatchObject([
      { text: '# 1. Leave\n\nThirty days a year.', page: 1 },
      { heading: '1. Leave', text: 'They are taken whole.', page: 2 },
      { heading: 'Travel by train', text: 'Second class only.', page: 3 },
    ])
  })

  test('the values of a filled-in form stand in their lines', async () => {
    const field = (rect: string, more: string): string => `<</Type/Annot/Subtype/Widget/Rect[${rect}]${more}>>`
    const page = pdfText([
      [72, 700, 11, 'Name'],
      [72, 680, 11, 'Resident'],
      [90, 660, 11, 'Married'],
      [72, 610, 11, 'Remarks'],
      [72, 500, 11, 'Signature'],
    ])
    const bytes = pdf([page], {
      catalog: '/AcroForm<</Fields[8 0 R 9 0 R 10 0 R 11 0 R 12 0 R]>>',
      resources: '>>/Annots[8 0 R 9 0 R 10 0 R 11 0 R 12 0 R]/Unused<<',
      objects: [
        field('150 696 300 712', '/FT/Tx/T(a)/V(Ann Lee)'),
        field('150 676 300 692', '/FT/Ch/T(b)/V(Oslo)/Opt[(Oslo)(Bergen)]'),
        field('72 658 84 670', '/FT/Btn/T(c)/V/Yes/AS/Yes/AP<</N<</Yes null/Off null>>>>'),
        field('72 545 500 602', '/FT/Tx/Ff 4096/T(d)/V(Wants a desk\\nby the window.)'),
        field('150 496 300 512', '/FT/Tx/Ff 8192/T(e)/V(secret)'),
      ],
    })
    const { sections } = await extract({ name: 'a.pdf', bytes })
    expect(sections[0]?.text).toBe(
      'Name Ann Lee\nResident Oslo\n[x] Married\n\nRemarks Wants a desk by the window.\n\nSignature',
    )
  })

  test('texts typed onto a page stand in their places, once, unless they are hidden', async () => {
    const page = pdfText([
      [72, 700, 11, 'Name'],
      [72, 660, 11, 'Remarks'],
      [72, 500, 11, 'Signature'],
    ])
    const drawn = pdfStream(
      latin1('BT /F1 10 Tf 0 0 Td (Drawn only) Tj ET'),
      '/Type/XObject/Subtype/Form/BBox[0 0 99 20]/Resources<</Font<</F1 3 0 R>>>>',
    )
    const bytes = pdf([page], {
      resources: '>>/Annots[8 0 R 9 0 R 10 0 R 11 0 R]/Unused<<',
      objects: [
        '<</Type/Annot/Subtype/FreeText/Rect[150 696 300 712]/DA(/F1 11 Tf)/Contents(Ann Lee)/AP<</N 12 0 R>>>>',
        '<</Type/Annot/Subtype/FreeText/Rect[72 560 500 640]/DA(/F1 11 Tf)/Contents(Wants a desk\\nby the window.)>>',
        '<</Type/Annot/Subtype/FreeText/Rect[72 520 300 540]/DA(/F1 11 Tf)/AP<</N 12 0 R>>>>',
        '<</Type/Annot/Subtype/FreeText/Rect[72 100 300 120]/F 2/DA(/F1 11 Tf)/Contents(Hidden)>>',
        drawn,
      ],
    })
    const { sections } = await extract({ name: 'a.pdf', bytes })
    expect(sections[0]?.text).toBe('Name Ann Lee\n\nRemarks\n\nWants a desk by the window.\n\nDrawn only\n\nSignature')
  })

  test('a table of contents is lines without its dots', async () => {
    const page = body(['Leave . . . . . . . . . . . . . . . . 12', 'Travel .................... 13'])
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([page]) })
    expect(sections[0]?.text).toBe('Leave …… 12\nTravel …… 13')
  })

  test('running headers, footers and page numbers are left out', async () => {
    const page = (number: number): string =>
      pdfText([
        [72, 770, 9, 'ACME internal'],
        [72, 400, 11, `What page ${number} tells.`],
        [300, 30, 9, `Page ${number} of 4`],
      ])
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([1, 2, 3, 4].map(page)) })
    expect(sections.map(({ text }) => text)).toEqual([1, 2, 3, 4].map((number) => `What page ${number} tells.`))
  })

  test('numbers of two pages are left out, the headings of two chapters are not', async () => {
    const page = (number: number): string =>
      pdfText([
        [72, 770, 18, `Chapter ${number}`],
        [72, 400, 11, `Told ${number}.`],
        [300, 30, 9, `Page ${number}`],
      ])
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([3, 4].map(page)) })
    const text = sections.map((section) => section.text).join(' ')
    expect(text).toMatch(/Chapter 3[^]*Told 3[^]*Chapter 4[^]*Told 4/)
    expect(text).not.toContain('Page')
  })

  test('accents survive', async () => {
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([body(['Stra\xdfe, caf\xe9, \x80 5'])]) })
    expect(sections[0]?.text).toBe('Straße, café, € 5')
  })

  test('compressed streams are read', async () => {
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([body(['Packed.'])], { compressed: true }) })
    expect(sections[0]?.text).toBe('Packed.')
  })
})

describe('what a PDF says of itself', () => {
  test('title, authors, subject, keywords and dates', async () => {
    const info =
      "/Title(Leave rules)/Author(Ann Lee; Bob Ray)/Subject(HR)/Keywords(leave, days)/CreationDate(D:20240102030405+02'00')/ModDate(D:20240203)"
    const file = await extract({ name: 'a.pdf', bytes: pdf([body(['x'])], { info }) })
    expect(file.title).toBe('Leave rules')
    expect(file.metadata).toEqual({ author: ['Ann Lee', 'Bob Ray'], subject: 'HR', keywords: ['leave', 'days'] })
    expect(new Date(file.createdAt ?? 0).toISOString()).toBe('2024-01-02T01:04:05.000Z')
    expect(new Date(file.updatedAt ?? 0).toISOString()).toBe('2024-02-03T00:00:00.000Z')
  })

  test.each(['Microsoft Word - rules_v7.docx', 'untitled', 'scan0001.pdf', ''])(
    'a made-up title (%j) is no title',
    async (title) => {
      const file = await extract({ name: 'a.pdf', bytes: pdf([body(['x'])], { info: `/Title(${title})` }) })
      expect(file.title).toBeNull()
    },
  )

  test('a scan has no sections but tells of its images', async () => {
    const image = pdfStream(
      latin1('x'),
      '/Type/XObject/Subtype/Image/Width 100000/Height 100000/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode',
    )
    const bytes = pdf(['/Im1 Do'], { objects: [image], resources: '/XObject<</Im1 8 0 R>>' })
    expect(await extract({ name: 'scan.pdf', bytes })).toMatchObject({ sections: [] })
  })

  test('an image of a billion pixels costs nothing, the text beside it is read', async () => {
    const image = pdfStream(
      latin1('x'),
      '/Type/XObject/Subtype/Image/Width 32000/Height 32000/ColorSpace/DeviceRGB/BitsPerComponent 8',
    )
    const bytes = pdf([`/Im1 Do ${body(['Beside.'])}`], { objects: [image], resources: '/XObject<</Im1 8 0 R>>' })
    expect((await extract({ name: 'a.pdf', bytes })).sections[0]?.text).toBe('Beside.')
  })
})

describe('PDFs that are not as they should be', () => {
  test('a password is asked for: refused as encrypted', async () => {
    const bytes = pdf([body(['secret'])], { trailer: passwordTrailer })
    await expect(extract({ name: 'a.pdf', bytes })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'encrypted' },
    })
  })

  test('a PDF that may only not be printed is read', async () => {
    const { sections } = await extract({ name: 'a.pdf', bytes: pdf([body(['Restricted.'])], restrictedPdf()) })
    expect(sections[0]?.text).toBe('Restricted.')
  })

  test('a file cut off in its header is refused as broken', async () => {
    const bytes = pdf([body(['x'])]).slice(0, 60)
    await expect(extract({ name: 'a.pdf', bytes })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'broken' },
    })
  })

  test('a file that lost the pointer to its table of contents still is read', async () => {
    const whole = pdf([body(['Rescued.'])])
    const { sections } = await extract({ name: 'a.pdf', bytes: whole.slice(0, whole.length - 20) })
    expect(sections[0]?.text).toBe('Rescued.')
  })

  test('junk before the header does not matter', async () => {
    const bytes = joinBytes([latin1('\0\x01 junk of a mail server \r\n'), pdf([body(['Behind junk.'])])])
    expect((await extract({ name: 'a', bytes })).sections[0]?.text).toBe('Behind junk.')
  })

  describe('with an entry in the page tree that is no page', () => {
    const words = ['Alpha herons', 'Beta boats', 'Gamma gates', 'Delta drums', 'Eps eels']
    const file = Buffer.from(pdf(words.map((word) => body([word])))).toString('latin1')
    const damaged = (from: string, to: string): Uint8Array => latin1(file.replace(from, to))
    const read = async (bytes: Uint8Array) => {
      const { sections, metadata } = await extract({ name: 'a.pdf', bytes })
      return { pages: sections.map(({ page, text }) => `${page} ${text.split(' ')[0]}`), metadata }
    }

    test.each([
      ['that does not exist', damaged('10 0 R', '99 0 R')],
      ['that is null', damaged('10 0 R', 'null')],
      ['that is a number', damaged('10 0 R', '42')],
      ['in compressed objects', Buffer.from(compressedTree, 'base64')],
    ])('all other pages are read under their numbers: one %s', async (_, bytes) => {
      expect(await read(bytes)).toEqual({
        pages: ['1 Alpha', '2 Beta', '4 Delta', '5 Eps'],
        metadata: { unreadable_pages: '3', unreadable_page_count: '1 of 5' },
      })
    })

    test('the first page may be the lost one, and a lost branch stands for all of its pages', async () => {
      expect((await read(damaged('Kids[6 0 R', 'Kids[99 0 R'))).pages).toEqual([
        '2 Beta',
        '3 Gamma',
        '4 Delta',
        '5 Eps',
      ])
      const branch = damaged('/Count 5/Kids[6 0 R 8 0 R 10 0 R', '/Count 8/Kids[6 0 R 8 0 R 99 0 R')
      expect(await read(branch)).toEqual({
        pages: ['1 Alpha', '2 Beta', '7 Delta', '8 Eps'],
        metadata: { unreadable_pages: '3-6', unreadable_page_count: '4 of 8' },
      })
    })

    test('a number of pages that is too small hides none of them', async () => {
      for (const count of [2, 1])
        expect(await read(damaged('/Count 5', `/Count ${count}`))).toEqual({
          pages: ['1 Alpha', '2 Beta', '3 Gamma', '4 Delta', '5 Eps'],
          metadata: {},
        })
    })

    test('a PDF whose page count is corrected keeps its title', async () => {
      const pages = words.map((word) => body([word]))
      const titled = Buffer.from(pdf(pages, { info: '/Title(Birds)' })).toString('latin1')
      const { title, sections } = await extract({
        name: 'a.pdf',
        bytes: latin1(titled.replace('/Count 5', '/Count 2')),
      })
      expect([title, sections.length]).toEqual(['Birds', 5])
    })

    test('a page that an edit removed stays removed', async () => {
      const removed = file.replace('/Count 5/Kids[6 0 R 8 0 R', '/Count 4/Kids[6 0 R')
      expect((await read(latin1(removed))).pages).toEqual(['1 Alpha', '2 Gamma', '3 Delta', '4 Eps'])
    })

    test('the number of lost pages stands before everything else that is told of the file', async () => {
      const { metadata = {} } = await read(damaged('10 0 R', '99 0 R'))
      expect(Object.keys(metadata)).toEqual(['unreadable_page_count', 'unreadable_pages'])
    })

    test('pages that stay lost are counted', async () => {
      // A page within the list itself.
      const bytes = damaged('8 0 R 10 0 R', '42 <</Type/Page>> 10 0 R')
      expect(await read(bytes)).toEqual({
        pages: ['1 Alpha'],
        metadata: { unreadable_pages: '2-5', unreadable_page_count: '4 of 5' },
      })
    })
  })

  describe('sound PDFs that hold more page objects than pages', () => {
    const file = Buffer.from(pdf(['Alpha', 'Beta', 'Gamma'].map((word) => body([word])))).toString('latin1')
    /** The file with an object saved once more behind its end. */
    const saved = (text: string, number: number, object: string): string => {
      const at = text.length + 1
      const update = `${number} 0 obj\n${object}\nendobj\n`
      const previous = Array.from(text.matchAll(/startxref\s+(\d+)/g)).at(-1)![1]
      const table = `xref\n${number} 1\n${String(at).padStart(10, '0')} 00000 n \n`
      const trailer = `trailer\n<</Size 100/Root 1 0 R/Prev ${previous}>>\nstartxref\n${at + update.length}\n%%EOF\n`
      return `${text}\n${update}${table}${trailer}`
    }
    const stream = (entries: string, content: string): string =>
      `<<${entries}/Length ${content.length}>>\nstream\n${content}\nendstream`
    const firstPage = /\n6 0 obj\s(.*?)endobj/s.exec(file)![1]!
    const savedTwice = (text: string): string => saved(saved(text, 6, firstPage), 6, firstPage)
    const withoutType = file.replace(/(\n8 0 obj\s*<<)\/Type\/Page/, '$1          ')
    const attached = Buffer.from(pdf(Array.from({ length: 9 }, () => body(['Attached'])))).toString('latin1')
    const packed = Buffer.from(deflateSync(Buffer.from(`70 0 ${' '.repeat(45_000_000)}`))).toString('latin1')
    let withPackedObjects = file
    for (let number = 60; number < 66; number++)
      withPackedObjects = saved(
        withPackedObjects,
        number,
        stream('/Type/ObjStm/N 1/First 5/Filter/FlateDecode', packed),
      )

    test.each([
      ['a page was saved again', savedTwice(file)],
      ['a page was saved again, another has no type', savedTwice(withoutType)],
      ['a PDF is attached', saved(file, 90, stream('/Type/EmbeddedFile', attached))],
      [
        'a stream is a long run of digits',
        savedTwice(saved(file, 90, stream('/Filter/ASCIIHexDecode', `${'0'.repeat(1_000_000)}>`))),
      ],
      ['compressed objects are larger than what may be unpacked', savedTwice(withPackedObjects)],
    ])('are read in full: %s', async (_, text) => {
      const { sections, metadata } = await extract({ name: 'a.pdf', bytes: latin1(text) })
      expect(sections.map(({ page, text }) => `${page} ${text}`)).toEqual(['1 Alpha', '2 Beta', '3 Gamma'])
      expect(metadata).toEqual({})
    })
  })

  test('a text that speaks of PDFs is text', async () => {
    const bytes = latin1('A PDF begins with %PDF-1.7 as its first line.')
    expect((await extract({ name: 'notes.txt', bytes })).mediaType).toBe('text/plain')
  })
})
