import type { PacketBody, SearchDoc } from '@inlay/protocol'

/** A mark `[1]` in the text of an answer. */
export interface CitedMark {
  readonly number: number
  readonly documentId: string
  readonly title: string
  /** Link of the document, or where Inlay shows its text. */
  readonly url: string
  /** Index of the opening bracket in the text, in UTF-16 units. */
  readonly start: number
  /** Index behind the closing bracket. */
  readonly end: number
  readonly document: SearchDoc
}

const mark = /\[\[(\d{1,6})\]\]\(/y
/** Longer ones stay as they are, since their end would be waited for. */
const maxLink = 8_000
const beginning = /^\[(?:\[(?:\d{1,6}(?:\](?:\]\(?)?)?)?)?$/

/** Text of an answer as its packets come, with marks `[1]` instead of links, and where they are. */
export interface CitedText {
  /** All text so far, joined when it is read. */
  readonly text: string
  readonly marks: readonly CitedMark[]
  /** Takes a packet. @returns text to append */
  take(packet: PacketBody): string
  /** Gives out what was held back; the text of an answer may go on. */
  end(): string
}

/** @param urlOf the address of a document without a link */
export function createCitedText(urlOf: (documentId: string) => string): CitedText {
  const documents = new Map<string, SearchDoc>()
  const numbered = new Map<number, string>()
  const marks: CitedMark[] = []
  const pieces: string[] = []
  let [length, held] = [0, '']
  /** The open link at the start of what is held: where its address begins, and how far it was read. */
  let link: { readonly number: number; readonly from: number; at: number; depth: number } | undefined

  const documentOf = (number: number, address: string): SearchDoc | undefined => {
    const document = documents.get(numbered.get(number) ?? '')
    return document ?? [...documents.values()].find((other) => other.link !== null && other.link === address)
  }

  /** Follows the open link to its end. @returns what it becomes, undefined while it has no end */
  const closeLink = (open: NonNullable<typeof link>): string | undefined => {
    while (open.depth > 0 && open.at < held.length) {
      const character = held[open.at++]
      if (character === '(') open.depth++
      else if (character === ')') open.depth--
      // No address holds white space.
      else if (character === '\n' || character === ' ') return held.slice(0, open.at)
    }
    if (open.depth > 0) return held.length > maxLink ? held : undefined
    const document = documentOf(open.number, held.slice(open.from, open.at - 1))
    return document === undefined ? held.slice(0, open.at) : place(open.number, document)
  }

  const place = (number: number, document: SearchDoc): string => {
    const written = `[${number}]`
    marks.push({
      number,
      documentId: document.document_id,
      title: document.semantic_identifier,
      url: document.link || urlOf(document.document_id),
      start: length,
      end: length + written.length,
      document,
    })
    return written
  }

  const give = (piece: string): void => {
    length += piece.length
    pieces.push(piece)
  }

  const release = (): string => {
    const from = pieces.length
    while (held !== '') {
      if (link !== undefined) {
        const closed = closeLink(link)
        if (closed === undefined) break
        give(closed)
        held = held.slice(link.at)
        link = undefined
        continue
      }
      const at = held.indexOf('[')
      if (at !== 0) give(at === -1 ? held : held.slice(0, at))
      held = at === -1 ? '' : held.slice(at)
      mark.lastIndex = 0
      const number = mark.exec(held)?.[1]
      if (number !== undefined) link = { number: Number(number), from: mark.lastIndex, at: mark.lastIndex, depth: 1 }
      else if (held.length < 12 && beginning.test(held)) break
      else {
        give(held.slice(0, 1))
        held = held.slice(1)
      }
    }
    return pieces.slice(from).join('')
  }

  const end = (): string => {
    const rest = held
    ;[held, link] = ['', undefined]
    give(rest)
    return rest
  }

  return {
    get text() {
      return pieces.join('')
    },
    marks,
    end,
    take(packet) {
      for (const document of documentsOf(packet)) documents.set(document.document_id, document)
      if (packet.type === 'citation_info') numbered.set(packet.citation_number, packet.document_id)
      if (packet.type !== 'message_delta') return ''
      held += packet.content
      return release()
    },
  }
}

function documentsOf(packet: PacketBody): readonly SearchDoc[] {
  if (packet.type === 'message_start') return packet.final_documents ?? []
  return packet.type === 'search_tool_documents_delta' ? packet.documents : []
}
