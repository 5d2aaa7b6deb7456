import { expect, test } from 'vitest'
import { unreadOf } from '../../../packages/page/src/documents/unread.ts'
import { loadViewTexts } from '../../../packages/page/src/texts/view-texts.ts'

const tagged = (...pairs: readonly (readonly [string, string])[]) => ({
  tags: pairs.map(([key, value]) => ({ tag_key: key, tag_value: value })),
})
const scan = tagged(
  ['author', 'Ann'],
  ['unreadable_page_count', '3 of 12'],
  ['unreadable_pages', '10-11'],
  ['unreadable_pages', '3'],
)
const mail = tagged(['unreadable_attachments', 'a.pdf'], ['unreadable_attachments', 'b.docx'], ['missing_notes', '1'])
const pagesOnly = tagged(['unreadable_pages', '3'])

test('the page says in its language what could not be read', async () => {
  expect(unreadOf(tagged(['author', 'Ann']))).toBeUndefined()
  expect(unreadOf(scan)).toBe('3 of 12 pages could not be read: 3, 10-11.')
  expect(unreadOf(mail)).toBe(
    '2 attachments could not be read in full: a.pdf; b.docx. 1 footnote or comment is missing in the file.',
  )
  expect(unreadOf(pagesOnly)).toBe('Pages could not be read: 3.')
  await loadViewTexts('de')
  expect(unreadOf(pagesOnly)).toBe('Seiten waren nicht lesbar: 3.')
  expect(unreadOf(scan)).toBe('3 von 12 Seiten waren nicht lesbar: 3, 10-11.')
  expect(unreadOf(mail)).toBe(
    '2 Anhänge waren nicht vollständig lesbar: a.pdf; b.docx. 1 Fußnote oder Anmerkung fehlt in der Datei.',
  )
  await loadViewTexts('en')
})
