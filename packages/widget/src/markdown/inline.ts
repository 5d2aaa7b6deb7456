/** A piece of a line of text. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'strong' | 'em' | 'del'; readonly children: readonly Inline[] }
  /** `href` is an address that a page may open; undefined for any other. */
  | { readonly kind: 'link'; readonly href: string | undefined; readonly children: readonly Inline[] }
  /** A rendered citation, `[[1]](link)`. */
  | { readonly kind: 'citation'; readonly number: number; readonly href: string | undefined }

/** Longer labels and addresses are no links: what follows a bracket is searched once for each. */
const longestLabel = 1000
const longestAddress = 2000
const deepest = 8

/** The pieces of a paragraph. Takes time in proportion to its length, whatever it holds. */
export function parseInline(text: string, depth = 0): Inline[] {
  const pieces: Inline[] = []
  const missing = new Set<string>()
  let plain = ''
  const flush = (): void => {
    if (plain !== '') pieces.push({ kind: 'text', text: plain })
    plain = ''
  }
  for (let at = 0; at < text.length;) {
    const next = depth < deepest ? pieceAt(text, at, missing, depth) : undefined
    if (next === undefined) plain += text[at++]
    else {
      if (typeof next.piece === 'string') plain += next.piece
      else {
        flush()
        pieces.push(next.piece)
      }
      at = next.end
    }
  }
  flush()
  return pieces
}

interface Piece {
  readonly piece: Inline | string
  readonly end: number
}

/** @param missing closing marks that do not come any more, so that they are not searched for again */
function pieceAt(text: string, at: number, missing: Set<string>, depth: number): Piece | undefined {
  switch (text[at]) {
    case '\\':
      if (text[at + 1] === '\n') return { piece: { kind: 'break' }, end: at + 2 }
      // Marks of formulas: without their backslashes they read as ordinary parentheses and commas.
      if (/[(),]/.test(text[at + 1] ?? '')) return { piece: text.slice(at, at + 2), end: at + 2 }
      return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '') ? { piece: text[at + 1] ?? '', end: at + 2 } : undefined
    case '\n':
      return text.slice(at - 2, at) === '  ' ? { piece: { kind: 'break' }, end: at + 1 } : undefined
    case '`':
      return codeAt(text, at, missing)
    case '!':
      return text[at + 1] === '[' ? linkAt(text, at + 1, missing, depth) : undefined
    case '[':
      return linkAt(text, at, missing, depth)
    case '<':
    case 'h':
      return addressAt(text, at)
    case '*':
    case '_':
    case '~':
      return emphasisAt(text, at, missing, depth)
    default:
      return undefined
  }
}

function codeAt(text: string, at: number, missing: Set<string>): Piece | undefined {
  const mark = /^`+/.exec(text.slice(at, at + 20))?.[0] ?? '`'
  const end = closing(text, mark, at + mark.length, missing)
  if (end === undefined) return { piece: mark, end: at + mark.length }
  const code = text.slice(at + mark.length, end).replaceAll('\n', ' ')
  return {
    piece: { kind: 'code', text: code.trim() === '' ? code : code.replace(/^ (.*) $/, '$1') },
    end: end + mark.length,
  }
}

function closing(text: string, mark: string, from: number, missing: Set<string>): number | undefined {
  if (missing.has(mark)) return undefined
  const end = text.indexOf(mark, from)
  if (end < 0) missing.add(mark)
  return end < 0 ? undefined : end
}

const emphases: readonly [mark: string, kind: 'strong' | 'em' | 'del'][] = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
]

function emphasisAt(text: string, at: number, missing: Set<string>, depth: number): Piece | undefined {
  for (const [mark, kind] of emphases) {
    if (!text.startsWith(mark, at)) continue
    const start = at + mark.length
    // A mark before a space opens nothing, and `_` inside a word is part of it.
    if (/^\s?$/.test(text[start] ?? '') || (mark[0] === '_' && /\w/.test(text[at - 1] ?? ''))) continue
    const close = closing(text, mark, start + 1, missing)
    // Of three marks, the outer ones belong to this piece.
    const end = close !== undefined && text[close + mark.length] === mark[0] ? close + 1 : close
    if (end === undefined || /\s/.test(text[end - 1] ?? '')) continue
    if (mark[0] === '_' && /\w/.test(text[end + mark.length] ?? '')) continue
    const children = parseInline(text.slice(start, end), depth + 1)
    return { piece: { kind, children }, end: end + mark.length }
  }
  return undefined
}

/** A link, a citation, or a picture, which is never fetched: its address would tell its owner who reads what. */
function linkAt(text: string, at: number, missing: Set<string>, depth: number): Piece | undefined {
  if (closing(text, ')', at, missing) === undefined) return undefined
  const middle = pairEnd(text, at, '[', ']', longestLabel)
  if (middle === undefined || text[middle + 1] !== '(') return undefined
  const end = pairEnd(text, middle + 1, '(', ')', longestAddress)
  if (end === undefined) return undefined
  const label = text.slice(at + 1, middle)
  const href = safeLink(text.slice(middle + 2, end).replace(/\s+["'(][^]*$/, ''))
  const digits = /^\[(\d{1,9})\]$/.exec(label)?.[1]
  if (digits !== undefined) return { piece: { kind: 'citation', number: Number(digits), href }, end: end + 1 }
  return { piece: { kind: 'link', href, children: parseInline(label || 'link', depth + 1) }, end: end + 1 }
}

/** Position of the bracket that closes the one at `at`, at most `most` characters further. */
function pairEnd(text: string, at: number, open: string, close: string, most: number): number | undefined {
  let level = 0
  for (let end = at; end < Math.min(text.length, at + most); end++) {
    if (text[end] === '\\') end++
    else if (text[end] === open) level++
    else if (text[end] === close && --level === 0) return end
  }
  return undefined
}

/** An address without a label. */
function addressAt(text: string, at: number): Piece | undefined {
  const rest = text.slice(at, at + longestAddress)
  const [whole, inner] =
    /^<(https?:\/\/[^\s<>]+)>/i.exec(rest) ?? /^(https?:\/\/[^\s<>]*[^\s<>.,:;"')\]*_~!?])/i.exec(rest) ?? []
  if (whole === undefined || inner === undefined || /\w/.test(text[at - 1] ?? '')) return undefined
  return {
    piece: { kind: 'link', href: safeLink(inner), children: [{ kind: 'text', text: inner }] },
    end: at + whole.length,
  }
}

/**
 * The address that a link of untrusted text may lead to, or undefined. Parsed as a browser parses it, so that line
 * breaks or capitals inside `javascript:` do not help.
 */
export function safeLink(address: string | null): string | undefined {
  try {
    // No base: a relative link of a document means a place in its own site.
    const url = new URL(address?.trim() ?? '')
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
