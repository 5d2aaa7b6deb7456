import { describeUnread, metadataEntries, unreadPartsOf, type Metadata } from '@inlay/protocol'
import { expect, test } from 'vitest'

const said = (metadata: Metadata): string | undefined => {
  const parts = unreadPartsOf(metadataEntries(metadata))
  return parts && describeUnread(parts)
}

test.each<[Metadata, string]>([
  [
    { unreadable_pages: ['10-11', '3'], unreadable_page_count: '3 of 12' },
    '3 of 12 pages could not be read: 3, 10-11.',
  ],
  [{ unreadable_pages: '1', unreadable_page_count: '1 of 1' }, '1 of 1 page could not be read: 1.'],
  [{ unreadable_attachments: 'secret.pdf' }, '1 attachment could not be read in full: secret.pdf.'],
  [
    { unreadable_attachments: ['a.pdf: pages 3', 'b.docx'], missing_notes: '1' },
    '2 attachments could not be read in full: a.pdf: pages 3; b.docx. 1 footnote or comment is missing in the file.',
  ],
  [
    { unreadable_parts: ['word/footnotes.xml', 'Object 1/content.xml'] },
    'Damaged parts of the file could not be read: word/footnotes.xml; Object 1/content.xml.',
  ],
  [{ unreadable_pages: ['10-11', '3'] }, 'Pages could not be read: 3, 10-11.'],
])('what could not be read is said in words: %j', (metadata, sentence) => {
  expect(said({ author: 'Ann', ...metadata })).toBe(sentence)
})

test('metadata of another meaning says nothing', () => {
  expect(said({ author: 'Ann' })).toBeUndefined()
  expect(said({ unreadable_page_count: 'many', unreadable_pages: 'few', missing_notes: 'none' })).toBeUndefined()
})
