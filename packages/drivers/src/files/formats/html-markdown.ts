import { fenceFor } from './code-fence.ts'
import { inlineMarkdown, isHidden, linkTo, type Writing } from './html-inline.ts'
import { isLayout, tableMarkdown } from './html-table.ts'
import { elementsIn, textOf, type Element, type Node } from './markup.ts'

export interface MarkdownOptions {
  /** URL of the page, used to resolve relative links. Without it they stay relative. */
  readonly baseUrl?: string
  /** Elements to omit, in addition to hidden ones. */
  readonly leavesOut?: (element: Element) => boolean
}

type Writer = Writing & Pick<MarkdownOptions, 'leavesOut'> & { readonly isCell?: boolean }

/** An element whose text is Markdown already. Names in files have no such sign. */
export const markdownName = '#markdown'

/** Deeper lists and quotations are not indented further. */
const deepestIndent = 10

/**
 * Converts HTML to Markdown: keeps headings, lists, tables, code, links and emphasis; everything else becomes plain
 * paragraphs. Text is only escaped where a line would become a heading or a fence.
 */
export function toMarkdown(root: Element, { baseUrl, leavesOut }: MarkdownOptions = {}): string {
  const toAddress = (href: string): string | undefined => addressOf(href, baseUrl)
  return join(blocksOf([root], { toAddress, seen: { filledCharacters: 0 }, marks: {}, depth: 0, leavesOut }))
}

function addressOf(href: string, baseUrl: string | undefined): string | undefined {
  const address = href.trim()
  if (address === '' || address.startsWith('#')) return undefined
  if (/^[a-z][a-z\d+.-]*:/i.test(address)) return /^(?:https?|mailto|tel|ftp):/i.test(address) ? address : undefined
  return baseUrl === undefined ? address : (URL.parse(address, baseUrl)?.href ?? address)
}

function join(blocks: readonly string[]): string {
  return blocks.join('\n\n')
}

function blocksOf(nodes: readonly Node[], writer: Writer): string[] {
  const blocks: string[] = []
  let run: Node[] = []
  const endParagraph = (): void => {
    const text = run.length === 0 ? '' : inlineMarkdown(run, writer)
    if (text !== '') blocks.push(writer.isCell ? text : escaped(text))
    run = []
  }
  for (const node of nodes) {
    if (typeof node === 'string' || !node.isBlock) {
      if (typeof node === 'string' || !writer.leavesOut?.(node)) run.push(node)
      continue
    }
    endParagraph()
    if (isHidden(node) || writer.leavesOut?.(node)) continue
    // One by one: there may be more than a call takes arguments.
    for (const block of blockMarkdown(node, writer)) blocks.push(block)
  }
  endParagraph()
  return blocks
}

/** A line of plain text that begins like a heading, a quotation or a fence would be read as one. */
function escaped(text: string): string {
  return text.replace(/^(?=#{1,6}\s|>|~~~|```(?!.*```)|(?:=+|-{2,})$)/gm, '\\')
}

function blockMarkdown(element: Element, writer: Writer): string[] {
  switch (element.name) {
    case 'h1':
    case 'h2':
    case 'h3':
    case 'h4':
    case 'h5':
    case 'h6':
      return heading(element, writer)
    case 'ul':
    case 'ol':
    case 'menu':
      return list(element, writer)
    case 'pre':
      return code(element)
    case 'blockquote':
      return quotation(element, writer)
    case 'table':
      return table(element, writer)
    case markdownName:
      return element.children.map(textOf).filter(Boolean)
    case 'dl':
      return definitions(element, writer)
    case 'dt':
    case 'summary':
      return boldLine(element, writer)
    case 'a':
      return linkedBlocks(element, writer)
    case 'title':
    case 'hr':
      return []
    default:
      return blocksOf(element.children, writer)
  }
}

function heading(element: Element, writer: Writer): string[] {
  // Headings are bold anyway; invalid pages may have blocks in them.
  const text = blocksOf(element.children, { ...writer, marks: { ...writer.marks, bold: true } }).join(' ')
  const line = text.replace(/(?<!\s)\s*\n\s*/g, ' ').trim()
  return line === '' ? [] : [`${'#'.repeat(Number(element.name[1]))} ${line}`]
}

function boldLine(element: Element, writer: Writer): string[] {
  const text = blocksOf(element.children, { ...writer, marks: { ...writer.marks, bold: true } }).join(' ')
  return text === '' ? [] : [`**${text.replace(/(?<!\s)\s*\n\s*/g, ' ')}**`]
}

function linkedBlocks(element: Element, writer: Writer): string[] {
  const blocks = blocksOf(element.children, { ...writer, marks: { ...writer.marks, link: true } })
  const address = writer.toAddress(element.attributes['href'] ?? '')
  const [only] = blocks
  if (address === undefined || blocks.length !== 1 || !only || only.includes('\n')) return blocks
  const marker = /^#{1,6} /.exec(only)?.[0] ?? ''
  return [marker + linkTo(only.slice(marker.length), address)]
}

function list(element: Element, writer: Writer): string[] {
  const items: string[] = []
  let number = Number.parseInt(element.attributes['start'] ?? '1', 10) || 1
  const inside = { ...writer, depth: writer.depth + 1 }
  for (const child of element.children) {
    if (typeof child === 'string' || isHidden(child) || writer.leavesOut?.(child)) continue
    const isItem = child.name === 'li'
    number = Number.parseInt(child.attributes['value'] ?? '', 10) || number
    const text = joinItem(isItem ? blocksOf(child.children, inside) : blocksOf([child], inside))
    if (text === '') continue
    const marker = element.name === 'ol' ? `${number}. ` : '- '
    // A list right inside a list, as some editors write it, belongs to the item above.
    items.push(isItem ? marker + indented(text, marker.length, inside) : ' '.repeat(2) + indented(text, 2, inside))
    if (isItem) number++
  }
  return items.length === 0 ? [] : [items.join('\n')]
}

/** A definition list, each term with its definition on one line, since neither is useful alone. */
function definitions(element: Element, writer: Writer): string[] {
  const inside = { ...writer, depth: writer.depth + 1 }
  const items: string[] = []
  let terms: string[] = []
  const add = (meaning: string): void => {
    const term = terms.join(', ')
    const isParagraph = !/^(?:[-|>#]|\d+\. |```)/.test(meaning)
    const named = `${term.replace(/:(\**)$/, '$1')}:`
    const item = [term && (meaning ? named : term), meaning].filter(Boolean).join(isParagraph ? ' ' : '\n\n')
    if (item !== '') items.push(`- ${indented(item, 2, inside)}`)
    terms = []
  }
  for (const child of entriesOf(element)) {
    if (isHidden(child) || writer.leavesOut?.(child)) continue
    if (child.name === 'dt') terms.push(...boldLine(child, inside))
    else add(joinItem(blocksOf(child.name === 'dd' ? child.children : [child], inside)))
  }
  if (terms.length > 0) add('')
  return items.length === 0 ? [] : [items.join('\n')]
}

/** Terms and meanings, also those that a page groups in `div`. */
function entriesOf(element: Element): Element[] {
  return element.children.flatMap((child) => {
    if (typeof child === 'string') return []
    return child.name === 'div' ? entriesOf(child) : [child]
  })
}

function joinItem(blocks: readonly string[]): string {
  return blocks.reduce((text, block) => (text === '' ? block : text + (isList(block) ? '\n' : '\n\n') + block), '')
}

function isList(block: string): boolean {
  return /^(?:- |\d+\. )/.test(block)
}

function indented(text: string, columns: number, writer: Writer): string {
  return writer.depth > deepestIndent ? text : text.replace(/\n(?=[^\n])/g, `\n${' '.repeat(columns)}`)
}

function quotation(element: Element, writer: Writer): string[] {
  const text = join(blocksOf(element.children, { ...writer, depth: writer.depth + 1 }))
  if (text === '') return []
  return [writer.depth >= deepestIndent ? text : text.replace(/^(?=.)/gm, '> ').replace(/^$/gm, '>')]
}

function code(element: Element): string[] {
  const text = codeText(element).replace(/^\n/, '').trimEnd()
  if (text.trim() === '') return []
  const fence = fenceFor(text, 3)
  return [`${fence}${languageOf(element)}\n${text}\n${fence}`]
}

function codeText(node: Node): string {
  if (typeof node === 'string') return node.replace(/\r\n?/g, '\n')
  if (node.name === 'br') return '\n'
  if (/\b(?:line-?numbers?|lineno|gutter)\b/i.test(node.attributes['class'] ?? '') && node.name !== 'pre') return ''
  return node.children.map(codeText).join('')
}

function languageOf(element: Element): string {
  for (const each of [element, ...elementsIn(element)]) {
    const match = /(?:^|\s)(?:lang(?:uage)?|brush:?|highlight-source)[-\s]([\w+#.-]+)/.exec(
      each.attributes['class'] ?? '',
    )
    if (match) return match[1]!
  }
  return ''
}

function table(element: Element, writer: Writer): string[] {
  if (isLayout(element)) return blocksOf(element.children, writer)
  const inside = { ...writer, isCell: true }
  const cellText = (cell: Element): string =>
    blocksOf(cell.children, cell.name === 'th' ? { ...inside, marks: { ...writer.marks, bold: true } } : inside).join(
      ' ',
    )
  const text = tableMarkdown(element, writer, cellText)
  return text === '' ? [] : [text]
}
