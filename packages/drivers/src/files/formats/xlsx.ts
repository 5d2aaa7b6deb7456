import type { ExtractedSection } from '@inlay/knowledge'
import type { Budget } from '../budget.ts'
import { childOf, elementsIn, parseXml, readXml, textOf } from './markup.ts'
import { mainPart, officeFacts, relationId, relationsOf } from './office.ts'
import { refusal } from '../refusals.ts'
import { oneLine, sectionsOf, type Reading } from '../sections.ts'
import { maxMerges, sheetText, spreadMerges, type Merge, type Row } from './sheet-text.ts'
import { cellFormats, shownNumber, type NumberStyle } from './xlsx-numbers.ts'
import type { Archive } from '../zip.ts'

/**
 * Reads a workbook: one section per visible sheet, in the order of the tabs. Dates, percentages, currencies and units
 * are written as displayed, formulas as their last result. Blocks of cells separated by an empty row become separate
 * tables; a block with a single column becomes plain lines, and so do titles above a table.
 */
export function readXlsx(archive: Archive, budget: Budget): Reading {
  const workbookPart = mainPart(archive) ?? 'xl/workbook.xml'
  const bytes = archive.read(workbookPart)
  if (!bytes) throw refusal('broken', 'The workbook has no list of sheets: save it anew and send it again.')
  const relations = relationsOf(archive, workbookPart)
  const targets = [...relations.values()]
  const readPart = <Result>(type: string, use: (bytes: Uint8Array) => Result): Result | undefined => {
    const target = targets.find((relation) => relation.type === type)?.target
    return target === undefined ? undefined : archive.readPart(target, use)
  }
  const workbook = [...elementsIn(parseXml(bytes))]
  const from1904 = workbook.some(
    ({ name, attributes }) => name === 'workbookPr' && /^(?:1|true)$/.test(attributes['date1904'] ?? ''),
  )
  const book = {
    strings: readPart('sharedStrings', sharedStrings) ?? [],
    styles: readPart('styles', cellFormats) ?? [],
    from1904,
  }
  const sections: ExtractedSection[] = []
  for (const sheet of workbook) {
    if (sheet.name !== 'sheet' || /hidden$/i.test(sheet.attributes['state'] ?? '')) continue
    const relation = relations.get(relationId(sheet) ?? '')
    const rows =
      relation?.type === 'worksheet'
        ? archive.readPart(relation.target, (content) => readRows(content, book, budget))
        : undefined
    const comments = relation ? commentsOf(archive, relation.target) : ''
    const text = [sheetText(rows ?? [], budget), comments].filter(Boolean).join('\n\n')
    sections.push(...sectionsOf(text, budget, { heading: sheet.attributes['name'] ?? '' }))
  }
  return { ...officeFacts(archive), sections }
}

/** Comments on the cells of a sheet as a list: `B5: Approved by the board`. */
function commentsOf(archive: Archive, sheet: string): string {
  const parts = [...relationsOf(archive, sheet).values()].filter(({ isOutside }) => !isOutside)
  // New programs write conversations, and a copy as comments for old ones.
  const threads = parts.filter(({ type }) => type === 'threadedComment')
  const lines = (threads.length > 0 ? threads : parts.filter(({ type }) => type === 'comments')).flatMap(
    ({ target }) => {
      const tree = archive.readPart(target, parseXml)
      if (!tree) return []
      const comments = [...elementsIn(tree)].filter(({ name }) => /^(?:comment|threadedComment)$/.test(name))
      return comments.flatMap((comment) => {
        const text = childOf(comment, 'text')
        return text ? [`- ${comment.attributes['ref'] ?? ''}: ${oneLine(textOf(text))}`] : []
      })
    },
  )
  return lines.length === 0 ? '' : `Comments:\n${lines.join('\n')}`
}

interface Workbook {
  readonly strings: readonly string[]
  readonly styles: readonly NumberStyle[]
  readonly from1904: boolean
}

/** Texts of cells, kept once for the whole workbook. Pronunciation guides (`rPh`) are not part of them. */
function sharedStrings(bytes: Uint8Array): string[] {
  const strings: string[] = []
  let parts = ''
  let isText = false
  let inGuide = false
  readXml(bytes, {
    open(name) {
      if (name === 'si') parts = ''
      if (name === 'rPh') inGuide = true
      isText = name === 't'
    },
    text(text) {
      if (isText && !inGuide) parts += text
    },
    close(name) {
      if (name === 'rPh') inGuide = false
      if (name === 'si') strings.push(unescaped(parts))
      isText = false
    },
  })
  return strings
}

/** Characters that XML does not allow are written as `_x000D_`, mostly line breaks. */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** Rows in order; an empty row represents any number of empty rows. */
function readRows(bytes: Uint8Array, book: Workbook, budget: Budget): Row[] {
  const rows: Row[] = []
  const places = new Map<number, number>()
  const merges: Merge[] = []
  let row = new Map<number, string>()
  let rowNumber = 0
  let lastNumber = 0
  let column = 0
  let characters = 0
  let cell: { type: string; style: number; text: string } | undefined
  let isValue = false
  readXml(bytes, {
    open(name, attributes) {
      if (name === 'row') {
        rowNumber = Number(attributes['r']) || lastNumber + 1
        row = new Map()
        column = 0
      } else if (name === 'c') {
        column = columnOf(attributes['r']) ?? column
        cell = { type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? 0), text: '' }
      }
      if (name === 'mergeCell' && merges.length < maxMerges) merges.push(...mergeOf(attributes['ref']))
      // `is` holds text typed into the cell itself, `v` a value or the number of a shared text.
      isValue = name === 'v' || name === 't'
    },
    text(text) {
      if (cell && isValue) cell.text += text
    },
    close(name) {
      isValue = false
      if (name === 'c' && cell) {
        const shown = shownCell(cell, book)
        if (shown !== '') {
          row.set(column, shown)
          // A shared text costs the file nothing but is text in every cell.
          characters += shown.length
          budget.expectText(characters)
        }
        column++
        cell = undefined
      } else if (name === 'row' && row.size > 0) {
        if (rowNumber > lastNumber + 1 && rows.length > 0) rows.push(new Map())
        places.set(rowNumber, rows.length)
        rows.push(row)
        lastNumber = rowNumber
      }
    },
  })
  spreadMerges(rows, { merges, places, budget, characters })
  return rows
}

function mergeOf(reference = ''): Merge[] {
  const [from = '', to = ''] = reference.split(':')
  const [left, right] = [columnOf(from), columnOf(to)]
  const [top, bottom] = [from, to].map((place) => Number(/(?<!\d)\d+$/.exec(place)?.[0] ?? 0) - 1)
  return left === undefined || right === undefined || top! < 0 || bottom! < top! || bottom! - top! > maxMergedRows
    ? []
    : [{ top: top!, bottom: bottom!, left, right }]
}

const maxMergedRows = 10_000

/** Columns a sheet can have; a reference beyond is not one. */
const maxColumns = 16_384

function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Za-z]{1,3}/.exec(reference ?? '')?.[0]?.toUpperCase()
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return Math.min(column, maxColumns) - 1
}

function shownCell(cell: { type: string; style: number; text: string }, book: Workbook): string {
  switch (cell.type) {
    case 's':
      return book.strings[Number(cell.text)] ?? ''
    case 'b':
      return cell.text === '1' ? 'TRUE' : 'FALSE'
    case 'n':
      return shownNumber(cell.text, book.styles[cell.style] ?? 'plain', book.from1904)
    default:
      return unescaped(cell.text)
  }
}
