import type { ExtractedSection } from '@inlay/knowledge'
import type { Budget } from '../budget.ts'
import { chartText, diagramText } from './chart.ts'
import { linkTo } from './html-inline.ts'
import { markdownTable } from './markdown-table.ts'
import { childOf, childrenOf, elementsIn, parseXml, textOf, type Element } from './markup.ts'
import { mainPart, officeFacts, pictureDescription, relationId, relationsOf, type Relation } from './office.ts'
import { refusal } from '../refusals.ts'
import { oneLine, sectionsOf, type Reading } from '../sections.ts'
import type { Archive } from '../zip.ts'

/** Reads a presentation: one section per visible slide in the order of the show, with tables, chart data, diagrams and notes. */
export function readPptx(archive: Archive, budget: Budget): Reading {
  const presentation = mainPart(archive) ?? 'ppt/presentation.xml'
  const bytes = archive.read(presentation)
  if (!bytes) throw refusal('broken', 'The presentation has no list of slides: save it anew and send it again.')
  const relations = relationsOf(archive, presentation)
  const sections: ExtractedSection[] = []
  let page = 0
  for (const element of elementsIn(parseXml(bytes))) {
    if (element.name !== 'sldId') continue
    const target = relations.get(relationId(element) ?? '')?.target
    page++
    if (target !== undefined) sections.push(...readSlide(archive, target, page, budget))
  }
  const { title, ...facts } = officeFacts(archive)
  const isDefault = !title || /^(?:powerpoint[ -])?presentation$/i.test(title)
  const named = isDefault ? sections[0]?.heading : title
  return { ...facts, title: named ?? null, sections }
}

function readSlide(archive: Archive, part: string, page: number, budget: Budget): ExtractedSection[] {
  const slide = archive.readPart(part, parseXml)
  if (!slide) return []
  const relations = relationsOf(archive, part)
  const root = childOf(slide, 'sld')
  // Hidden from the show, as hidden sheets are.
  if (/^(?:0|false)$/.test(root?.attributes['show'] ?? '')) return []
  const { title, blocks } = slideText(slide, relations)
  for (const { type, target, isOutside } of relations.values()) {
    if (isOutside) continue
    if (type === 'diagramData') blocks.push(archive.readPart(target, diagramText, 'embedded') ?? '')
    if (type === 'chart') blocks.push(archive.readPart(target, chartText, 'embedded') ?? '')
    if (type === 'notesSlide') blocks.push(notesText(archive, target))
  }
  const text = blocks.filter(Boolean).join('\n\n')
  // A slide that is all title still is a passage.
  return sectionsOf(text === '' ? title : text, budget, { heading: title, page })
}

const titleKinds = new Set(['title', 'ctrTitle'])
const furnitureKinds = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])

function slideText(slide: Element, relations: ReadonlyMap<string, Relation>) {
  const titles: string[] = []
  const blocks: string[] = []
  for (const shape of shapesIn(slide)) {
    const kind = placeholderKind(shape)
    if (furnitureKinds.has(kind)) continue
    if (shape.name === 'pic') blocks.push(descriptionOf(shape))
    else if (titleKinds.has(kind)) titles.push(oneLine(shapeText(shape, relations, '')))
    else if (shape.name === 'tbl') blocks.push(tableText(shape, relations))
    // Body texts are lists by default; a free text box is a paragraph.
    else blocks.push(shapeText(shape, relations, kind === '' ? '' : '- '))
  }
  return { title: titles.filter(Boolean).join(' – '), blocks }
}

/** Shapes with text, tables and pictures, those of groups too; of alternatives for older programs only the first. */
function* shapesIn(element: Element): Generator<Element> {
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (child.name === 'sp' || child.name === 'tbl' || child.name === 'cxnSp' || child.name === 'pic') yield child
    else if (child.name === 'AlternateContent') {
      const chosen = childOf(child, 'Choice') ?? childOf(child, 'Fallback')
      if (chosen) yield* shapesIn(chosen)
    } else yield* shapesIn(child)
  }
}

/** "" for a shape that fills no placeholder; `body` when the placeholder names no kind. */
function placeholderKind(shape: Element): string {
  for (const { name, attributes } of elementsIn(shape, ({ name: above }) => above !== 'txBody'))
    if (name === 'ph') return attributes['type'] ?? 'body'
  return ''
}

function descriptionOf(picture: Element): string {
  const properties = childOf(picture, 'nvPicPr')
  return pictureDescription((properties && childOf(properties, 'cNvPr'))?.attributes['descr'] ?? '')
}

function shapeText(shape: Element, relations: ReadonlyMap<string, Relation>, bullet: string): string {
  const body = childOf(shape, 'txBody')
  if (!body) return ''
  const lines = childrenOf(body, 'p').map((paragraph) => paragraphLine(paragraph, relations, bullet))
  return lines.filter(Boolean).join('\n')
}

function paragraphLine(paragraph: Element, relations: ReadonlyMap<string, Relation>, bullet: string): string {
  const text = runText(paragraph, relations)
    .replace(/(?<!\s)\s*\n\s*/g, ' ')
    .trim()
  if (text === '') return ''
  const properties = childOf(paragraph, 'pPr')
  const marker = markerOf(properties, bullet)
  const level = Math.min(Number(properties?.attributes['lvl'] ?? 0) || 0, 8)
  return marker === '' ? text : '  '.repeat(level) + marker + text
}

function markerOf(properties: Element | undefined, bullet: string): string {
  if (!properties) return bullet
  if (childOf(properties, 'buNone')) return ''
  if (childOf(properties, 'buAutoNum')) return '1. '
  return childOf(properties, 'buChar') ? '- ' : bullet
}

function runText(paragraph: Element, relations: ReadonlyMap<string, Relation>): string {
  let text = ''
  for (const run of paragraph.children) {
    if (typeof run === 'string') continue
    if (run.name === 'br') text += '\n'
    if (run.name !== 'r' && run.name !== 'fld') continue
    const plain = childrenOf(run, 't').map(textOf).join('')
    const click = childOf(childOf(run, 'rPr') ?? run, 'hlinkClick')
    const relation = click && relations.get(relationId(click) ?? '')
    text += relation?.isOutside && /^(?:https?|mailto):/i.test(relation.target) ? linkTo(plain, relation.target) : plain
  }
  return text
}

function tableText(table: Element, relations: ReadonlyMap<string, Relation>): string {
  const cellText = (cell: Element): string => shapeText(cell, relations, '')
  return markdownTable(childrenOf(table, 'tr').map((row) => childrenOf(row, 'tc').map(cellText)))
}

function notesText(archive: Archive, part: string): string {
  const notes = archive.readPart(part, parseXml)
  const lines: string[] = []
  for (const shape of notes ? shapesIn(notes) : [])
    if (!furnitureKinds.has(placeholderKind(shape))) lines.push(shapeText(shape, new Map(), ''))
  const text = lines.filter(Boolean).join('\n')
  return text === '' ? '' : `Notes: ${text}`
}
