import type { ExtractedSection } from '@inlay/knowledge'
import type { Budget } from '../budget.ts'
import { decodeText } from '../encodings.ts'
import { refusal } from '../refusals.ts'
import { factsOf, oneLine, sectionsOf, type Reading } from '../sections.ts'
import type { Archive } from '../zip.ts'
import { toMarkdown } from './html-markdown.ts'
import { childOf, elementsIn, parseHtml, parseXml, textOf, type Element } from './markup.ts'

/** Reads an e-book: one section per chapter, in reading order. */
export function readEpub(archive: Archive, budget: Budget): Reading {
  const packagePart = rootPart(archive)
  const bytes = packagePart === undefined ? undefined : archive.read(packagePart)
  if (packagePart === undefined || !bytes)
    throw refusal('broken', 'The e-book has no list of chapters: save it anew and send it again.')
  const book = [...elementsIn(parseXml(bytes))]
  const folder = packagePart.slice(0, packagePart.lastIndexOf('/') + 1)
  const items = new Map<string, Element>()
  for (const element of book) if (element.name === 'item') items.set(element.attributes['id'] ?? '', element)
  const sections: ExtractedSection[] = []
  for (const { name, attributes } of book) {
    const item = name === 'itemref' ? items.get(attributes['idref'] ?? '') : undefined
    // The table of contents repeats the headings.
    if (!item || /\bnav\b/.test(item.attributes['properties'] ?? '')) continue
    const page = archive.readPart(partName(folder, item.attributes['href'] ?? ''), (bytes) =>
      parseHtml(decodeText(bytes)),
    )
    if (!page) continue
    const html = childOf(page, 'html')
    sections.push(...sectionsOf(toMarkdown((html && childOf(html, 'body')) ?? page), budget))
  }
  const fact = (wanted: string): string | undefined =>
    book
      .filter(({ name }) => name === wanted)
      .map((element) => oneLine(textOf(element)))
      .find(Boolean)
  return {
    title: fact('title') ?? null,
    sections,
    metadata: factsOf({ author: fact('creator'), language: fact('language'), publisher: fact('publisher') }),
  }
}

function rootPart(archive: Archive): string | undefined {
  const container = archive.readPart('META-INF/container.xml', parseXml)
  const roots = container ? [...elementsIn(container)].filter(({ name }) => name === 'rootfile') : []
  return roots[0]?.attributes['full-path']
}

function partName(folder: string, address: string): string {
  const url = URL.parse(address, `http://book.invalid/${folder}`)
  try {
    return decodeURIComponent(url?.pathname.slice(1) ?? '')
  } catch {
    return ''
  }
}
