import type { Budget } from '../budget.ts'
import { refusal } from '../refusals.ts'
import { sectionsOf, type Reading } from '../sections.ts'
import type { Archive } from '../zip.ts'
import { toMarkdown } from './html-markdown.ts'
import { childrenOf, elementsIn, isElement, parseXml, readPieces, type Element, type Node } from './markup.ts'
import { attributeOf, mainPart, officeFacts, relationsOf, type Relation } from './office.ts'
import { markdownBlock, noteKey, WordBody, type Note } from './word-body.ts'
import { readNumbering } from './word-numbering.ts'
import { readStyles } from './word-styles.ts'

export type EmbeddedReader = (name: string, bytes: Uint8Array) => Promise<Reading>

/**
 * Reads a Word document: headings, lists with their numbers, tables, links, emphasis, code, equations, results of fields,
 * text boxes, charts, footnotes and comments as Markdown. Of pictures the descriptions are read; headers and footers only
 * where there is no other text; of tracked changes the newest state.
 */
export async function readDocx(
  archive: Archive,
  { budget, readEmbedded }: { readonly budget: Budget; readonly readEmbedded: EmbeddedReader },
): Promise<Reading> {
  const name = mainPart(archive) ?? 'word/document.xml'
  const bytes = archive.read(name)
  if (!bytes) throw refusal('broken', 'The Word document has no text part: save it anew and send it again.')
  const relations = relationsOf(archive, name)
  const partsOf = (...types: string[]): Relation[] =>
    [...relations.values()].filter(({ type, isOutside }) => !isOutside && types.includes(type))
  const treeOf = (type: string): Element | undefined =>
    partsOf(type)
      .map(({ target }) => archive.readPart(target, parseXml))
      .find(Boolean)
  const styleOf = readStyles(treeOf('styles'))
  const embedded = embeddedTexts(archive, readEmbedded)
  const body = new WordBody(
    {
      archive,
      styleOf,
      numbering: readNumbering(treeOf('numbering'), (id) => styleOf(id).numbering.list),
      notes: notesIn(archive, partsOf('footnotes', 'endnotes', 'comments')),
      embeddedText: embedded.add,
    },
    relations,
  )
  const isDocument = readPieces(bytes, 'body', (piece) => body.read(piece))
  if (!isDocument) throw refusal('broken', 'The Word document has no body: save it anew and send it again.')
  if (body.isEmpty) {
    for (const { target } of partsOf('header', 'footer')) {
      const tree = archive.readPart(target, parseXml)
      if (tree) body.readPart({ element: tree, relations: relationsOf(archive, target) })
    }
  }
  const page = body.end()
  await embedded.whenRead()
  const { title, ...facts } = officeFacts(archive)
  const missingNotes = body.missingNotes.size
  return {
    ...facts,
    ...(missingNotes > 0 && { metadata: { missing_notes: `${missingNotes}`, ...facts.metadata } }),
    title: title ?? firstHeading(page),
    sections: sectionsOf(toMarkdown(page), budget),
  }
}

function notesIn(archive: Archive, parts: readonly Relation[]): Map<string, Note> {
  const notes = new Map<string, Note>()
  for (const { type, target } of parts) {
    const list = archive.readPart(target, parseXml)?.children.find(isElement)
    if (!list) continue
    const relations = relationsOf(archive, target)
    const kind = type.slice(0, -1)
    for (const element of childrenOf(list, kind)) {
      // Lines that part the notes from the text are written as notes.
      if (/separator|continuationNotice/i.test(attributeOf(element, 'type') ?? '')) continue
      notes.set(noteKey(kind, attributeOf(element, 'id')), { element, relations })
    }
  }
  return notes
}

/** Documents that were put into the text; they are read beside it. */
function embeddedTexts(
  archive: Archive,
  readEmbedded: EmbeddedReader,
): { add: (part: string) => Node; whenRead: () => Promise<void> } {
  const readings: (() => Promise<void>)[] = []
  const add = (part: string): Node => {
    const place = markdownBlock('')
    readings.push(async () => {
      try {
        const bytes = archive.read(part)
        if (!bytes) return
        const { sections } = await readEmbedded(part, bytes)
        place.children = [sections.map(({ text }) => text).join('\n\n')]
      } catch (error) {
        archive.noteUnread(part, error, 'embedded')
      }
    })
    return place
  }
  // One after the other: each may hold as much as the document itself.
  const whenRead = async (): Promise<void> => {
    for (const read of readings) await read()
  }
  return { add, whenRead }
}

function firstHeading(page: Element): string | null {
  for (const element of elementsIn(page))
    if (element.name === 'h1') return toMarkdown(element).replace(/^# /, '') || null
  return null
}
