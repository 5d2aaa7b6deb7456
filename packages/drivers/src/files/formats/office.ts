import { childrenOf, elementsIn, parseXml, textOf, type Element } from './markup.ts'
import { toTimestamp } from '../timestamps.ts'
import { factsOf, listed, oneLine, type Reading } from '../sections.ts'
import type { Archive } from '../zip.ts'

/** Target of a relation in an office file: another part (its full name) or an external URL. */
export interface Relation {
  /** Last word of the relation's type: `slide`, `notesSlide`, `hyperlink`, `image`, … */
  readonly type: string
  readonly target: string
  readonly isOutside: boolean
}

/** Relations of a part by their id; none when the part has no relations. */
export function relationsOf(archive: Archive, part: string): Map<string, Relation> {
  const slash = part.lastIndexOf('/') + 1
  const bytes = archive.read(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`)
  const relations = new Map<string, Relation>()
  if (!bytes) return relations
  for (const { name, attributes } of elementsIn(parseXml(bytes))) {
    const { Id: id, Type: type = '', Target: target } = attributes
    if (name !== 'Relationship' || id === undefined || target === undefined) continue
    const isOutside = attributes['TargetMode'] === 'External'
    relations.set(id, {
      type: type.slice(type.lastIndexOf('/') + 1),
      target: isOutside ? target : partName(target, part.slice(0, slash)),
      isOutside,
    })
  }
  return relations
}

function partName(target: string, folder: string): string {
  const names: string[] = []
  for (const name of (target.startsWith('/') ? target : folder + target).split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/')
}

/** The part the whole file begins with, e.g. `word/document.xml`. */
export function mainPart(archive: Archive): string | undefined {
  for (const { type, target } of relationsOf(archive, '').values()) if (type === 'officeDocument') return target
  return undefined
}

/** The id of a relation that an element refers to, whatever prefix the file uses. */
export function relationId(element: Element, attribute = 'id'): string | undefined {
  for (const [name, value] of Object.entries(element.attributes)) if (name.endsWith(`:${attribute}`)) return value
  return undefined
}

/** Title, author, dates and keywords in the metadata of an office file. */
export function officeFacts(archive: Archive): Pick<Reading, 'title' | 'metadata' | 'createdAt' | 'updatedAt'> {
  const bytes = archive.read('docProps/core.xml')
  const [root] = bytes ? parseXml(bytes).children.filter((node): node is Element => typeof node !== 'string') : []
  const value = (name: string): string | undefined =>
    root && childrenOf(root, name).map(textOf).map(oneLine).find(Boolean)
  return {
    title: value('title') ?? null,
    metadata: factsOf({
      author: listed(value('creator'), /;/),
      last_modified_by: value('lastModifiedBy'),
      subject: value('subject'),
      description: value('description'),
      keywords: listed(value('keywords')),
      category: value('category'),
      language: value('language'),
    }),
    createdAt: toTimestamp(value('created') ?? ''),
    updatedAt: toTimestamp(value('modified') ?? ''),
  }
}

/** Pictures among the parts. */
export function mediaCount(archive: Archive): number {
  return archive.names.filter((name) =>
    /\/media\/[^/]+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|heic)$/i.test(name),
  ).length
}
