import type { ExtractedSection } from '@inlay/knowledge'
import type { Budget } from '../budget.ts'
import { refusal } from '../refusals.ts'
import { factsOf, oneLine, sectionsOf, type Reading } from '../sections.ts'
import { toTimestamp } from '../timestamps.ts'
import type { Archive } from '../zip.ts'
import { toMarkdown } from './html-markdown.ts'
import {
  block,
  childOf,
  childrenOf,
  elementsIn,
  inline,
  isElement,
  parseXml,
  textOf,
  type Element,
  type Node,
} from './markup.ts'
import { maxMerges, sheetText, spreadMerges, type Merge, type Row } from './sheet-text.ts'

/**
 * Reads an OpenDocument text, spreadsheet or presentation. Texts keep headings, lists, tables, links, notes and comments;
 * spreadsheets have one section per visible sheet with values as displayed, presentations one per slide with its notes.
 * Tracked changes are read in their newest state; pictures, headers, footers and tables of contents are left out.
 * @throws refusal `encrypted`, `broken`
 */
export function readOdf(archive: Archive, budget: Budget): Reading {
  const manifest = archive.readPart('META-INF/manifest.xml', (part) => new TextDecoder().decode(part))
  if (manifest?.includes('encryption-data'))
    throw refusal('encrypted', 'The file is protected by a password: remove the password and send it again.')
  const bytes = archive.read('content.xml')
  const content = bytes && childOf(parseXml(bytes), 'document-content')
  const body = content && childOf(content, 'body')
  if (!content || !body) throw refusal('broken', 'The document has no content: save it anew and send it again.')
  const styles = stylesOf([content, ...partsOf(archive, 'styles.xml')])
  const reader: Reader = { archive, styles, seen: { characters: 0 }, budget }
  const sections: ExtractedSection[] = []
  for (const part of body.children) {
    if (typeof part === 'string') continue
    if (part.name === 'spreadsheet') sections.push(...sheetsOf(part, reader))
    else if (part.name === 'presentation' || part.name === 'drawing') sections.push(...slidesOf(part, reader))
    else sections.push(...sectionsOf(markdownOf(part, reader), budget))
  }
  const facts = factsOfOdf(archive)
  const isSlides = childOf(body, 'presentation') !== undefined
  const isDefault = !facts.title || /^(?:powerpoint[ -])?presentation$/i.test(facts.title)
  const title = (isDefault ? null : facts.title) ?? (isSlides ? (sections[0]?.heading ?? null) : null)
  return { ...facts, title, sections }
}

interface Reader {
  readonly archive: Archive
  readonly styles: Styles
  readonly seen: { characters: number }
  readonly budget: Budget
}

interface Styles {
  /** Names of list styles whose first level is numbered. */
  readonly numbered: ReadonlySet<string>
  /** Names of table styles that hide a sheet. */
  readonly hidden: ReadonlySet<string>
}

function partsOf(archive: Archive, name: string, origin?: 'embedded'): Element[] {
  const tree = archive.readPart(name, parseXml, origin)
  return tree ? [tree] : []
}

function stylesOf(parts: readonly Element[]): Styles {
  const numbered = new Set<string>()
  const hidden = new Set<string>()
  for (const part of parts)
    for (const element of elementsIn(part, ({ name }) => name !== 'body')) {
      const name = element.attributes['style:name']
      if (name === undefined) continue
      const levels = element.name === 'list-style' ? element.children.filter(isElement) : []
      if (levels[0]?.name === 'list-level-style-number') numbered.add(name)
      const properties = childOf(element, 'table-properties')
      if (properties?.attributes['table:display'] === 'false') hidden.add(name)
    }
  return { numbered, hidden }
}

/** Writes an element in HTML's vocabulary first: lists and tables are the same in both. */
function markdownOf(element: Element, reader: Reader): string {
  return toMarkdown(block('div', htmlOf(element.children, reader)))
}

/** Deletions of tracked changes, repeated headings, and what only describes the others. */
const leftOut = new Set(
  (
    'tracked-changes table-of-content alphabetical-index illustration-index table-index object-index user-index ' +
    'bibliography sequence-decls variable-decls user-field-decls forms note-citation soft-page-break title desc ' +
    'annotation-end settings presentation-notes image'
  ).split(' '),
)

function htmlOf(nodes: readonly Node[], reader: Reader): Node[] {
  return nodes.flatMap((node) => (typeof node === 'string' ? [node] : htmlOfElement(node, reader)))
}

function htmlOfElement(element: Element, reader: Reader): Node[] {
  const { name, attributes } = element
  const inside = (): Node[] => htmlOf(element.children, reader)
  switch (name) {
    case 'p':
      return [block('p', inside())]
    case 'h':
      return [block(`h${Math.min(6, Math.max(1, Number(attributes['text:outline-level']) || 1))}`, inside())]
    case 'list':
      return [block(reader.styles.numbered.has(attributes['text:style-name'] ?? '') ? 'ol' : 'ul', inside())]
    case 'list-item':
    case 'list-header':
      return [block('li', inside())]
    case 'table':
      return [block('table', rowsOf(element, reader, 'td'))]
    case 'a':
      return [inline('a', inside(), { href: attributes['xlink:href'] ?? '' })]
    case 's':
      return [' '.repeat(Math.min(200, Number(attributes['text:c']) || 1))]
    case 'tab':
      return [' ']
    case 'line-break':
      return [inline('br', [])]
    case 'note':
      return bracketed('', childOf(element, 'note-body'))
    case 'annotation':
      return bracketed(['Comment', commentator(element)].filter(Boolean).join(' by '), element)
    case 'object':
      return embeddedOf(attributes['xlink:href'], reader)
    default:
      return leftOut.has(name) ? [] : inside()
  }
}

const commentator = (annotation: Element): string => oneLine(childrenOf(annotation, 'creator').map(textOf).join(' '))

/** A note or comment at its place in the sentence, where it says what it is about. */
function bracketed(label: string, element: Element | undefined): Node[] {
  const paragraphs = element ? [...elementsIn(element)].filter(({ name }) => name === 'p') : []
  const text = oneLine(paragraphs.map(textOf).join(' '))
  return text === '' ? [] : [` (${label === '' ? text : `${label}: ${text}`})`]
}

const maxSpan = 200

function rowsOf(table: Element, reader: Reader, cellName: 'td' | 'th'): Element[] {
  return table.children.filter(isElement).flatMap((child) => {
    if (child.name === 'table-header-rows') return rowsOf(child, reader, 'th')
    if (child.name === 'table-rows' || child.name === 'table-row-group') return rowsOf(child, reader, cellName)
    if (child.name !== 'table-row') return []
    const cells = childrenOf(child, 'table-cell').map((cell) => {
      const span = (name: string): string => String(Math.min(maxSpan, Number(cell.attributes[name]) || 1))
      const spans = { colspan: span('table:number-columns-spanned'), rowspan: span('table:number-rows-spanned') }
      return block(cellName, htmlOf(cell.children, reader), spans)
    })
    return [block('tr', cells)]
  })
}

/** The data of an embedded chart or spreadsheet as a table, a formula as it was typed. */
function embeddedOf(address: string | undefined, reader: Reader): Node[] {
  const folder = address?.replace(/^\.\//, '')
  if (folder === undefined || !/^[\w .-]+$/.test(folder)) return []
  const [content] = partsOf(reader.archive, `${folder}/content.xml`, 'embedded')
  const math = content && childOf(content, 'math')
  if (math) return [formulaText(math)]
  const embedded =
    content &&
    [...elementsIn(content)].find(
      (element) => (element.name === 'chart' || element.name === 'spreadsheet') && childOf(element, 'table'),
    )
  if (!embedded) return []
  const titles = childrenOf(embedded, 'title').map((title) => block('p', [oneLine(textOf(title))]))
  return [...titles, ...childrenOf(embedded, 'table').map((table) => block('table', rowsOf(table, reader, 'td')))]
}

function formulaText(math: Element): string {
  const typed = [...elementsIn(math)].find(({ name }) => name === 'annotation')
  return oneLine(textOf(typed ?? math))
}

function sheetsOf(spreadsheet: Element, reader: Reader): ExtractedSection[] {
  return childrenOf(spreadsheet, 'table').flatMap((table) => {
    if (reader.styles.hidden.has(table.attributes['table:style-name'] ?? '')) return []
    const text = sheetText(readSheet(table, reader), reader.budget)
    return sectionsOf(text, reader.budget, { heading: table.attributes['table:name'] ?? '' })
  })
}

/** Rows and cells that are repeated more often than this are the empty rest of the sheet. */
const maxRepeated = 1_000

function readSheet(table: Element, reader: Reader): Row[] {
  const rows: Row[] = []
  const places = new Map<number, number>()
  const merges: Merge[] = []
  let number = 0
  let lastNumber = 0
  for (const element of elementsIn(table, ({ name }) => name !== 'table-row' && name !== 'shapes')) {
    if (element.name !== 'table-row') continue
    const repeated = countOf(element, 'table:number-rows-repeated')
    const before = reader.seen.characters
    const row = readCells(element, { top: number, merges, reader })
    const characters = reader.seen.characters - before
    for (let time = 0; row.size > 0 && time < Math.min(repeated, maxRepeated); time++) {
      if (number + time > lastNumber && rows.length > 0) rows.push(new Map())
      lastNumber = number + time + 1
      places.set(lastNumber, rows.length)
      if (time > 0) takeCharacters(characters, reader)
      rows.push(time === 0 ? row : new Map(row))
    }
    number += repeated
  }
  spreadMerges(rows, { merges, places, budget: reader.budget, characters: reader.seen.characters })
  return rows
}

function readCells(
  row: Element,
  { top, merges, reader }: { readonly top: number; readonly merges: Merge[]; readonly reader: Reader },
): Row {
  const cells: Row = new Map()
  let column = 0
  for (const cell of row.children.filter(isElement)) {
    if (cell.name !== 'table-cell' && cell.name !== 'covered-table-cell') continue
    const repeated = countOf(cell, 'table:number-columns-repeated')
    const text = cell.name === 'table-cell' ? cellText(cell, reader) : ''
    for (let time = 0; text !== '' && time < Math.min(repeated, maxRepeated); time++) {
      cells.set(column + time, text)
      takeCharacters(text.length, reader)
    }
    const right = column + countOf(cell, 'table:number-columns-spanned') - 1
    const bottom = top + countOf(cell, 'table:number-rows-spanned') - 1
    if ((right > column || bottom > top) && merges.length < maxMerges) merges.push({ top, bottom, left: column, right })
    column += repeated
  }
  return cells
}

/** Repeated text costs the file nothing, but is text each time. */
function takeCharacters(characters: number, { seen, budget }: Reader): void {
  seen.characters += characters
  budget.expectText(seen.characters)
}

const countOf = (element: Element, name: string): number =>
  Math.min(16_384, Math.max(1, Number(element.attributes[name]) || 1))

/** A cell holds its value as displayed; a comment on it is no part of that. */
function cellText(cell: Element, reader: Reader): string {
  const shown = toMarkdown(block('div', htmlOf(childrenOf(cell, 'p'), reader))).replaceAll(/(?<!\s)\s*\n\s*/g, ' ')
  const [comment] = childrenOf(cell, 'annotation').flatMap((each) => htmlOfElement(each, reader))
  return typeof comment === 'string' ? `${shown}${comment}`.trim() : shown
}

function slidesOf(presentation: Element, reader: Reader): ExtractedSection[] {
  return childrenOf(presentation, 'page').flatMap((slide, at) => {
    const frames = slide.children.filter((node) => !isElement(node) || node.name !== 'notes')
    const isTitle = (node: Node): boolean => isElement(node) && node.attributes['presentation:class'] === 'title'
    const heading = oneLine(frames.filter(isTitle).map(textOf).join(' – '))
    const others = frames.filter((node) => !isTitle(node))
    const shown = toMarkdown(block('div', htmlOf(others, reader)))
    const notes = childOf(slide, 'notes')
    const spoken = notes ? markdownOf(notes, reader) : ''
    const text = [shown, spoken === '' ? '' : `Notes: ${spoken}`].filter(Boolean).join('\n\n')
    // A slide that only has a title is still a passage.
    return sectionsOf(text === '' ? heading : text, reader.budget, { heading, page: at + 1 })
  })
}

function factsOfOdf(archive: Archive): Pick<Reading, 'title' | 'metadata' | 'createdAt' | 'updatedAt'> {
  const all = partsOf(archive, 'meta.xml').flatMap((part) => [...elementsIn(part)])
  const valuesOf = (wanted: string): string[] =>
    all
      .filter(({ name }) => name === wanted)
      .map((element) => oneLine(textOf(element)))
      .filter(Boolean)
  const [title, created, updated] = ['title', 'creation-date', 'date'].map((name) => valuesOf(name)[0])
  return {
    title: title ?? null,
    metadata: factsOf({
      author: valuesOf('initial-creator')[0] ?? valuesOf('creator')[0],
      last_modified_by: valuesOf('creator')[0],
      subject: valuesOf('subject')[0],
      description: valuesOf('description')[0],
      keywords: valuesOf('keyword'),
      language: valuesOf('language')[0],
    }),
    createdAt: toTimestamp(created ?? ''),
    updatedAt: toTimestamp(updated ?? ''),
  }
}
