import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { docx, paragraph, wordPart } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

describe('references to notes', () => {
  const footnotes = (inner: string): NonNullable<Parameters<typeof docx>[1]> => ({
    parts: { 'word/footnotes.xml': inner },
    relations: [{ id: 'f', type: 'footnotes', target: 'footnotes.xml' }],
  })
  const noted = (reference: string): string => `<w:p><w:r><w:t>Pay</w:t></w:r><w:r>${reference}</w:r></w:p>`
  const plain = '<w:footnoteReference w:id="2"/>'
  const content = paragraph('The law.')

  test.each([
    ['single quotes', plain, wordPart('footnotes', `<w:footnote w:id='2'>${content}</w:footnote>`)],
    ['other white space', plain, wordPart('footnotes', `<w:footnote\n\tw:id = "2">${content}</w:footnote>`)],
    ['a type', plain, wordPart('footnotes', `<w:footnote w:type="normal" w:id="2">${content}</w:footnote>`)],
    ['a sign > before it', plain, wordPart('footnotes', `<w:footnote w:x="a > b" w:id="2">${content}</w:footnote>`)],
    [
      'another prefix',
      plain,
      wordPart('footnotes', `<w:footnote w:id="2">${content}</w:footnote>`)
        .replaceAll('w:', 'n:')
        .replace('xmlns:w', 'xmlns:n'),
    ],
    [
      'a mark',
      '<w:footnoteReference w:mark="a > b" w:id="2"/>',
      wordPart('footnotes', `<w:footnote w:id="2">${content}</w:footnote>`),
    ],
  ])('a note that is there is read: %s', async (_, reference, part) => {
    const { sections, metadata } = await extract({ name: 'a.docx', bytes: docx(noted(reference), footnotes(part)) })
    expect(sections.map(({ text }) => text)).toEqual(['Pay[1]\n\n1. The law.'])
    expect(metadata).toEqual({})
  })

  test.each([
    ['in single quotes', "<w:footnoteReference w:id='9'/>"],
    ['behind a line feed', '<w:footnoteReference\nw:id="9"/>'],
    ['behind a sign >', '<w:footnoteReference w:mark="a > b" w:id="9"/>'],
    ['with an end tag', '<w:footnoteReference w:id="9">\n</w:footnoteReference >'],
    ['to a separator', '<w:footnoteReference w:id="0"/>'],
    ['of another kind', '<w:endnoteReference w:id="2"/>'],
  ])('one that leads nowhere is counted: %s', async (_, reference) => {
    const part = wordPart(
      'footnotes',
      `<w:footnote w:type="separator" w:id="0">${content}</w:footnote><w:footnote w:id="2">${content}</w:footnote>`,
    )
    const { sections, metadata } = await extract({ name: 'a.docx', bytes: docx(noted(reference), footnotes(part)) })
    expect(sections.map(({ text }) => text)).toEqual(['Pay'])
    expect(metadata).toEqual({ missing_notes: '1' })
  })

  test.each(['comment', 'commentReference', 'footnoteReference'])('%s without end takes no time', async (name) => {
    const bytes = docx(`${paragraph('See Reference 12')}<!--${`<w:${name} `.repeat(200_000)}-->`)
    expect((await extract({ name: 'a.docx', bytes })).sections[0]?.text).toBe('See Reference 12')
  })
})

test.each(["r:embed='gone'", 'r:embed = "gone"', '\nr:link="gone"', 'x="a > b" r:embed="gone"'])(
  'a picture that the file does not contain is left out: %s',
  async (attribute) => {
    const picture = `<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip ${attribute}/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
    const bytes = docx(`<w:p>${picture}<w:r><w:t>Pay</w:t></w:r></w:p>`)
    expect((await extract({ name: 'a.docx', bytes })).sections.map(({ text }) => text)).toEqual(['Pay'])
  },
)
