import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { latin1, utf8 } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const textOf = async (name: string, bytes: Uint8Array, mediaType?: string): Promise<string> =>
  (await extract({ name, bytes, mediaType })).sections.map(({ text }) => text).join('\n\n')

const utf16 = (text: string, order: 'le' | 'be'): Uint8Array => {
  const bytes = Buffer.from(text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('plain text', () => {
  test('stays as it is, with line ends made one kind and control characters gone', async () => {
    expect(await textOf('a.txt', utf8('one\r\ntwo\rthree\n\n  four\u0000\u0007 # five\n'))).toBe(
      'one\ntwo\nthree\n\n  four # five',
    )
  })

  test('program text and data files are text too', async () => {
    const file = await extract({ name: 'main.py', bytes: utf8('def f():\n    return 1\n'), mediaType: 'text/x-python' })
    expect(file).toMatchObject({ mediaType: 'text/plain', sections: [{ text: 'def f():\n    return 1' }] })
  })

  test('the indentation of the first line stays', async () => {
    expect(await textOf('a.txt', utf8('\n\n    indented\nnot'))).toBe('    indented\nnot')
  })

  test('blank files have no sections', async () => {
    expect((await extract({ name: 'a.txt', bytes: utf8(' \n\n\t') })).sections).toEqual([])
  })

  test('halves of surrogate pairs do not survive', async () => {
    expect(await textOf('a.txt', utf16('\ufeffa\ud800b', 'le'))).not.toMatch(/\ud800/)
  })
})

describe('encodings', () => {
  const text = 'Zürich – “naïve” café €5'

  test.each([
    ['UTF-8', utf8(text)],
    ['UTF-8 with a byte order mark', utf8(`\ufeff${text}`)],
    ['UTF-16 LE with a mark', utf16(`\ufeff${text}`, 'le')],
    ['UTF-16 BE with a mark', utf16(`\ufeff${text}`, 'be')],
    ['UTF-16 LE without a mark', utf16(text, 'le')],
    ['UTF-16 BE without a mark', utf16(text, 'be')],
    ['windows-1252', latin1('Z\xfcrich \x96 \x93na\xefve\x94 caf\xe9 \x805')],
  ])('%s is told by its bytes', async (_, bytes) => {
    expect(await textOf('a.txt', bytes)).toBe(text)
  })

  test('the charset of the media type is used where the bytes are no UTF-8', async () => {
    expect(await textOf('a.txt', Uint8Array.of(0xf0, 0xd2, 0xc9), 'text/plain; charset=koi8-r')).toBe('При')
  })

  test('the charset an HTML page names is used', async () => {
    const page = latin1('<html><head><meta charset="Shift_JIS"></head><body>\x82\xa0\x82\xa2</body></html>')
    expect(await textOf('a.html', page)).toBe('あい')
  })

  test('a page that claims latin-1 but is UTF-8 is read as UTF-8', async () => {
    expect(
      await textOf(
        'a.html',
        utf8('<html><meta http-equiv="content-type" content="text/html; charset=iso-8859-1"><body>Zürich'),
      ),
    ).toBe('Zürich')
  })

  test('a charset nobody knows is ignored', async () => {
    expect(await textOf('a.txt', latin1('caf\xe9'), 'text/plain; charset=martian')).toBe('café')
  })

  test('ISO-2022-JP, which passes for UTF-8, is read as declared', async () => {
    expect(await textOf('a.txt', latin1('\x1b$B$"\x1b(B'), 'text/plain; charset=iso-2022-jp')).toBe('あ')
  })
})

describe('Markdown', () => {
  test('front matter becomes title, dates and metadata and leaves the text', async () => {
    const file = await extract({
      name: 'leave.md',
      bytes: utf8(
        '---\ntitle: "Leave: rules"\nauthor: Ann\ntags: [hr, leave]\ndate: 2024-03-01\nlastmod: 2024-04-02T10:00:00+02:00\nseo:\n  robots: none\n---\n# Days\n\nThirty.\n',
      ),
    })
    expect(file).toMatchObject({
      mediaType: 'text/markdown',
      title: 'Leave: rules',
      createdAt: Date.UTC(2024, 2, 1),
      updatedAt: Date.UTC(2024, 3, 2, 8),
      sections: [{ text: '# Days\n\nThirty.' }],
    })
    expect(file.metadata).toMatchObject({ author: 'Ann', tags: ['hr', 'leave'], 'seo.robots': 'none' })
  })

  test('TOML front matter is read as far as front matter goes', async () => {
    const file = await extract({
      name: 'a.md',
      bytes: utf8('+++\ntitle = "Leave"\ndate = 2024-03-01T00:00:00Z\ntags = ["hr", "days"]\n+++\nThirty.'),
    })
    expect(file).toMatchObject({
      title: 'Leave',
      createdAt: Date.UTC(2024, 2, 1),
      metadata: { tags: ['hr', 'days'] },
      sections: [{ text: 'Thirty.' }],
    })
  })

  test('TOML tables, escapes and loose spaces are read', async () => {
    const { metadata } = await extract({
      name: 'a.md',
      bytes: utf8(`+++\n [seo] \n robots  =  'no "index"'  \nquote = "a \\"b\\" c"\nweight = 7\nopen = "x\n+++\nT`),
    })
    expect(metadata).toMatchObject({ 'seo.robots': 'no "index"', 'seo.quote': 'a \\"b\\" c', 'seo.weight': '7' })
  })

  test.each([
    ['spaces', `a = b${' '.repeat(90_000)}c`],
    ['escaped marks without an end', `a = ${'"\\'.repeat(45_000)}`],
    ['keys without a value', 'a '.repeat(45_000)],
  ])('front matter of many %s takes no longer than any other', async (_, line) => {
    // A pattern that tries each place anew would take minutes, and the reader would give up.
    const { sections } = await extract({ name: 'a.md', bytes: utf8(`+++\n${line}\n+++\nThirty.`) })
    expect(JSON.stringify(sections)).toContain('Thirty.')
  })

  test('without a title of its own it is named by its first heading', async () => {
    expect(
      (await extract({ name: 'a.md', bytes: utf8('```sh\n# no heading\n```\n\n# The `real` [one](x.md)\n') })).title,
    ).toBe('The real one')
    expect((await extract({ name: 'a.md', bytes: utf8('Underlined\n=====\n\ntext') })).title).toBe('Underlined')
    expect((await extract({ name: 'a.md', bytes: utf8('just text') })).title).toBeNull()
  })

  test.each([
    ['2024-03-01', Date.UTC(2024, 2, 1)],
    ['2024-03-01 10:30', Date.UTC(2024, 2, 1, 10, 30)],
    ['2024-03-01T10:30:00.123456+0200', Date.UTC(2024, 2, 1, 8, 30, 0, 123)],
    ['2024/3/1', Date.UTC(2024, 2, 1)],
    ['12/31/2024', Date.UTC(2024, 11, 31)],
    ['March 1, 2024', Date.UTC(2024, 2, 1)],
    ['1 Mar 2024 10:00 GMT', Date.UTC(2024, 2, 1, 10)],
    ['2024-13-45', undefined],
    ['soon', undefined],
    ['9999-01-01', undefined],
  ])('the date %s is read without the time zone of the machine', async (date, time) => {
    expect((await extract({ name: 'a.md', bytes: utf8(`---\ndate: ${date}\n---\nx`) })).createdAt).toBe(time)
  })

  test('a heading in a comment names no page', async () => {
    const title = async (page: string): Promise<string | null> =>
      (await extract({ name: 'a.md', bytes: utf8(page) })).title
    expect(await title('<!--\n# Licence\n-->\n\n# Ferries\n\ntext')).toBe('Ferries')
    expect(await title('<!-- nobody closes this\n# Licence\n')).toBeNull()
  })

  test('a page that begins with a ruler keeps all its text', async () => {
    const text = '---\nno fields here\n---\nand more'
    expect(await textOf('a.md', utf8(text))).toBe(text)
  })

  test('front matter that is broken stays text', async () => {
    const text = '---\ntitle: [unclosed\n---\nbody'
    expect(await textOf('a.md', utf8(text))).toBe(text)
  })

  test('front matter with Windows line ends and a byte order mark is read', async () => {
    expect((await extract({ name: 'a.md', bytes: utf8('\ufeff---\r\ntitle: T\r\n---\r\nbody') })).title).toBe('T')
  })

  test('tables, code and lists stay untouched', async () => {
    const text = '| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```js\nconst a  =  1\n\n\n\nb\n```\n\n- x\n    - y'
    expect(await textOf('a.md', utf8(text))).toBe(text)
  })
})

describe('CSV', () => {
  test.each([
    ['commas', 'Name,Days\nAnn,30\nBob,28\n'],
    ['semicolons', 'Name;Days\r\nAnn;30\r\nBob;28'],
    ['tabs', 'Name\tDays\nAnn\t30\nBob\t28\n'],
    ['what Excel says', 'sep=|\nName|Days\nAnn|30\nBob|28\n'],
  ])('cells parted by %s become a Markdown table', async (_, text) => {
    expect(await textOf('a.csv', utf8(text))).toBe('| Name | Days |\n| --- | --- |\n| Ann | 30 |\n| Bob | 28 |')
  })

  test('quoted cells keep delimiters, and bars and line ends do not break the table', async () => {
    expect(await textOf('a.csv', utf8('a,b\n"x, y","one\ntwo | three"\n'))).toBe(
      '| a | b |\n| --- | --- |\n| x, y | one two \\| three |',
    )
  })

  test('empty rows and columns are left out', async () => {
    expect(await textOf('a.csv', utf8('a,,b\n\n,,\n1,,2\n'))).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |')
  })
})

describe('what a file is', () => {
  test('content goes before name, name before media type', async () => {
    expect((await extract({ name: 'a.txt', bytes: utf8('<!DOCTYPE html><html><body>x') })).mediaType).toBe('text/html')
    expect((await extract({ name: 'a.csv', bytes: utf8('a,b'), mediaType: 'text/plain' })).mediaType).toBe('text/csv')
    expect((await extract({ name: 'a', bytes: utf8('a,b'), mediaType: 'text/csv; charset=utf-8' })).mediaType).toBe(
      'text/csv',
    )
  })

  test.each([
    ['a.docx', undefined],
    ['A.XLSX', undefined],
    ['a.pptx', undefined],
    ['a.odt', undefined],
    ['a.epub', undefined],
    ['a.pdf', undefined],
    ['download', 'application/epub+zip'],
  ])('text under the name of a binary format is refused, not indexed: %s %s', async (name, mediaType) => {
    for (const bytes of [utf8('404 not found'), latin1('\0\x01\x02\x03\xff\xfe\0\0\0')]) {
      const refused = extract({ name, bytes, ...(mediaType && { mediaType }) })
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', data: { reason: 'broken' } })
      await expect(refused).rejects.toThrow(/^The name says \.\w+, but .* save it anew/)
    }
  })

  test('web pages, mails and Rich Text under the names of Office are read as what they are', async () => {
    const mail = 'From: a@x.org\r\nTo: b@x.org\r\nMIME-Version: 1.0\r\n\r\nThe mail.'
    for (const [name, text, mediaType, read] of [
      ['a.doc', '<html xmlns:w="urn:schemas-microsoft-com:office:word"><body><h1>Rules</h1>', 'text/html', '# Rules'],
      ['a.docx', '\ufeff<!DOCTYPE html><p>The page.', 'text/html', 'The page.'],
      ['export.xls', '<table><tr><th>Name<td>Ann</table>', 'text/html', '| Name | Ann |'],
      ['a.docx', '{\\rtf1 The letter.}', 'application/rtf', 'The letter.'],
      ['a.docx', mail, 'message/rfc822', 'The mail.'],
      ['README.doc', 'Plain text.', 'text/plain', 'Plain text.'],
      ['a.pdf', 'HTTP/1.1 200 OK\n\n%PDF-1.4\n', undefined, 'damaged'],
    ] as const) {
      const file = await extract({ name, bytes: utf8(text) }).catch((error: Error) => error)
      if (file instanceof Error) expect([mediaType, file.message]).toEqual([undefined, expect.stringContaining(read)])
      else expect([file.mediaType, file.sections[0]?.text]).toEqual([mediaType, expect.stringContaining(read)])
    }
  })

  test.each([
    ['an image', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'photo.png'],
    ['an image named as a document', latin1('\xff\xd8\xff\xe0\0\x10JFIF'), 'photo.pdf'],
    ['a gzip archive', latin1('\x1f\x8b\x08\0\0\0\0\0\0\x03'), 'a.tar.gz'],
    ['an old Office file', latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' + '\0'.repeat(600)), 'a.doc'],
    ['unknown bytes', latin1('\0\x01\x02\x03\xff\xfe\0\0\0'), 'a.bin'],
  ])('%s is refused as unsupported with what to do instead', async (_, bytes, name) => {
    const refused = extract({ name, bytes })
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', data: { reason: 'unsupported' } })
    await expect(refused).rejects.toThrow(/send|save|unpack|read/)
  })

  test('a file without a byte is refused as empty', async () => {
    await expect(extract({ name: 'a.pdf', bytes: new Uint8Array() })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'empty' },
    })
  })
})
