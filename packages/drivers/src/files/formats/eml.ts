import type { ExtractedSection } from '@inlay/knowledge'
import type { Address, Attachment, Email } from 'postal-mime'
import { concernsPartOnly, type Budget } from '../budget.ts'
import { splitHistory, type EarlierMessage } from './mail-history.ts'
import { toMarkdown } from './html-markdown.ts'
import { parseHtml } from './markup.ts'
import { toTimestamp } from '../timestamps.ts'
import { refusal } from '../refusals.ts'
import { factsOf, oneLine, sectionsOf, type Reading } from '../sections.ts'

/** Reads a file inside a file; rejects with a refusal when it cannot be read. */
export type InnerReader = (name: string, mediaType: string, bytes: Uint8Array) => Promise<Reading>

export interface MailReading {
  readonly budget: Budget
  readonly readsPictures: boolean
  readonly readInner: InnerReader
}

/**
 * Reads a mail: its text (the HTML form when there is one), each attachment that is a document, under its file name, then
 * the earlier messages that it repeats. An attachment that cannot be read is named in the metadata and does not fail the mail.
 */
export async function readEml(bytes: Uint8Array, { budget, readsPictures, readInner }: MailReading): Promise<Reading> {
  const { mail, facts } = await parseMail(bytes)
  const written = mail.html ? toMarkdown(parseHtml(mail.html)) : ''
  const body = written.trim() === '' ? (mail.text ?? '') : written
  const { newest, earlier } = splitHistory(body)
  // A mail that is passed on without a word is the text of this one.
  const passedOn = newest === '' ? earlier[0] : undefined
  const sections = passedOn ? sectionsOfEarlier(passedOn, budget) : sectionsOf(newest, budget)
  const unread: string[] = []
  for (const attachment of mail.attachments) {
    const isPicture = attachment.mimeType.startsWith('image/')
    // Related ones are logos of signatures.
    if (!isPicture || (readsPictures && !attachment.related))
      await readAttachment(attachment, { sections, unread, readInner })
  }
  addEarlier(sections, passedOn ? earlier.slice(1) : earlier, passedOn?.text ?? newest, budget)
  const sentAt = toTimestamp(mail.date ?? '')
  const title = oneLine(mail.subject ?? '')
  return {
    title: title === '' ? null : title,
    sections,
    metadata: { ...factsOf({ unreadable_attachments: unread.map(shortened) }), ...factsOfMail(mail), ...facts },
    createdAt: sentAt,
    updatedAt: sentAt,
  }
}

/** Parses a mail, a second time where bytes of an encoding that it does not name came out as replacement characters. */
async function parseMail(bytes: Uint8Array): Promise<{ mail: Email; facts: { guessed_encoding?: string } }> {
  const { default: PostalMime } = await import('postal-mime')
  const parse = (source: Uint8Array): Promise<Email> =>
    PostalMime.parse(source, { attachmentEncoding: 'arraybuffer', maxNestingDepth: 50 }).catch((error: unknown) => {
      throw refusal('broken', 'The mail is damaged or its parts are nested too deeply: save it anew.', error)
    })
  const textsOf = (mail: Email): string[] => [mail.subject ?? '', mail.text ?? '', mail.html ?? '']
  const mail = await parse(bytes)
  const names = [mail.from, ...(mail.to ?? []), ...(mail.cc ?? [])].map((each) => each?.name ?? '')
  if (![...textsOf(mail), ...names].some((text) => text.includes('\ufffd'))) return { mail, facts: {} }
  const { withGuessedEncoding } = await import('./mail-encoding.ts')
  const guess = await withGuessedEncoding(bytes, async (source) => textsOf(await parse(source)))
  return { mail: await parse(guess.mail), facts: guess.facts }
}

/** Longer sections are no messages. */
const maxMessage = 100_000
/** Shorter ones are repeated by chance. */
const minRepeated = 40

/** Appends what the mail repeats of earlier ones, each once, and none that is attached. */
function addEarlier(
  sections: ExtractedSection[],
  earlier: readonly EarlierMessage[],
  own: string,
  budget: Budget,
): void {
  const texts = [own, ...sections.map(({ text }) => text)]
  const known = texts.filter((text) => text.length <= maxMessage).map(normalizedText)
  const seen = new Set<string>()
  for (const message of earlier) {
    const words = normalizedText(message.text)
    if (words.length >= minRepeated) {
      if (seen.has(words) || known.some((other) => other.includes(words))) continue
      seen.add(words)
    }
    const heading = message.heading === '' ? 'Earlier message' : message.heading
    sections.push(...sectionsOfEarlier({ ...message, heading }, budget))
  }
}

function sectionsOfEarlier({ heading, header, text }: EarlierMessage, budget: Budget): ExtractedSection[] {
  return sectionsOf(header === '' ? text : `${header}\n\n${text}`, budget, { heading })
}

/** Letters and digits alone: programs break and mark lines in their own ways. */
function normalizedText(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase()
}

/** Longer tags are not recorded, and the document would seem to be read in full. */
const maxUnreadLength = 400

function shortened(entry: string): string {
  return entry.length > maxUnreadLength ? `${entry.slice(0, maxUnreadLength)}…` : entry
}

async function readAttachment(
  attachment: Attachment,
  mail: { sections: ExtractedSection[]; unread: string[]; readInner: InnerReader },
): Promise<void> {
  const name = oneLine(attachment.filename ?? '')
  try {
    const { sections, metadata = {} } = await mail.readInner(name, attachment.mimeType, contentOf(attachment))
    for (const section of sections) mail.sections.push({ ...section, heading: joinHeadings(name, section.heading) })
    const {
      unreadable_pages: pages,
      unreadable_attachments: inner,
      missing_notes: notes,
      unreadable_parts: parts,
    } = metadata
    if (pages !== undefined) mail.unread.push(`${name}: pages ${[pages].flat().join(', ')}`)
    if (notes !== undefined) mail.unread.push(`${name}: ${[notes].flat().join(', ')} of its footnotes or comments`)
    if (parts !== undefined) mail.unread.push(`${name}: ${[parts].flat().join(', ')}`)
    for (const each of [inner ?? []].flat()) mail.unread.push(joinHeadings(name, each)!)
  } catch (error) {
    // Exceeding the budget fails the whole mail.
    if (!concernsPartOnly(error)) throw error
    mail.unread.push(name === '' ? attachment.mimeType : name)
  }
}

function contentOf({ content }: Attachment): Uint8Array {
  if (typeof content === 'string') return new TextEncoder().encode(content)
  return content instanceof Uint8Array ? content : new Uint8Array(content)
}

function joinHeadings(name: string, heading: string | undefined): string | undefined {
  return [name, heading].filter(Boolean).join(' › ') || undefined
}

function factsOfMail(mail: Email): Record<string, string | string[]> {
  const names = mail.attachments.map(({ filename }) => filename ?? '')
  return factsOf({
    author: mail.from && people([mail.from]),
    from: mail.from && people([mail.from]),
    to: people(mail.to ?? []),
    cc: people(mail.cc ?? []),
    message_id: mail.messageId,
    in_reply_to: mail.inReplyTo,
    attachments: names,
  })
}

/** `Ann Lee <ann@example.com>`, as readers write it; groups as their members. */
function people(addresses: readonly Address[]): string[] {
  return addresses.flatMap((each) => {
    if (each.group) return people(each.group)
    return each.name === '' || each.name === each.address ? each.address : `${each.name} <${each.address}>`
  })
}
