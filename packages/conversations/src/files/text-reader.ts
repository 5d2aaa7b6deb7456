import { InlayError, storable } from '@inlay/protocol'
import type { FileReader } from './contracts.ts'

/**
 * Reads files that are text already: plain text, Markdown, CSV, source code, and HTML without its tags. The default
 * reader.
 */
export const readTextFile: FileReader = async ({ name, mediaType, bytes }, { signal } = {}) => {
  signal?.throwIfAborted()
  const text = decodeText(bytes)
  if (text === undefined) {
    throw new InlayError('INVALID_INPUT', {
      message: 'Files of this type cannot be read here: send plain text, Markdown, CSV or HTML.',
    })
  }
  const isHtml = /html/.test(mediaType ?? '') || /\.x?html?$/i.test(name)
  const shown = (isHtml ? withoutTags(text) : text).trim()
  return { sections: shown === '' ? [] : [{ text: shown }] }
}

/** As {@link decodeUnicode}, else as Windows-1252; undefined when the bytes are no text. */
function decodeText(bytes: Uint8Array): string | undefined {
  const text = decodeUnicode(bytes)
  if (text !== undefined || hasZeros(bytes)) return text
  return storable(new TextDecoder('windows-1252').decode(bytes))
}

/** Bytes as text, by their byte order mark, else as UTF-8; undefined when they are neither. */
export function decodeUnicode(bytes: Uint8Array): string | undefined {
  const encoding = markedEncoding(bytes)
  if (encoding) return storable(new TextDecoder(encoding).decode(bytes))
  if (hasZeros(bytes)) return undefined
  try {
    return storable(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

const hasZeros = (bytes: Uint8Array): boolean => bytes.subarray(0, 65_536).includes(0)

function markedEncoding([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Text of HTML: good enough for questions, as it is never displayed as HTML. */
function withoutTags(html: string): string {
  const blocks = /<\/?(?:p|div|br|li|ul|ol|tr|table|h[1-6]|section|article|pre|blockquote)\b[^>]*>/gi
  return replaceTags(replaceTags(withoutHidden(html), blocks, '\n'), /<[^<>]*>/g, '')
    .replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{1,8});/gi, (whole, code: string) => entityOf(code) ?? whole)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
}

/** Behind the last `>` nothing closes a tag, and a pattern would read on to the end from each `<`. */
function replaceTags(html: string, tags: RegExp, by: string): string {
  const end = html.lastIndexOf('>') + 1
  return html.slice(0, end).replace(tags, by) + html.slice(end)
}

/** Removes comments and invisible elements; each unclosed one is searched for once. */
function withoutHidden(html: string): string {
  const unclosed = new Set<string>()
  let shown = ''
  let from = 0
  for (const { index, 0: opening, 1: element = '' } of html.matchAll(/<!--|<(script|style|template|noscript)\b/gi)) {
    const name = element.toLowerCase()
    if (index < from || unclosed.has(name)) continue
    const closing = name === '' ? /-->/g : new RegExp(`</${name}\\s*>`, 'gi')
    closing.lastIndex = index + opening.length
    if (closing.test(html)) {
      shown += `${html.slice(from, index)} `
      from = closing.lastIndex
    } else unclosed.add(name)
  }
  return shown + html.slice(from)
}

function entityOf(code: string): string | undefined {
  if (!code.startsWith('#')) return entities[code.toLowerCase()]
  const point = /^#x/i.test(code) ? Number.parseInt(code.slice(2), 16) : Number(code.slice(1))
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point).toWellFormed() : undefined
}
