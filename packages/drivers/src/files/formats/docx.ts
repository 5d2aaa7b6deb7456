import type { Budget } from '../budget.ts'
import { toMarkdown } from './html-markdown.ts'
import { childOf, childrenOf, elementsIn, parseHtml, parseXml, type Element } from './markup.ts'
import { mainPart, mediaCount, officeFacts, relationsOf } from './office.ts'
import { decodeText, declaredCharset } from '../encodings.ts'
import { refusal } from '../refusals.ts'
import { sectionsOf, type Reading } from '../sections.ts'
import { storeZip, type Archive } from '../zip.ts'

/** Names of styles for code; `separator` keeps the lines of one listing together. */
const codeStyles = ['HTML Preformatted', 'Code', 'Source Code', 'Code Block', 'Macro Text', 'macro'].map(
  (name) => `p[style-name='${name}'] => pre:separator('\\n')`,
)
const inlineCodeStyles = ['HTML Code', 'Verbatim Char', 'Code Char', 'Inline Code', 'HTML Typewriter'].map(
  (name) => `r[style-name='${name}'] => code`,
)
const otherStyles = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='Quote'] => blockquote > p:fresh",
  'comment-reference => sup',
]

/**
 * Reads a Word document: headings, lists, tables, links, emphasis, code, footnotes and comments as Markdown. Pictures,
 * headers and footers are left out; of tracked changes the newest state is read.
 */
export async function readDocx(archive: Archive, budget: Budget): Promise<Reading> {
  const document = mainPart(archive) ?? 'word/document.xml'
  const { parts, styles, notes } = unpackedParts(archive, document)
  const missingNotes = removeDeadReferences(parts, notes)
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(storeZip(parts).buffer) },
    {
      styleMap: [...codeStyles, ...inlineCodeStyles, ...otherStyles, ...headingStyles(styles)],
      includeEmbeddedStyleMap: false,
      externalFileAccess: false,
      // Only the description of a picture is kept; its bytes are not even unpacked.
      convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
    },
  )
  const page = parseHtml(value)
  const { title, ...facts } = officeFacts(archive)
  return {
    ...facts,
    ...(missingNotes > 0 && { metadata: { missing_notes: `${missingNotes}`, ...facts.metadata } }),
    title: title ?? firstHeading(page),
    sections: sectionsOf(toMarkdown(page).text, budget),
    imageCount: mediaCount(archive),
  }
}

/**
 * The parts with text, unpacked within the budget. Each is checked for XML bombs before the library, which has no
 * limits, reads it.
 */
function unpackedParts(
  archive: Archive,
  document: string,
): { parts: Map<string, Uint8Array>; styles?: Element; notes: ReadonlySet<string> } {
  const folder = document.slice(0, document.lastIndexOf('/') + 1)
  const wanted = ['[Content_Types].xml', '_rels/.rels', document]
  for (const { type, target, isOutside } of relationsOf(archive, document).values())
    if (!isOutside && ['styles', 'numbering', 'footnotes', 'endnotes', 'comments'].includes(type)) wanted.push(target)
  const relations = wanted.filter((name) => name.startsWith(folder)).map((name) => relationsPart(name))
  const parts = new Map<string, Uint8Array>()
  const notes = new Set<string>()
  let styles: Element | undefined
  for (const name of [...wanted, ...relations]) {
    const bytes = archive.read(name)
    if (!bytes) continue
    const tree = parseXml(bytes)
    if (childOf(tree, 'styles')) styles = childOf(tree, 'styles')
    for (const note of notesIn(tree)) notes.add(note)
    parts.set(
      name,
      withoutDeadRelations(withoutHidden(bytes), () => relationsOf(archive, name)),
    )
  }
  if (!parts.has(document))
    throw refusal('broken', 'The Word document has no text part: save it anew and send it again.')
  return { parts, styles, notes }
}

const relating = ['<w:hyperlink', '<a:blip', '<a:hlinkClick', '<v:imagedata']
/** Attributes, whose values may hold `>`. */
const attributes = /(?:[^<>"']|"[^"<]*"|'[^'<]*')*/.source
const relatingTag = new RegExp(`<(?:w:hyperlink|a:blip|a:hlinkClick|v:imagedata)\\s${attributes}>`, 'g')
const referenceTag = new RegExp(
  `<w:(footnote|endnote|comment)Reference(\\s${attributes})(?:(?<=/)>|>\\s*</w:\\1Reference\\s*>)`,
  'g',
)

/** The library fails on a link or picture whose relation is missing; the text of a link stays. */
function withoutDeadRelations(bytes: Uint8Array, relations: () => ReadonlyMap<string, unknown>): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!relating.some((tag) => buffer.includes(tag))) return bytes
  const known = relations()
  const text = decodeText(bytes, declaredCharset(bytes))
  const kept = text.replace(relatingTag, (tag) =>
    tag.replace(/\sr:(?:id|embed|link)\s*=\s*(["'])(.*?)\1/gs, (all, _, id: string) => (known.has(id) ? all : '')),
  )
  return kept === text ? bytes : new TextEncoder().encode(kept)
}

/** Kinds and numbers of the notes in a part. */
function* notesIn(tree: Element): Generator<string> {
  for (const kind of ['footnote', 'endnote', 'comment']) {
    const list = childOf(tree, `${kind}s`)
    for (const note of list ? childrenOf(list, kind) : []) {
      // Prefixes differ between the programs that wrote the parts.
      const valueOf = (name: string): string | undefined =>
        Object.entries(note.attributes).find(([key]) => key.endsWith(`:${name}`))?.[1]
      // The library reads the lines above the notes as no notes.
      if (!['separator', 'continuationSeparator'].includes(valueOf('type') ?? '')) yield `${kind} ${valueOf('id')}`
    }
  }
}

/**
 * Removes references to footnotes, endnotes and comments that no part contains: the library fails on them.
 * @param notes kinds and numbers of those that are there
 * @returns the number of missing notes
 */
function removeDeadReferences(parts: Map<string, Uint8Array>, notes: ReadonlySet<string>): number {
  const missing = new Set<string>()
  for (const [name, bytes] of parts) {
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('Reference')) continue
    const text = decodeText(bytes, declaredCharset(bytes))
    const kept = text.replace(referenceTag, (tag, kind: string, rest: string) => {
      const note = `${kind} ${/\sw:id\s*=\s*(["'])(.*?)\1/s.exec(rest)?.[2]}`
      if (notes.has(note)) return tag
      missing.add(note)
      return ''
    })
    if (kept !== text) parts.set(name, new TextEncoder().encode(kept))
  }
  return missing.size
}

/** The library reads hidden text as any other. */
function withoutHidden(bytes: Uint8Array): Uint8Array {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('w:vanish')) return bytes
  const text = decodeText(bytes, declaredCharset(bytes))
  // Runs hold no runs. Styles keep their `vanish`: what they are used for is not known here.
  const runs = text.split(/(?=<w:r[ >])/)
  const seen = runs.map((run) => {
    const end = run.indexOf('</w:r>')
    const properties = end < 0 ? undefined : /^<w:r(?: [^>]*)?>\s*<w:rPr>(.*?)<\/w:rPr>/s.exec(run.slice(0, end))?.[1]
    return properties !== undefined && isVanishing.test(withoutFormer(properties)) ? run.slice(end + 6) : run
  })
  return new TextEncoder().encode(seen.join(''))
}

/** Without the properties that a run had before a tracked change. */
const withoutFormer = (properties: string): string => properties.replace(/<w:rPrChange\b.*?(?:<\/w:rPrChange>|$)/s, '')

const isVanishing = /<w:vanish(?:\s*\/>|\s+w:val="(?:1|true|on)"|>)/

function relationsPart(name: string): string {
  const slash = name.lastIndexOf('/') + 1
  return `${name.slice(0, slash)}_rels/${name.slice(slash)}.rels`
}

/** Styles of an organisation's own that are headings by their outline level, or are based on one that is. */
function headingStyles(styles: Element | undefined): string[] {
  const levels = new Map<string, { level?: number; basedOn?: string }>()
  for (const style of styles ? elementsIn(styles, ({ name }) => name === 'styles') : []) {
    const id = style.attributes['w:styleId']
    if (style.name !== 'style' || id === undefined || style.attributes['w:type'] !== 'paragraph') continue
    levels.set(id, { level: outlineLevel(style), basedOn: childOf(style, 'basedOn')?.attributes['w:val'] })
  }
  const levelOf = (id: string | undefined, depth = 0): number | undefined => {
    const style = id === undefined || depth > 10 ? undefined : levels.get(id)
    return style && (style.level ?? levelOf(style.basedOn, depth + 1))
  }
  return [...levels.keys()].flatMap((id) => {
    const level = levelOf(id)
    return level === undefined || level > 5 || !/^[\w-]+$/.test(id) ? [] : [`p.${id} => h${level + 1}:fresh`]
  })
}

function outlineLevel(style: Element): number | undefined {
  const properties = childOf(style, 'pPr')
  const value = properties && childOf(properties, 'outlineLvl')?.attributes['w:val']
  return value === undefined ? undefined : Number(value)
}

function firstHeading(page: Element): string | null {
  for (const element of elementsIn(page))
    if (element.name === 'h1') return toMarkdown(element).text.replace(/^# /, '') || null
  return null
}
