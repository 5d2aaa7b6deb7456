import { parseBlocks, referencesOf, type FootnoteText, type PlacedBlock } from './blocks.ts'
import type { InlineOptions } from './inline.ts'
import type { Block, Footnote, MarkdownDocument } from './tree.ts'

/** Parses a growing text. Unchanged blocks are the same objects as before. */
export interface MarkdownReader {
  /** @param isGrowing whether more text will follow */
  read(text: string, isGrowing: boolean): MarkdownDocument
}

/** Number of blocks at the end that are parsed again with every addition, since a new line may continue them. */
const openBlocks = 2

interface Known {
  readonly text: string
  readonly lines: readonly string[]
  readonly blocks: readonly PlacedBlock[]
  readonly footnotes: readonly FootnoteText[]
  readonly references: string
  readonly document: MarkdownDocument
  readonly isGrowing: boolean
}

export function readMarkdown(text: string): MarkdownDocument {
  return createMarkdownReader().read(text, false)
}

/** Creates a reader for one text; while the text grows, only its end is parsed again. */
export function createMarkdownReader(): MarkdownReader {
  let known: Known | undefined
  return {
    read(text, isGrowing) {
      if (known?.text === text && known.isGrowing === isGrowing) return known.document
      known = readOn(known, text, isGrowing)
      return known.document
    },
  }
}

function readOn(before: Known | undefined, text: string, isGrowing: boolean): Known {
  // A carriage return at the end may be half of a line break.
  const isLonger = before !== undefined && text.startsWith(before.text) && !before.text.endsWith('\r')
  const lines = isLonger ? addedLines(before.lines, text.slice(before.text.length)) : linesOf(text)
  const references = text.includes(']:') ? referencesOf(lines) : new Map<string, string>()
  const marks = JSON.stringify([...references])
  // A new definition may turn earlier text into links.
  const canKeep = isLonger && before.references === marks
  const kept = canKeep ? before.blocks.slice(0, -openBlocks) : []
  const start = canKeep ? (before.blocks.at(-openBlocks)?.line ?? 0) : 0
  const from = kept.length === 0 ? 0 : start
  const options: InlineOptions = { references, isGrowing }
  const { blocks: fresh, footnotes } = parseBlocks(from === 0 ? lines : lines.slice(from), options)
  const blocks = [...kept, ...fresh.map(({ line, block }) => ({ line: line + from, block }))]
  const texts = from === 0 ? footnotes : mergedFootnotes(before?.footnotes ?? [], footnotes)
  const document: MarkdownDocument = {
    blocks: blocks.map(({ block }) => block),
    footnotes: footnotesOf(texts, options),
  }
  const shared = before === undefined ? document : share(before.document, document)
  const placed = blocks.map(({ line }, at): PlacedBlock => ({ line, block: shared.blocks[at] as Block }))
  return { text, lines, blocks: placed, footnotes: texts, references: marks, document: shared, isGrowing }
}

const linesOf = (text: string): readonly string[] => text.replaceAll(/\r\n?/g, '\n').split('\n')

function addedLines(before: readonly string[], added: string): readonly string[] {
  const [first = '', ...others] = linesOf(added)
  return [...before.slice(0, -1), (before.at(-1) ?? '') + first, ...others]
}

function mergedFootnotes(before: readonly FootnoteText[], fresh: readonly FootnoteText[]): readonly FootnoteText[] {
  // A label keeps its place.
  const all = new Map([...before, ...fresh].map((footnote) => [footnote.label, footnote]))
  return [...all.values()]
}

function footnotesOf(texts: readonly FootnoteText[], options: InlineOptions): readonly Footnote[] {
  return texts.map(({ label, lines }, at) => ({
    label,
    number: at + 1,
    blocks: parseBlocks(lines, options).blocks.map(({ block }) => block),
  }))
}

/** Returns a value equal to `after` that reuses equal objects of `before`. */
function share<Value>(before: unknown, after: Value): Value {
  if (Object.is(before, after)) return after
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return after
  const entries = Object.entries(after)
  const isSameForm = Array.isArray(before) === Array.isArray(after) && Object.keys(before).length === entries.length
  let isSame = isSameForm
  const values = entries.map(([key, value]): [string, unknown] => {
    const old: unknown = Reflect.get(before, key)
    const shared = share(old, value)
    if (!Object.is(shared, old)) isSame = false
    return [key, shared]
  })
  // All parts are equal, so the old object is reused.
  if (isSame) return before as Value
  return (Array.isArray(after) ? values.map(([, value]) => value) : Object.fromEntries(values)) as Value
}
