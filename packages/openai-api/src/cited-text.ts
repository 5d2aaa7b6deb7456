import type { PacketBody, SearchDoc } from '@inlay/protocol'

/** A mark `[1]` in the text of an answer; positions are UTF-16 units. */
export interface CitedMark {
  readonly document: SearchDoc
  /** Link of the document, or where Inlay shows its text. */
  readonly url: string
  readonly start: number
  /** Behind the closing bracket. */
  readonly end: number
}

/**
 * A link of the engine, which numbers addresses for clients as the text comes to them: front ends take the second source
 * for `[2]`. It stands whole in one packet; parentheses of addresses are balanced.
 */
const link = /\[\[(\d{1,6})\]\]\((?:[^()\s]|\([^()\s]*\))*\)/g

/** Text of an answer as its packets come, with marks `[1]` instead of links, and where they are. */
export interface CitedText {
  readonly text: string
  readonly marks: readonly CitedMark[]
  /** Takes a packet. @returns text to append */
  take(packet: PacketBody): string
}

/** @param urlOf the address of a document without a link */
export function createCitedText(urlOf: (documentId: string) => string): CitedText {
  const documents = new Map<string, SearchDoc>()
  const cited = new Map<number, SearchDoc>()
  const marks: CitedMark[] = []
  const pieces: string[] = []
  let length = 0
  const add = (piece: string): void => {
    pieces.push(piece)
    length += piece.length
  }
  const addText = (content: string): void => {
    let from = 0
    for (const { 0: written, 1: digits, index } of content.matchAll(link)) {
      const document = cited.get(Number(digits))
      if (!document) continue
      const url = document.link || urlOf(document.document_id)
      add(content.slice(from, index))
      from = index + written.length
      const start = length
      add(`[${digits}]`)
      marks.push({ document, url, start, end: length })
    }
    add(content.slice(from))
  }
  return {
    get text() {
      return pieces.join('')
    },
    marks,
    take(packet) {
      for (const document of documentsOf(packet)) documents.set(document.document_id, document)
      if (packet.type === 'citation_info') {
        const document = documents.get(packet.document_id)
        if (document) cited.set(packet.citation_number, document)
      }
      if (packet.type !== 'message_delta') return ''
      const before = pieces.length
      addText(packet.content)
      return pieces.slice(before).join('')
    },
  }
}

function documentsOf(packet: PacketBody): readonly SearchDoc[] {
  if (packet.type === 'message_start') return packet.final_documents ?? []
  return packet.type === 'search_tool_documents_delta' ? packet.documents : []
}
