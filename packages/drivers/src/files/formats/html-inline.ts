import { fenceFor } from './code-fence.ts'
import { textOf, type Element, type Node } from './markup.ts'

export interface Writing {
  /** Converts a URL in the file to one that works elsewhere; undefined to drop the link. */
  readonly toAddress: (href: string) => string | undefined
  readonly seen: { filledCharacters: number }
  readonly marks: {
    readonly bold?: boolean
    readonly italic?: boolean
    readonly struck?: boolean
    readonly link?: boolean
  }
  /** Number of enclosing lists and quotations. */
  readonly depth: number
}

export function isHidden(element: Element): boolean {
  const { hidden, style } = element.attributes
  if (hidden !== undefined && hidden !== 'until-found') return true
  if (element.attributes['aria-hidden'] === 'true') return true
  return style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style)
}

/** Converts text and inline elements to one paragraph of Markdown; "" if nothing is visible. Breaks become line ends. */
export function inlineMarkdown(nodes: readonly Node[], writing: Writing): string {
  let text = ''
  for (const node of nodes) text += write(node, writing)
  if (text.includes('\n')) text = text.replace(/(?<![ \t])[ \t]*\n[ \t]*/g, '\n').replace(/\n{3,}/g, '\n\n')
  return (text.includes('  ') ? text.replace(/ {2,}/g, ' ') : text).trim()
}

const layout = /[\t\n\r\f]| {2}/

function write(node: Node, writing: Writing): string {
  if (typeof node === 'string') return layout.test(node) ? node.replace(/[ \t\n\r\f]+/g, ' ') : node
  if (isHidden(node)) return ''
  const { marks } = writing
  switch (node.name) {
    case 'br':
      return '\n'
    case 'img':
      return (node.attributes['alt'] ?? '').replace(/\s+/g, ' ')
    case 'b':
    case 'strong':
      return marks.bold ? inner(node, writing) : marked(inner(node, marking(writing, { bold: true })), '**')
    case 'i':
    case 'em':
      return marks.italic ? inner(node, writing) : marked(inner(node, marking(writing, { italic: true })), '*')
    case 'del':
    case 's':
    case 'strike':
      return marks.struck ? inner(node, writing) : marked(inner(node, marking(writing, { struck: true })), '~~')
    case 'code':
    case 'kbd':
    case 'samp':
    case 'tt':
      return codeSpan(textOf(node))
    case 'a':
      return link(node, writing)
    case 'sup':
      return raised(inner(node, writing))
    case 'input':
      return checkbox(node)
    case 'math':
      return formula(node)
    default:
      return inner(node, writing)
  }
}

function inner(element: Element, writing: Writing): string {
  return element.children.map((child) => write(child, writing)).join('')
}

function marking(writing: Writing, marks: Writing['marks']): Writing {
  return { ...writing, marks: { ...writing.marks, ...marks } }
}

/** Markdown recognizes a mark only next to a word, so white space is moved outside. */
function marked(text: string, mark: string): string {
  const word = text.trim()
  if (word === '' || word.includes('\n\n')) return text
  const start = text.indexOf(word)
  return text.slice(0, start) + mark + word + mark + text.slice(start + word.length)
}

function codeSpan(text: string): string {
  const code = text.replace(/\s+/g, ' ').trim()
  if (code === '') return text === '' ? '' : ' '
  const fence = fenceFor(code, 1)
  const pad = code.startsWith('`') || code.endsWith('`') ? ' ' : ''
  return fence + pad + code + pad + fence
}

/** Anchors behind headings and footnotes that only show a sign. */
const signs = /^(?:[#¶§↑↩\s\u200b]|\ufe0e|\ufe0f|\u{1f517})*$/u

function link(element: Element, writing: Writing): string {
  const text = inner(element, marking(writing, { link: true }))
  const { href } = element.attributes
  if (href === undefined || writing.marks.link) return text
  if (signs.test(text)) return ''
  const address = writing.toAddress(href)
  return address === undefined ? text : linkTo(text, address)
}

/** A Markdown link; only the text if it is blank. White space is moved outside. */
export function linkTo(text: string, address: string): string {
  const label = text.trim()
  if (label === '') return text
  const start = text.indexOf(label)
  const safe = address
    .replace(/[\s<>]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')
  return `${text.slice(0, start)}[${label.replace(/(?<!\s)\s*\n\s*/g, ' ')}](${safe})${text.slice(start + label.length)}`
}

function raised(text: string): string {
  return /^[-+−]?\d{1,3}$/.test(text.trim()) ? `^${text.trim()}` : text
}

function checkbox(element: Element): string {
  if (element.attributes['type']?.toLowerCase() !== 'checkbox') return ''
  return element.attributes['checked'] === undefined ? '[ ] ' : '[x] '
}

/** The TeX that most formula renderers include, otherwise the characters in reading order. */
function formula(element: Element): string {
  const tex = findTex(element) ?? element.attributes['alttext']
  return tex === undefined ? textOf(element).replace(/\s+/g, ' ') : `$${tex.trim()}$`
}

function findTex(element: Element): string | undefined {
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (child.name === 'annotation' && child.attributes['encoding'] === 'application/x-tex') return textOf(child)
    const tex = findTex(child)
    if (tex !== undefined) return tex
  }
  return undefined
}
