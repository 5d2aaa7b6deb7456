import { Parser } from 'htmlparser2'
import { decodeText, declaredCharset } from '../encodings.ts'
import { refusal } from '../refusals.ts'

/** An element of an XML or HTML file. XML element names have no namespace prefix, attribute names do. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  children: Node[]
  /** Only in HTML: whether it is or contains a block element; otherwise it is inline. */
  isBlock: boolean
}

/** An element or a run of text, entities resolved. */
export type Node = Element | string

/** Events of a streaming reader of XML; all names are without prefix. */
export interface XmlEvents {
  open?(name: string, attributes: Readonly<Record<string, string>>): void
  text?(text: string): void
  close?(name: string): void
}

/** Deeper elements count as text of the one at this depth: what recurses over a tree cannot run out of stack. */
const deepest = 400
/** The parser slows down with every open element; real documents never reach this limit. */
const maxOpen = { xml: 1000, html: 20_000 }

/**
 * Only what the caller keeps stays in memory. @throws `bomb` for entities, which can expand, `broken` for deep nesting
 */
export function readXml(bytes: Uint8Array, events: XmlEvents): void {
  const text = decodeText(bytes, declaredCharset(bytes))
  if (/<!ENTITY/i.test(text))
    throw refusal('bomb', 'The file declares XML entities, which no document needs (an XML bomb): it is not read.')
  let openElements = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++openElements > maxOpen.xml) throw nestedTooDeeply()
        events.open?.(withoutPrefix(name), attributes)
      },
      ontext: (data) => events.text?.(data),
      onclosetag(name) {
        openElements--
        events.close?.(withoutPrefix(name))
      },
    },
    { xmlMode: true },
  )
  parser.end(text)
}

function nestedTooDeeply(): Error {
  return refusal('broken', 'The file nests its elements without end: save it anew.')
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Reads XML as a tree, for the small parts of an office file. Same refusals as {@link readXml}. */
export function parseXml(bytes: Uint8Array): Element {
  const tree = growTree()
  readXml(bytes, tree)
  return tree.root
}

/**
 * Reads each child of the element `parent` as a tree, which nobody need keep; false if there is no such element.
 * Refusals as of {@link readXml}.
 */
export function readPieces(bytes: Uint8Array, parent: string, read: (piece: Element) => void): boolean {
  let isInside = false
  let isFound = false
  let depth = 0
  let tree = growTree()
  readXml(bytes, {
    open(name, attributes) {
      if (isInside) {
        depth++
        tree.open(name, attributes)
      } else if (name === parent) isInside = isFound = true
    },
    text(text) {
      if (depth > 0) tree.text(text)
    },
    close() {
      if (!isInside) return
      if (depth === 0) {
        isInside = false
        return
      }
      tree.close()
      depth--
      if (depth > 0) return
      for (const piece of tree.root.children) if (typeof piece !== 'string') read(piece)
      tree = growTree()
    },
  })
  return isFound
}

const unread = new Set(
  'script style template noscript svg canvas iframe object embed audio video map select button textarea datalist'.split(
    ' ',
  ),
)

const blockNames = new Set(
  `address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table
  tbody td tfoot th thead title tr ul`.split(/\s+/),
)

/** As forgiving as browsers; without scripts, styles, forms and media. @throws refusal `broken` for endless nesting */
export function parseHtml(text: string): Element {
  const tree = growTree()
  let inUnread = 0
  let openElements = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++openElements > maxOpen.html) throw nestedTooDeeply()
      if (unread.has(name)) inUnread++
      if (inUnread === 0) tree.open(name, attributes, blockNames.has(name))
    },
    ontext(data) {
      if (inUnread === 0) tree.text(data)
    },
    onclosetag(name) {
      openElements--
      if (inUnread === 0) tree.close()
      else if (unread.has(name)) inUnread--
    },
  })
  parser.end(text)
  return tree.root
}

/** Most elements have none; sharing keeps large trees small. */
const noAttributes = {}

function growTree() {
  const root: Element = { name: '', attributes: noAttributes, children: [], isBlock: true }
  const open = [root]
  let tooDeep = 0
  return {
    root,
    open(name: string, attributes: Readonly<Record<string, string>>, isBlock = false): void {
      for (let at = open.length - 1; isBlock && at >= 0 && !open[at]!.isBlock; at--) open[at]!.isBlock = true
      if (open.length >= deepest) {
        tooDeep++
        return
      }
      const kept = hasKeys(attributes) ? attributes : noAttributes
      const element: Element = { name, attributes: kept, children: [], isBlock }
      open.at(-1)!.children.push(element)
      open.push(element)
    },
    text(text: string): void {
      const siblings = open.at(-1)!.children
      const last = siblings.at(-1)
      if (typeof last === 'string') siblings[siblings.length - 1] = last + text
      else siblings.push(text)
    },
    close(): void {
      if (tooDeep > 0) tooDeep--
      else if (open.length > 1) {
        const element = open.pop()!
        // A growing array reserves room for sixteen more entries, which would be most of the memory of a large tree.
        if (element.children.length > 0) element.children = element.children.slice()
      }
    },
  }
}

function hasKeys(attributes: Readonly<Record<string, string>>): boolean {
  for (const _ in attributes) return true
  return false
}

/** A block element in HTML's vocabulary, in which readers write what {@link toMarkdown} then writes. */
export const block = (name: string, children: Node[], attributes: Record<string, string> = {}): Element => ({
  name,
  attributes,
  children,
  isBlock: true,
})

export const inline = (name: string, children: Node[], attributes: Record<string, string> = {}): Element => ({
  ...block(name, children, attributes),
  isBlock: false,
})

export const isElement = (node: Node | undefined): node is Element => typeof node === 'object'

export function childrenOf(element: Element, name: string): Element[] {
  return element.children.filter((child): child is Element => typeof child !== 'string' && child.name === name)
}

export function childOf(element: Element, name: string): Element | undefined {
  return element.children.find((child): child is Element => typeof child !== 'string' && child.name === name)
}

/** All elements below, in document order; a subtree is left out where `enters` says no. */
export function* elementsIn(element: Element, enters?: (element: Element) => boolean): Generator<Element> {
  const path = [{ nodes: element.children, at: 0 }]
  for (let place = path.at(-1); place; place = path.at(-1)) {
    const node = place.nodes[place.at++]
    if (node === undefined) path.pop()
    else if (typeof node !== 'string') {
      yield node
      if (enters?.(node) ?? true) path.push({ nodes: node.children, at: 0 })
    }
  }
}

export function textOf(node: Node): string {
  return typeof node === 'string' ? node : node.children.map(textOf).join('')
}
