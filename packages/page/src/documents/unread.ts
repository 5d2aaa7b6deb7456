import { unreadPartsOf } from '@inlay/protocol'
import type { ListedDocument } from './row-pages.ts'
import { documentTexts } from '../texts/view-texts.ts'

/** Says which parts of a document's file could not be read; undefined if all of it was. */
export function unreadOf({ tags }: Pick<ListedDocument, 'tags'>): string | undefined {
  const unread = unreadPartsOf(tags.map(({ tag_key: key, tag_value: value }) => [key, value]))
  if (!unread) return undefined
  const { pages, attachments, missingNotes, parts: damaged, guessedEncoding } = unread
  return [
    pages && documentTexts.unreadPages(pages.count, pages.total, pages.numbers.join(', ')),
    attachments.length > 0 && documentTexts.unreadAttachments(attachments.length, attachments.join('; ')),
    missingNotes > 0 && documentTexts.missingNotes(missingNotes),
    damaged.length > 0 && documentTexts.unreadParts(damaged.join('; ')),
    guessedEncoding !== undefined && documentTexts.guessedEncoding(guessedEncoding),
  ]
    .filter(Boolean)
    .join(' ')
}
