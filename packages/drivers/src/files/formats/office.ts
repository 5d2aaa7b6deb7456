import { childrenOf, elementsIn, isElement, parseXml, textOf, type Element } from './markup.ts'
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
  const tree = archive.readPart(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`, parseXml)
  const relations = new Map<string, Relation>()
  if (!tree) return relations
  for (const { name, attributes } of elementsIn(tree)) {
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

/** An attribute by its name without a prefix, which differs between the programs that wrote a file. */
export function attributeOf(element: Element | undefined, name = 'val'): string | undefined {
  if (!element) return undefined
  const { attributes } = element
  const usual = attributes[`w:${name}`]
  if (usual !== undefined) return usual
  for (const key in attributes) if (key === name || key.endsWith(`:${name}`)) return attributes[key]
  return undefined
}

/** Description of a picture, without file names and the remarks that programs add to it. */
export function pictureDescription(text: string): string {
  const line = oneLine(text)
  return /\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)$/i.test(line)
    ? ''
    : line.replace(/(?<!\s)\s*(?:description automatically generated|automatisch generierte beschreibung).*$/i, '')
}

export function officeFacts(archive: Archive): Pick<Reading, 'title' | 'metadata' | 'createdAt' | 'updatedAt'> {
  const root = archive.readPart('docProps/core.xml', parseXml)?.children.find(isElement)
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
