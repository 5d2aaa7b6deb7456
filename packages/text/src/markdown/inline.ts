import { decodeEntities, entityAt } from './entities.ts'
import { safeLink } from './links.ts'
import type { Inline } from './tree.ts'

/** URLs of a document by the labels of `[label]: url`, in lower case. */
export type References = ReadonlyMap<string, string>

/** Longer labels, URLs and formulas are text, since the closing mark is searched from every opening mark. */
const maxLabelLength = 1000
const maxAddressLength = 2000
const maxFormulaLength = 1000
const maxDepth = 8
const maxOpeners = 64

export interface InlineOptions {
  readonly references: References
  /** Whether more text will follow: an unclosed bold text is then bold to the end. */
  readonly isGrowing: boolean
}

/** Parses the inline elements of a paragraph, in linear time. */
export function parseInline(text: string, options: InlineOptions, depth = 0): readonly Inline[] {
  const scan: Scan = { text, options, depth, marks: new Map() }
  const nodes: Node[] = []
  let plain = ''
  const flush = (): void => {
    if (plain !== '') nodes.push({ kind: 'text', text: plain })
    plain = ''
  }
  for (let at = 0; at < text.length;) {
    const next = depth < maxDepth ? pieceAt(scan, at) : undefined
    if (next === undefined) plain += text[at++]
    else {
      if (typeof next.piece === 'string') plain += next.piece
      else {
        flush()
        nodes.push(next.piece)
      }
      at = next.end
    }
  }
  flush()
  return withEmphasis(nodes, options.isGrowing)
}

/** A run of emphasis marks, before it is known what they open or close. */
interface Run {
  readonly kind: 'run'
  readonly mark: string
  count: number
  readonly canOpen: boolean
  readonly canClose: boolean
}

type Node = Inline | Run

interface Scan {
  readonly text: string
  readonly options: InlineOptions
  readonly depth: number
  /** Where closing marks were found last, Infinity if nowhere: each is searched for once in a stretch of the text. */
  readonly marks: Map<string, number>
}

interface Piece {
  readonly piece: Node | string
  readonly end: number
}

const pairTags = new Map<string, 'sub' | 'sup' | 'kbd' | 'mark' | 'u' | 'strong' | 'em' | 'del'>([
  ['sub', 'sub'],
  ['sup', 'sup'],
  ['kbd', 'kbd'],
  ['mark', 'mark'],
  ['u', 'u'],
  ['b', 'strong'],
  ['strong', 'strong'],
  ['i', 'em'],
  ['em', 'em'],
  ['s', 'del'],
  ['del', 'del'],
])

function pieceAt(scan: Scan, at: number): Piece | undefined {
  const { text } = scan
  switch (text[at]) {
    case '\\':
      return escapeAt(scan, at)
    case '\n':
      return text.slice(at - 2, at) === '  ' ? { piece: { kind: 'break' }, end: at + 1 } : undefined
    case '`':
      return codeAt(scan, at)
    case '!':
      return text[at + 1] === '[' ? linkAt(scan, at + 1, true) : undefined
    case '[':
      return footnoteAt(text, at) ?? linkAt(scan, at, false)
    case '<':
      return addressAt(text, at) ?? tagAt(scan, at)
    case 'h':
      return addressAt(text, at)
    case '&': {
      const entity = entityAt(text, at)
      return entity && { piece: entity.text, end: entity.end }
    }
    case '$':
      return dollarsAt(scan, at)
    case '*':
    case '_':
    case '~':
      return runAt(text, at)
    default:
      return undefined
  }
}

function escapeAt(scan: Scan, at: number): Piece | undefined {
  const { text } = scan
  const next = text[at + 1] ?? ''
  if (next === '\n') return { piece: { kind: 'break' }, end: at + 2 }
  if (next === '(' || next === '[') {
    const end = closing(scan, next === '(' ? '\\)' : '\\]', at + 2)
    if (end !== undefined && end - at <= maxFormulaLength)
      return { piece: { kind: 'math', text: text.slice(at + 2, end).trim() }, end: end + 2 }
  }
  // Marks of formulas: without backslashes they would look like ordinary parentheses and commas.
  if (/[(),]/.test(next)) return { piece: text.slice(at, at + 2), end: at + 2 }
  return /[!-/:-@[-`{-~]/.test(next) ? { piece: next, end: at + 2 } : undefined
}

/** A formula between dollars. To exclude prices, it must contain TeX markup or be a single letter. */
function dollarsAt(scan: Scan, at: number): Piece | undefined {
  const { text } = scan
  if (text[at + 1] === '$') {
    const end = closing(scan, '$$', at + 2)
    if (end === undefined || end - at > maxFormulaLength || end === at + 2) return { piece: '$$', end: at + 2 }
    return { piece: { kind: 'math', text: text.slice(at + 2, end).trim() }, end: end + 2 }
  }
  const end = text.indexOf('$', at + 1)
  if (end < 0 || end - at > maxFormulaLength) return undefined
  const formula = text.slice(at + 1, end)
  const isFormula = /^[A-Za-z]$/.test(formula) || (/[\\^_={}<>+]/.test(formula) && !/^\s|\s$/.test(formula))
  if (!isFormula || /\d/.test(text[end + 1] ?? '') || formula.includes('`')) return undefined
  return { piece: { kind: 'math', text: formula }, end: end + 1 }
}

function codeAt(scan: Scan, at: number): Piece {
  const { text } = scan
  const mark = /^`+/.exec(text.slice(at, at + 20))?.[0] ?? '`'
  let end = closing(scan, mark, at + mark.length)
  // A longer run of marks does not close this one.
  while (end !== undefined && text[end + mark.length] === '`') {
    while (text[end] === '`') end++
    end = closing(scan, mark, end)
  }
  if (end === undefined) return { piece: mark, end: at + mark.length }
  const code = text.slice(at + mark.length, end).replaceAll('\n', ' ')
  return {
    piece: { kind: 'code', text: code.trim() === '' ? code : code.replace(/^ (.*) $/, '$1') },
    end: end + mark.length,
  }
}

function closing({ text, marks }: Scan, mark: string, from: number): number | undefined {
  let end = marks.get(mark) ?? -1
  if (end < from) {
    const next = text.indexOf(mark, from)
    end = next < 0 ? Infinity : next
    marks.set(mark, end)
  }
  return end === Infinity ? undefined : end
}

function runAt(text: string, at: number): Piece {
  const mark = text[at] ?? ''
  let end = at
  while (text[end] === mark) end++
  const [before, after] = [text[at - 1] ?? ' ', text[end] ?? ' ']
  const isInWord = mark === '_'
  const canOpen = !/\s/.test(after) && !(isInWord && /[\p{L}\p{N}]/u.test(before))
  const canClose = !/\s/.test(before) && !(isInWord && /[\p{L}\p{N}]/u.test(after))
  const count = end - at
  if (mark === '~' && count > 2) return { piece: text.slice(at, end), end }
  return { piece: { kind: 'run', mark, count, canOpen, canClose }, end }
}

/** Pairs runs of emphasis marks, innermost first. */
function withEmphasis(nodes: readonly Node[], isGrowing: boolean): readonly Inline[] {
  const output: Node[] = []
  /** Indexes of runs in the output that can still be closed. */
  const openers: number[] = []
  const wrap = (place: number, count: number): void => {
    // An index in `openers` always refers to a run.
    const opener = output[place] as Run
    const inlines = withoutRuns(output.splice(place + 1))
    opener.count -= count
    while ((openers.at(-1) ?? -1) > place) openers.pop()
    if (opener.count === 0) {
      output.pop()
      openers.pop()
    }
    output.push({ kind: opener.mark === '~' ? 'del' : count === 2 ? 'strong' : 'em', inlines })
  }
  for (const node of nodes) {
    if (node.kind !== 'run') {
      output.push(node)
      continue
    }
    const run = { ...node }
    while (run.canClose && run.count > 0) {
      const place = openerOf(run, output, openers)
      if (place === undefined) break
      const count = Math.min(run.count, (output[place] as Run).count, 2)
      wrap(place, count)
      run.count -= count
    }
    if (run.count === 0) continue
    if (run.canOpen) openers.push(output.length)
    output.push(run)
  }
  if (isGrowing)
    for (const place of openers.toReversed()) {
      const run = output[place]
      if (run?.kind === 'run' && run.mark !== '~' && run.count === 2 && place < output.length - 1) wrap(place, 2)
    }
  return withoutRuns(output)
}

function openerOf(run: Run, output: readonly Node[], openers: readonly number[]): number | undefined {
  return openers.slice(-maxOpeners).findLast((place) => {
    const opener = output[place]
    if (opener?.kind !== 'run' || opener.mark !== run.mark || place === output.length - 1) return false
    if (run.mark === '~') return opener.count === run.count
    // CommonMark's rule for runs that can both open and close.
    const isMixed = (opener.canClose || run.canOpen) && (opener.count + run.count) % 3 === 0
    return !isMixed || (opener.count % 3 === 0 && run.count % 3 === 0)
  })
}

/** Converts unmatched marks to text, and merges adjacent texts. */
function withoutRuns(nodes: readonly Node[]): readonly Inline[] {
  const inlines: Inline[] = []
  for (const node of nodes) {
    const inline: Inline = node.kind === 'run' ? { kind: 'text', text: node.mark.repeat(node.count) } : node
    const last = inlines.at(-1)
    if (inline.kind === 'text' && last?.kind === 'text')
      inlines.splice(-1, 1, { kind: 'text', text: last.text + inline.text })
    else inlines.push(inline)
  }
  return inlines
}

function footnoteAt(text: string, at: number): Piece | undefined {
  if (text[at + 1] !== '^') return undefined
  const label = /^\[\^([^\s\]^]{1,60})\]/.exec(text.slice(at, at + 64))?.[1]
  return label === undefined ? undefined : { piece: { kind: 'footnote', label }, end: at + label.length + 3 }
}

/** A link, a citation or a picture. */
function linkAt({ text, options, depth }: Scan, at: number, isImage: boolean): Piece | undefined {
  const middle = pairEnd(text, at, '[', ']', maxLabelLength)
  if (middle === undefined) return undefined
  const label = text.slice(at + 1, middle)
  const target = targetAt(text, middle + 1, label, options.references)
  if (target === undefined) return undefined
  const href = safeLink(decodeEntities(target.address))
  if (isImage) return { piece: { kind: 'image', href, text: plainLabel(label) }, end: target.end }
  const digits = /^\[(\d{1,9})\]$/.exec(label)?.[1]
  if (digits !== undefined) return { piece: { kind: 'citation', number: Number(digits), href }, end: target.end }
  return {
    piece: { kind: 'link', href, inlines: parseInline(label || 'link', options, depth + 1) },
    end: target.end,
  }
}

const plainLabel = (label: string): string => decodeEntities(label.replaceAll(/[*_`\\]/g, ''))

/** The URL after a label: in parentheses, or from a definition in the document. */
function targetAt(
  text: string,
  at: number,
  label: string,
  references: References,
): { readonly address: string; readonly end: number } | undefined {
  if (text[at] === '(') {
    const end = pairEnd(text, at, '(', ')', maxAddressLength)
    if (end === undefined) return undefined
    const inner = text.slice(at + 1, end).trim()
    const angled = /^<([^<>\n]*)>/.exec(inner)?.[1]
    const [address = ''] = angled === undefined ? inner.split(/\s["'(]/, 1) : [angled]
    return { address: address.trimEnd().replaceAll(/\\([()])/g, '$1'), end: end + 1 }
  }
  if (references.size === 0) return undefined
  const named = text[at] === '[' ? pairEnd(text, at, '[', ']', maxLabelLength) : undefined
  const name = named === undefined ? label : text.slice(at + 1, named) || label
  const address = references.get(name.trim().toLowerCase())
  return address === undefined ? undefined : { address, end: named === undefined ? at : named + 1 }
}

/** Position of the bracket that closes the one at `at`, within `most` characters. */
function pairEnd(text: string, at: number, open: string, close: string, most: number): number | undefined {
  let level = 0
  for (let end = at; end < Math.min(text.length, at + most); end++) {
    if (text[end] === '\\') end++
    else if (text[end] === open) level++
    else if (text[end] === close && --level === 0) return end
  }
  return undefined
}

/** A bare URL. */
function addressAt(text: string, at: number): Piece | undefined {
  const rest = text.slice(at, at + maxAddressLength)
  const [whole, inner] =
    /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/i.exec(rest) ??
    /^(https?:\/\/[^\s<>]*[^\s<>.,:;"')\]*_~!?])/i.exec(rest) ??
    []
  if (whole === undefined || inner === undefined || /[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return undefined
  const words = decodeEntities(inner)
  return {
    piece: { kind: 'link', href: safeLink(words), inlines: [{ kind: 'text', text: words.replace(/^mailto:/i, '') }] },
    end: at + whole.length,
  }
}

/** An HTML element for text without attributes; all other HTML stays text. */
function tagAt(scan: Scan, at: number): Piece | undefined {
  const { text, options, depth } = scan
  const [whole, name = ''] = /^<(\/?[a-z]{1,6}) ?\/?>/i.exec(text.slice(at, at + 12)) ?? []
  if (whole === undefined) return undefined
  const tag = name.toLowerCase()
  if (tag === 'br') return { piece: { kind: 'break' }, end: at + whole.length }
  const kind = pairTags.get(tag)
  if (kind === undefined || whole.includes('/')) return undefined
  const end = closing(scan, `</${name}>`, at + whole.length)
  if (end === undefined) return undefined
  const inlines = parseInline(text.slice(at + whole.length, end), options, depth + 1)
  return { piece: { kind, inlines }, end: end + name.length + 3 }
}
