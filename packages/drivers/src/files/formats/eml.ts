import type { ExtractedSection } from '@inlay/knowledge'
import type { Address, Attachment, Email } from 'postal-mime'
import type { Budget } from '../budget.ts'
import { toMarkdown } from './html-markdown.ts'
import { parseHtml } from './markup.ts'
import { toTimestamp } from '../timestamps.ts'
import { refusal, refusalOf } from '../refusals.ts'
import { factsOf, oneLine, sectionsOf, type Reading } from '../sections.ts'

/** Reads a file inside a file; rejects with a refusal when it cannot be read. */
export type InnerReader = (name: string, mediaType: string, bytes: Uint8Array) => Promise<Reading>

/**
 * Reads a mail: its text (the HTML form when there is one), then each attachment that is a document, under its file
 * name. An attachment that cannot be read is named in the metadata and does not fail the mail.
 */
export async function readEml(
  bytes: Uint8Array,
  {
    budget,
    readsPictures,
    readInner,
  }: { readonly budget: Budget; readonly readsPictures: boolean; readonly readInner: InnerReader },
): Promise<Reading> {
  const { default: PostalMime } = await import('postal-mime')
  const mail = await PostalMime.parse(bytes, { attachmentEncoding: 'arraybuffer', maxNestingDepth: 50 }).catch(
    (error: unknown) => {
      throw refusal('broken', 'The mail is damaged or its parts are nested too deeply: save it anew.', error)
    },
  )
  const written = mail.html ? toMarkdown(parseHtml(mail.html)) : { text: mail.text ?? '', imageCount: 0 }
  const body = written.text.trim() === '' ? (mail.text ?? '') : written.text
  const sections = sectionsOf(body, budget)
  const unread: string[] = []
  let imageCount = written.imageCount
  for (const attachment of mail.attachments) {
    const isPicture = attachment.mimeType.startsWith('image/')
    // Related ones are logos of signatures.
    if (isPicture && (attachment.related || !readsPictures)) imageCount += attachment.related ? 0 : 1
    else imageCount += await readAttachment(attachment, { sections, unread, readInner })
  }
  const sentAt = toTimestamp(mail.date ?? '')
  const title = oneLine(mail.subject ?? '')
  return {
    title: title === '' ? null : title,
    sections,
    metadata: { ...factsOfMail(mail), ...factsOf({ unreadable_attachments: unread }) },
    createdAt: sentAt,
    updatedAt: sentAt,
    imageCount,
  }
}

/** Appends the text of an attachment to the sections; answers how many images are in it. */
async function readAttachment(
  attachment: Attachment,
  mail: { sections: ExtractedSection[]; unread: string[]; readInner: InnerReader },
): Promise<number> {
  const name = oneLine(attachment.filename ?? '')
  try {
    const { sections, imageCount = 0 } = await mail.readInner(name, attachment.mimeType, contentOf(attachment))
    for (const section of sections) mail.sections.push({ ...section, heading: joinHeadings(name, section.heading) })
    return imageCount
  } catch (error) {
    const refused = refusalOf(error)
    // Exceeding the budget fails the whole mail; any other error affects only this attachment.
    if (!refused || refused.reason === 'too_large') throw error
    mail.unread.push(name === '' ? attachment.mimeType : name)
    return 0
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
