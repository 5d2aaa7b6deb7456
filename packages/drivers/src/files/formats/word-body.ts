import { codePoint } from 'dingbat-to-unicode'
import type { Archive } from '../zip.ts'
import { chartText, diagramText } from './chart.ts'
import { listNumber } from './list-number.ts'
import { markdownName } from './html-markdown.ts'
import { block, childOf, childrenOf, inline, isElement, textOf, type Element, type Node } from './markup.ts'
import { mathText } from './office-math.ts'
import { attributeOf, pictureDescription, relationId, type Relation } from './office.ts'
import type { Numbering } from './word-numbering.ts'
import { fontOf, headingOf, isOn, listOf, listReference, outlineLevel, type WordStyle } from './word-styles.ts'

export interface WordFile {
  readonly archive: Archive
  readonly styleOf: (id: string | undefined) => WordStyle
  readonly numbering: Numbering
  /** Footnotes, endnotes and comments, by {@link noteKey}. */
  readonly notes: ReadonlyMap<string, Note>
  /** Text of a document of its own that stands in a part of the file; it may come later. */
  readonly embeddedText: (part: string) => Node
}

/** A footnote, endnote or comment, and the relations of its part. */
export interface Note {
  readonly element: Element
  readonly relations: Relations
}

export type Relations = ReadonlyMap<string, Relation>

export const noteKey = (kind: string, id: string | undefined): string => `${kind} ${id}`

export const markdownBlock = (text: string): Element => block(markdownName, [text])

interface Look {
  readonly marks: readonly Mark[]
  readonly isHidden: boolean
  readonly font: string | undefined
}

interface Mark {
  readonly name: string
  readonly href?: string
}

/** A field between its begin and its end. */
interface Field {
  readonly start: Element
  code: string
  isCode: boolean
  link: Mark[]
}

/** Elements that describe others, hold what a change removed, or are pronounced only. */
const leftOut = new Set('rPr pPr sectPr sdtPr sdtEndPr tblPr tblGrid del moveFrom delText rt rubyPr'.split(' '))

/** Most fields within each other. */
const maxFields = 50
/** Bounds spans and columns that a file may ask for. */
const maxColumns = 100

/** Turns Word into HTML as a stream: lists, fields and deleted paragraph marks go on from paragraph to paragraph. */
export class WordBody {
  readonly missingNotes = new Set<string>()
  readonly #file: WordFile
  #relations: Relations
  /** What is written now: a body, a cell, a note or a text box. */
  #blocks: Node[] = []
  #lists: { readonly level: number; readonly element: Element }[] = []
  #line: Node[] = []
  /** Text boxes and charts, which stand behind the paragraph that holds them. */
  #boxes: Node[] = []
  #fields: Field[] = []
  /** Those that were referred to, with their places in the order of the text. */
  readonly #notes = new Map<string, Note & { readonly label: string }>()
  readonly #comments = new Map<string, Note & { readonly label: string }>()
  /** Grows with all text that is written. */
  #written = 0
  #lastDescription = ''

  constructor(file: WordFile, relations: Relations) {
    this.#file = file
    this.#relations = relations
  }

  get isEmpty(): boolean {
    return this.#written === 0
  }

  readPart(part: Note): void {
    this.#addBlocks(this.#noteBlocks(part))
  }

  /** Ends the text with its notes and comments. */
  end(): Element {
    this.#endParagraphs()
    const items: Node[] = []
    // Notes may refer to others, which then follow.
    for (const note of this.#notes.values()) items.push(block('li', this.#noteBlocks(note)))
    const comments: Node[] = []
    for (const comment of this.#comments.values())
      comments.push(block('dt', [`Comment ${comment.label}`]), block('dd', this.#noteBlocks(comment)))
    const lists = [block('ol', items), block('dl', comments)].filter(({ children }) => children.length > 0)
    return block('div', [...this.#blocks, ...lists])
  }

  #noteBlocks({ element, relations }: Note): Node[] {
    const outer = this.#relations
    this.#relations = relations
    const blocks = this.#blocksIn(element.children)
    this.#relations = outer
    return blocks
  }

  #blocksIn(nodes: readonly Node[]): Node[] {
    const outer = [this.#blocks, this.#lists, this.#line, this.#boxes] as const
    ;[this.#blocks, this.#lists, this.#line, this.#boxes] = [[], [], [], []]
    for (const node of nodes) if (isElement(node)) this.read(node)
    this.#endParagraphs()
    const inner = this.#blocks
    ;[this.#blocks, this.#lists, this.#line, this.#boxes] = outer
    return inner
  }

  #endParagraphs(): void {
    if (this.#line.length > 0) this.#paragraph(block('p', []))
    this.#addBlocks(this.#boxes)
    this.#boxes = []
  }

  #addBlocks(nodes: readonly Node[]): void {
    if (nodes.length === 0) return
    this.#lists = []
    for (const node of nodes) this.#blocks.push(node)
  }

  /** Reads an element of the body, or of what holds paragraphs like it. */
  read(element: Element): void {
    switch (element.name) {
      case 'p':
        return this.#paragraph(element)
      case 'tbl':
        return this.#addBlocks([this.#table(element)])
      case 'altChunk':
        return this.#addBlocks(this.#chunk(element))
      case 'AlternateContent':
        return this.#firstWritten(element, (branch) => this.#readAll(branch))
      case 'r':
      case 't':
      case 'hyperlink':
      case 'fldSimple':
      case 'oMath':
      case 'oMathPara':
        return this.#paragraph(block('p', [element]))
      default:
        if (!leftOut.has(element.name)) this.#readAll(element)
    }
  }

  #readAll(element: Element): void {
    for (const child of element.children) if (isElement(child)) this.read(child)
  }

  /** Of alternatives for newer and older programs, the first that says anything. */
  #firstWritten(element: Element, read: (branch: Element) => void): void {
    const before = this.#written
    for (const branch of element.children) {
      if (!isElement(branch)) continue
      read(branch)
      if (this.#written > before) return
    }
  }

  #chunk(element: Element): Node[] {
    const relation = this.#relations.get(relationId(element) ?? '')
    if (!relation || relation.isOutside) return []
    this.#written++
    return [this.#file.embeddedText(relation.target)]
  }

  #paragraph(element: Element): void {
    const properties = childOf(element, 'pPr')
    const styleId = attributeOf(properties && childOf(properties, 'pStyle'))
    const style = this.#file.styleOf(styleId)
    // A field whose code did not end in its paragraph is broken.
    this.#fields = this.#fields.filter(({ isCode }) => !isCode)
    this.#inlines(element, { marks: [], isHidden: style.isHidden, font: style.font })
    const mark = properties && childOf(properties, 'rPr')
    // The text of a paragraph whose mark was deleted belongs to the next one.
    if (mark && (childOf(mark, 'del') ?? childOf(mark, 'moveFrom'))) return
    const line = this.#line
    this.#line = []
    const isUnseen = line.length === 0 && (isOn(mark, 'vanish') ?? false)
    const label = isUnseen ? undefined : this.#file.numbering(listOf(listReference(properties), style), styleId)
    const outline = outlineLevel(properties)
    const name = outline === undefined ? style.block : outline < 9 ? headingOf(outline + 1) : undefined
    if (line.length > 0) {
      if (name === 'pre') this.#addCode(line)
      else if (name === undefined && label) this.#addItem(line, label)
      else {
        const text = label?.text ? [label.text + label.gap, ...line] : line
        this.#addBlocks([name === 'blockquote' ? block(name, [block('p', text)]) : block(name ?? 'p', text)])
      }
    }
    this.#addBlocks(this.#boxes)
    this.#boxes = []
  }

  #addCode(line: Node[]): void {
    const last = this.#blocks.at(-1)
    if (isElement(last) && last.name === 'pre') for (const node of ['\n', ...line]) last.children.push(node)
    else this.#addBlocks([block('pre', line)])
  }

  /** Adds a paragraph of a list; one whose number Markdown has no list for is a paragraph with that number. */
  #addItem(line: Node[], { text, gap, level }: { text: string; gap: string; level: number }): void {
    while (this.#lists.length > 0 && this.#lists.at(-1)!.level > level) this.#lists.pop()
    const number = listNumber(text)
    const name = number === undefined ? 'ul' : 'ol'
    const isOther = number === undefined && text !== ''
    const above = this.#lists.findLast((list) => list.level < level)
    if (isOther && !above) return this.#addBlocks([block('p', [text + gap, ...line])])
    if (this.#lists.at(-1)?.level === level && this.#lists.at(-1)!.element.name !== name) this.#lists.pop()
    let list = this.#lists.at(-1)
    if (list?.level !== level) {
      list = { level, element: block(name, []) }
      const item = above?.element.children.at(-1)
      if (isElement(item)) item.children.push(list.element)
      else this.#blocks.push(list.element)
      this.#lists.push(list)
    }
    const paragraph = block('p', isOther ? [text + gap, ...line] : line)
    list.element.children.push(block('li', [paragraph], number === undefined ? {} : { value: String(number) }))
  }

  #table(element: Element): Element {
    const rows: Element[] = []
    /** By column: the cell that a cell below may continue. */
    const above = new Map<number, { readonly attributes: Record<string, string> }>()
    for (const row of partsIn(element, 'tr')) {
      const properties = childOf(row, 'trPr')
      if (properties && childOf(properties, 'del')) continue
      const cellName = isOn(properties, 'tblHeader') ? 'th' : 'td'
      const cells: Element[] = []
      let column = spanOf(properties && childOf(properties, 'gridBefore'), 0)
      if (column > 0) cells.push(block(cellName, [], { colspan: String(column) }))
      for (const cell of partsIn(row, 'tc')) {
        const facts = childOf(cell, 'tcPr')
        const columns = spanOf(facts && childOf(facts, 'gridSpan'), 1)
        const continued = continues(facts, 'vMerge') ? above.get(column) : undefined
        const before = cells.at(-1)
        if (continued) continued.attributes['rowspan'] = String(Number(continued.attributes['rowspan'] ?? 1) + 1)
        else if (before && continues(facts, 'hMerge'))
          before.children = before.children.concat(this.#blocksIn(cell.children))
        else {
          const attributes: Record<string, string> = { colspan: String(columns) }
          cells.push(block(cellName, this.#blocksIn(cell.children), attributes))
          above.set(column, { attributes })
        }
        column += columns
      }
      rows.push(block('tr', cells))
    }
    return block('table', rows)
  }

  #inlines(element: Element, look: Look): void {
    for (const child of element.children) if (isElement(child)) this.#inline(child, look)
  }

  #inline(element: Element, look: Look): void {
    switch (element.name) {
      case 'r':
        return this.#inlines(element, this.#lookOf(element, look))
      case 't':
        return this.#add(symbolsIn(textOf(element), look.font), look)
      case 'tab':
      case 'ptab':
        return this.#add('\t', look)
      case 'br':
      case 'cr':
        return this.#add(inline('br', []), look)
      case 'noBreakHyphen':
        return this.#add('\u2011', look)
      case 'sym':
        return this.#add(
          symbol(attributeOf(element, 'font'), Number.parseInt(attributeOf(element, 'char') ?? '', 16)),
          look,
        )
      case 'oMath':
        return this.#add(mathText(element), look)
      case 'fldChar':
        return this.#fieldMark(element, look)
      case 'instrText': {
        const field = this.#fields.at(-1)
        if (field?.isCode) field.code += textOf(element)
        return
      }
      case 'fldSimple':
        return this.#inlines(element, linked(look, linkOfCode(attributeOf(element, 'instr') ?? '')))
      case 'hyperlink':
        return this.#inlines(element, linked(look, this.#linkOf(element)))
      case 'footnoteReference':
      case 'endnoteReference':
      case 'commentReference':
        return this.#reference(element, look)
      case 'sdt':
        return this.#control(element, look)
      case 'AlternateContent':
        return this.#firstWritten(element, (branch) => this.#inlines(branch, look))
      default:
        return this.#other(element, look)
    }
  }

  /** Pictures, drawings, and whatever else may hold text. */
  #other(element: Element, look: Look): void {
    const { name, attributes } = element
    if (name === 'docPr' || name === 'cNvPr') {
      const click = childOf(element, 'hlinkClick')
      this.#describe(attributes['descr'] || attributes['title'], linked(look, click ? this.#linkOf(click) : []))
    } else if (name === 'imagedata') this.#describe(attributeOf(element, 'title'), look)
    else if (name === 'textpath') this.#add(attributes['string'] ?? '', look)
    else if (name === 'txbxContent' || name === 'txBody') this.#addBoxes(this.#blocksIn(element.children), look)
    else if (name === 'p' || name === 'tbl' || name === 'altChunk') this.#addBoxes(this.#blocksIn([element]), look)
    else if (name === 'chart') this.#embed(relationId(element), chartText)
    else if (name === 'relIds') this.#embed(relationId(element, 'dm'), diagramText)
    else if (!leftOut.has(name)) this.#inlines(element, look)
  }

  #addBoxes(nodes: readonly Node[], look: Look): void {
    if (look.isHidden) return
    // One by one: there may be more than a call takes arguments.
    for (const node of nodes) this.#boxes.push(node)
  }

  #embed(id: string | undefined, read: (bytes: Uint8Array) => string): void {
    const relation = this.#relations.get(id ?? '')
    const text = relation && !relation.isOutside ? this.#file.archive.readPart(relation.target, read, 'embedded') : ''
    if (!text) return
    this.#written++
    this.#boxes.push(markdownBlock(text))
  }

  /** A picture in a group may be described where the group is. */
  #describe(description: string | undefined, look: Look): void {
    const text = pictureDescription(description ?? '')
    if (text === '' || text === this.#lastDescription) return
    this.#add(` ${text} `, look)
    this.#lastDescription = text
  }

  #linkOf(element: Element): Mark[] {
    const relation = this.#relations.get(relationId(element) ?? '')
    const anchor = attributeOf(element, 'anchor')
    if (!relation?.isOutside) return []
    return [{ name: 'a', href: anchor === undefined ? relation.target : `${relation.target.split('#')[0]}#${anchor}` }]
  }

  #lookOf(run: Element, { marks, isHidden, font }: Look): Look {
    const properties = childOf(run, 'rPr')
    if (!properties) return { marks, isHidden, font }
    const style = this.#file.styleOf(attributeOf(childOf(properties, 'rStyle')))
    const own = [
      (isOn(properties, 'b') ?? style.isBold) && 'strong',
      (isOn(properties, 'i') ?? style.isItalic) && 'em',
      (isOn(properties, 'strike') ?? isOn(properties, 'dstrike')) && 's',
      style.isCode && 'code',
      attributeOf(childOf(properties, 'vertAlign')) === 'superscript' && 'sup',
    ]
    return {
      marks: [...marks, ...own.flatMap((name) => (name ? [{ name }] : []))],
      isHidden: isOn(properties, 'vanish') ?? (style.isHidden || isHidden),
      font: fontOf(properties) ?? style.font ?? font,
    }
  }

  #add(node: Node, { marks, isHidden }: Look): void {
    // What a field shows inside of another's code is part of that code.
    if (isHidden || node === '' || this.#fields.slice(0, -1).some(({ isCode }) => isCode)) return
    if (typeof node !== 'string' || /\S/.test(node)) {
      this.#lastDescription = ''
      if (typeof node === 'string') this.#written++
    }
    const links = this.#fields.flatMap(({ link }) => link)
    append(this.#line, [...links, ...marks], node)
  }

  #fieldMark(element: Element, look: Look): void {
    const type = attributeOf(element, 'fldCharType')
    const field = this.#fields.at(-1)
    // More are open at once in no document: their ends are missing.
    if (this.#fields.length > maxFields) this.#fields = []
    if (type === 'begin') this.#fields.push({ start: element, code: '', isCode: true, link: [] })
    else if (type === 'separate' && field) {
      field.isCode = false
      field.link = linkOfCode(field.code)
    } else if (type === 'end' && field) {
      this.#fields.pop()
      if (/^\s*FORMCHECKBOX\b/i.test(field.code)) this.#add(checkbox(isTicked(field.start)), look)
      else if (field.isCode) this.#add(unstoredResult(field), look)
    }
  }

  #control(element: Element, look: Look): void {
    const properties = childOf(element, 'sdtPr')
    const box = properties && childOf(properties, 'checkbox')
    if (box) this.#add(checkbox(isOn(box, 'checked') ?? false), look)
    else this.#inlines(element, look)
  }

  #reference(element: Element, look: Look): void {
    const kind = element.name.slice(0, -'Reference'.length)
    const key = noteKey(kind, attributeOf(element, 'id'))
    const note = this.#file.notes.get(key)
    if (!note) {
      this.missingNotes.add(key)
      return
    }
    const list = kind === 'comment' ? this.#comments : this.#notes
    const author = kind === 'comment' ? (attributeOf(note.element, 'initials') ?? '') : ''
    const { label } = list.get(key) ?? { label: `[${author}${list.size + 1}]` }
    if (!list.has(key)) list.set(key, { ...note, label })
    this.#add(label, { ...look, marks: [] })
  }
}

/** Adds text under its marks, to those of the text before where they are the same. */
function append(nodes: Node[], marks: readonly Mark[], node: Node): void {
  let into = nodes
  for (const { name, href } of marks) {
    const last = into.at(-1)
    if (isElement(last) && last.name === name && last.attributes['href'] === href) into = last.children
    else {
      const element = inline(name, [], href === undefined ? {} : { href })
      into.push(element)
      into = element.children
    }
  }
  into.push(node)
}

const linked = (look: Look, link: readonly Mark[]): Look => ({ ...look, marks: [...link, ...look.marks] })

function linkOfCode(code: string): Mark[] {
  const [, quoted, bare] = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))/i.exec(code) ?? []
  const href = quoted ?? bare
  return href === undefined ? [] : [{ name: 'a', href }]
}

const checkbox = (isChecked: boolean): Element =>
  inline('input', [], { type: 'checkbox', ...(isChecked && { checked: '' }) })

function isTicked(start: Element): boolean {
  const data = childOf(start, 'ffData')
  const box = data && childOf(data, 'checkBox')
  return isOn(box, 'checked') ?? isOn(box, 'default') ?? false
}

/** What a field shows whose result is not stored: the entry of a list that was chosen, or text in its code. */
function unstoredResult({ start, code }: Field): string {
  const data = childOf(start, 'ffData')
  const list = data && childOf(data, 'ddList')
  if (list) {
    const chosen = childOf(list, 'result') ?? childOf(list, 'default')
    return attributeOf(childrenOf(list, 'listEntry')[Number(attributeOf(chosen) ?? 0)]) ?? ''
  }
  const [, kind = '', text = ''] = /^\s*(MACROBUTTON|GOTOBUTTON|EQ)\s+(\S.*)?$/is.exec(code) ?? []
  if (/^EQ$/i.test(kind)) return text.replace(/\\\*\s*(?:"[^"]*"|\S+)|\\[a-z]+\d*(?:\s+\d+)?/gi, '').trim()
  return text.replace(/^\S+\s*/, '').trim()
}

/** Letters of fonts such as Wingdings are pictures, or Greek; files write them in a private area of Unicode. */
function symbol(font: string | undefined, code: number): string {
  const known = [code, code & 0xff].map((each) => codePoint(font ?? '', each)).find(Boolean)
  if (known) return known.string
  return code >= 0x20 && code < 0xe000 ? String.fromCodePoint(code) : ''
}

function symbolsIn(text: string, font: string | undefined): string {
  if (font === undefined || !/[\uf020-\uf0ff]/.test(text)) return text
  return text.replace(/[\uf020-\uf0ff]/g, (sign) => codePoint(font, sign.charCodeAt(0) & 0xff)?.string ?? sign)
}

/** Rows or cells in order, those of content controls and changes too. */
function* partsIn(element: Element, name: string): Generator<Element> {
  for (const child of element.children) {
    if (!isElement(child) || leftOut.has(child.name)) continue
    if (child.name === name) yield child
    else if (child.name !== 'tbl') yield* partsIn(child, name)
  }
}

function spanOf(element: Element | undefined, otherwise: number): number {
  const span = Number.parseInt(attributeOf(element) ?? '', 10)
  return span > 0 ? Math.min(span, maxColumns) : otherwise
}

/** Whether a cell goes on what began above or before it. */
function continues(properties: Element | undefined, name: string): boolean {
  const merge = properties && childOf(properties, name)
  return merge !== undefined && (attributeOf(merge) ?? 'continue') === 'continue'
}
