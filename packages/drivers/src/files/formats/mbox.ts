import { concernsPartOnly } from '../budget.ts'
import { factsOf, oneLine, type Reading } from '../sections.ts'
import { readEml, shortened, type MailReading } from './eml.ts'

/** Reads a mailbox (mbox): each mail in sections under its subject, sender and date; repeated messages once. */
export async function readMbox(bytes: Uint8Array, reading: Omit<MailReading, 'seen'>): Promise<Reading> {
  const seen = new Set<string>()
  const sections: Reading['sections'][number][] = []
  let imageCount = 0
  let updatedAt: number | undefined
  let unread = 0
  const unreadAttachments: string[] = []
  for (const mail of mailsOf(bytes)) {
    try {
      const read = await readEml(mail, { ...reading, seen })
      const { from } = read.metadata ?? {}
      const date = read.createdAt === undefined ? undefined : new Date(read.createdAt).toISOString().slice(0, 10)
      const about = [read.title, from, date].filter(Boolean).join(', ')
      for (const section of read.sections)
        sections.push({ ...section, heading: oneLine([about, section.heading].filter(Boolean).join(' › ')) })
      for (const name of [read.metadata?.['unreadable_attachments'] ?? []].flat())
        unreadAttachments.push([about, name].filter(Boolean).join(' › '))
      imageCount += read.imageCount ?? 0
      updatedAt = Math.max(updatedAt ?? 0, read.createdAt ?? 0) || undefined
    } catch (error) {
      // Exceeding the budget fails the whole mailbox.
      if (!concernsPartOnly(error)) throw error
      unread++
    }
  }
  const metadata = factsOf({
    unreadable_mails: unread === 0 ? undefined : String(unread),
    unreadable_attachments: unreadAttachments.map(shortened),
  })
  return { title: null, sections, metadata, imageCount, updatedAt }
}

function* mailsOf(bytes: Uint8Array): Generator<Uint8Array> {
  // One character a byte: each mail says itself how its text is coded.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
  // Sentences begin with "From", too, but no header follows them.
  const starts = [...text.matchAll(/(?:^|\n\r?\n)From \S([^\n]*)\n(?=[\w-]+:)/g)].filter(([, line]) =>
    /\d{1,2}:\d{2}/.test(line!),
  )
  for (const [at, match] of starts.entries()) {
    const mail = text.slice(match.index + match[0].length, starts[at + 1]?.index ?? text.length)
    yield Buffer.from(mail.replace(/^>(>*From )/gm, '$1'), 'latin1')
  }
}
