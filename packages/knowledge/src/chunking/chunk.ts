import type { Section } from '@inlay/protocol'
import { type Block, type Pause, type Span, type TextWindow, estimateTokens, findBlocks, openText } from './blocks.ts'
import { splitSpan } from './split.ts'

/** A part of a document that is indexed and returned as one unit. */
export interface Chunk {
  /** Index in its document, from 0. */
  readonly position: number
  /** Index of its section, and its range in the section's text. */
  readonly section: number
  readonly start: number
  readonly end: number
  /** Never blank. Parts of a split code block or table repeat the fence or header. */
  readonly text: string
  /** Headings above the chunk, or at its beginning; outermost first. */
  readonly headings: readonly string[]
  readonly link: string | null
  readonly imageFileId: string | null
  /** Whether the text is a model's description of the image. */
  readonly isDescription?: true
  /** Absent if a blank line precedes the chunk. */
  readonly seam?: Seam
}

/** Connects a chunk with the previous one in its section, so that both can be shown as their original text. */
export interface Seam {
  readonly between: string
  /** Number of characters that splitting added: at the end of the previous chunk, and at the beginning of this one. */
  readonly added: readonly [number, number]
}

/** Below the 512 tokens that small embedding models accept, with room for title, headings and metadata. */
export const defaultChunkSize: ChunkSize = { maxTokens: 448, targetTokens: 360, minTokens: 96 }

/** In characters; each chunk stores the headings of its section. */
const maxHeadingLength = 500

export interface ChunkOptions {
  readonly size?: ChunkSize
  /** Image descriptions by id. Each is added after the text of the first section with the image. */
  readonly descriptions?: ReadonlyMap<string, string>
  /** Opens the text of a section that is not in memory as a whole; the consumer of the chunks adds text to it. */
  readonly openSection?: ((section: number) => TextWindow | undefined) | undefined
}

/**
 * Splits the sections of a document into chunks, along headings, paragraphs, lists, code blocks and tables, never
 * across sections. Lazy, so that a large document is not in memory twice.
 * @returns chunks in document order; none for blank sections and for images without a description
 */
export function* chunkSections(sections: readonly Section[], options: ChunkOptions = {}): Generator<Chunk | Pause> {
  const { size = defaultChunkSize, openSection } = options
  const descriptions = new Map(options.descriptions)
  let position = 0
  for (const [section, content] of sections.entries()) {
    const heading = content.heading?.trim().slice(0, maxHeadingLength)
    const imageFileId = 'image_file_id' in content ? content.image_file_id : null
    const shared = { section, link: content.link || null, imageFileId }
    const description = imageFileId === null ? undefined : descriptions.get(imageFileId)
    if (imageFileId !== null) descriptions.delete(imageFileId)
    for (const [text, said] of [
      [openSection?.(section) ?? ('text' in content ? content.text : ''), {}],
      [description ?? '', { isDescription: true }],
    ] as const)
      for (const part of chunkText(text, size))
        yield (
          part && {
            ...part,
            ...shared,
            ...said,
            position: position++,
            headings: heading ? [heading, ...part.headings] : part.headings,
          }
        )
  }
}

function* chunkText(
  given: string | TextWindow,
  size: ChunkSize,
): Generator<Pick<Chunk, 'start' | 'end' | 'text' | 'headings' | 'seam'> | Pause> {
  const text = typeof given === 'string' ? openText(given) : given
  let before: Packed | undefined
  for (const packed of packBlocks(text, size)) {
    if (!packed) {
      if (before && text.needed - before.end > maxGap) before = undefined
      else if (before) text.needed = Math.min(text.needed, before.start)
      yield undefined
      continue
    }
    const { start, end, prefix, suffix, headings } = packed
    // Removes blank lines around the text but keeps the indentation of the first line.
    const inner = text.held
      .slice(start - text.from, end - text.from)
      .replace(blankLines, '')
      .trimEnd()
    if (inner.trim() === '') continue
    const seam = before && seamOf(text, before, packed)
    before = packed
    yield { start, end, text: prefix + inner + suffix, headings, ...(seam ? { seam } : {}) }
  }
}

/** Longer gaps between two chunks are dropped to save memory; they would not be shown. */
const maxGap = 65_536

const blankLines = /^(?:[^\S\n]*\n)+/

function seamOf({ held, from }: TextWindow, before: Packed, after: Packed): Seam | undefined {
  const slice = (start: number, end: number): string => held.slice(start - from, end - from)
  const end = before.start + slice(before.start, before.end).trimEnd().length
  const start = after.start + (blankLines.exec(slice(after.start, after.end))?.[0].length ?? 0)
  const between = slice(end, start)
  const isCut = after.prefix !== '' || before.suffix !== ''
  if (!isCut && /\n[^\S\n]*\n/.test(between)) return undefined
  return { between, added: [before.suffix.length, after.prefix.length] }
}

/** Chunk sizes, in tokens of {@link estimateTokens}. */
export interface ChunkSize {
  /** Maximum size of a chunk. At least 64. */
  readonly maxTokens: number
  /** A chunk that has reached this size gets no further block. */
  readonly targetTokens: number
  /** A heading starts a new chunk if the current one has at least this size. */
  readonly minTokens: number
}

/** A range of a text that becomes one chunk. */
export interface Packed extends Span {
  /** Repeated from the previous part: the opening of a code fence or the header of a table, with its line end. */
  readonly prefix: string
  /** Closes a code fence that continues in the next part; with the line end before it. */
  readonly suffix: string
  /** Headings above the range, or at its beginning; outermost first. */
  readonly headings: readonly string[]
}

interface Open extends Packed {
  readonly tokens: number
  /** Start of trailing headings without content; equal to `end` if the range ends with anything else. */
  readonly headingsFrom: number
  /** The path of headings at that position. */
  readonly headingsPath: readonly string[]
}

type Heading = Block & { readonly kind: 'heading' }

/**
 * Groups whole blocks into ranges of a text. A heading stays with the content below it; code and tables are split only
 * if they do not fit alone, and then between lines.
 * @returns ranges in order that together contain everything but blank lines
 */
export function* packBlocks(text: TextWindow, size: ChunkSize): Generator<Packed | Pause> {
  let open: Open | undefined
  let path: Heading[] = []
  for (const block of findBlocks(text)) {
    if (!block) {
      // No later block is close enough to join the open range.
      if (open && text.needed - open.end > maxGap) {
        yield* splitHeadingsOff(text, open)
        open = undefined
      } else if (open) text.needed = open.start
      yield undefined
      continue
    }
    const { held, from } = text
    if (block.kind === 'heading') {
      if (open && !isHeadingsOnly(open) && open.tokens >= size.minTokens) {
        yield open
        open = undefined
      }
      path = [...path.filter((above) => above.level < block.level), block]
    }
    const titles = path.map((above) => above.title).filter((title) => title !== '')
    const tokens = estimateTokens(held, block.start - from, block.end - from, size.maxTokens)
    const joined = (before: Open): number =>
      before.tokens + estimateTokens(held, before.end - from, block.start - from, size.maxTokens) + tokens
    const isPart = 'isContinued' in block || 'goesOn' in block
    if (
      open &&
      !isHeadingsOnly(open) &&
      (open.tokens >= size.targetTokens || joined(open) > size.maxTokens || 'isContinued' in block)
    ) {
      const [full, rest] = splitHeadingsOff(text, open)
      yield full
      open = rest
    }
    if (open && !isPart && joined(open) <= size.maxTokens) open = extend(open, block, { tokens: joined(open), titles })
    else if (tokens <= size.maxTokens && !isPart && !(open && block.kind === 'text')) {
      // A chunk of headings only is better than splitting the code or table below them, whose heading path contains
      // them anyway.
      if (open) yield open
      const { start, end } = block
      const headingsFrom = block.kind === 'heading' ? start : end
      open = { start, end, prefix: '', suffix: '', headings: titles, tokens, headingsFrom, headingsPath: titles }
    } else {
      // One part at a time, since a block may be as long as the text.
      const before = open
      open = undefined
      for (const part of cut(text, before, block, { size, titles })) {
        if (open) yield open
        open = part
      }
    }
  }
  if (open) yield open
}

function isHeadingsOnly(open: Open): boolean {
  return open.headingsFrom === open.start && open.prefix === ''
}

function extend(open: Open, block: Block, { tokens, titles }: { tokens: number; titles: readonly string[] }): Open {
  const isHeading = block.kind === 'heading'
  const endsInHeadings = open.headingsFrom < open.end
  return {
    ...open,
    end: block.end,
    tokens,
    headingsFrom: !isHeading ? block.end : endsInHeadings ? open.headingsFrom : block.start,
    headingsPath: isHeading && endsInHeadings ? open.headingsPath : titles,
  }
}

/** Splits off headings at the end of a range, which belong to what follows. */
function splitHeadingsOff(text: TextWindow, open: Open): [Open, rest?: Open] {
  if (open.headingsFrom >= open.end) return [open]
  const { headingsFrom: start, end, headingsPath } = open
  const rest: Open = {
    start,
    end,
    prefix: '',
    suffix: '',
    headings: headingsPath,
    tokens: estimateTokens(text.held, start - text.from, end - text.from),
    headingsFrom: start,
    headingsPath,
  }
  return [{ ...open, end: start }, rest]
}

/** Splits a block that is larger than a chunk; headings directly before it stay with its first part. */
function* cut(
  text: TextWindow,
  headings: Open | undefined,
  block: Block,
  { size, titles }: { size: ChunkSize; titles: readonly string[] },
): Generator<Open> {
  const { prefix, suffix } = repeats(block, size)
  const frame = estimateTokens(prefix) + estimateTokens(suffix)
  const limit = size.maxTokens - frame
  const { held, from } = text
  const before = headings ? headings.tokens + estimateTokens(held, headings.end - from, block.start - from) : 0
  const isWithHeadings = headings !== undefined && before <= limit / 2
  if (headings && !isWithHeadings) yield headings
  let isFirst = true
  const span = { start: block.start - from, end: block.end - from }
  for (const piece of splitSpan(held, span, { room: isWithHeadings ? limit - before : limit, limit })) {
    const start = isFirst && isWithHeadings ? headings.start : piece.start + from
    const end = piece.end + from
    const isLast = end >= block.end
    yield {
      start,
      end,
      prefix: isFirst && !('isContinued' in block) ? '' : prefix,
      suffix: isLast && !('goesOn' in block) ? '' : suffix,
      headings: isFirst && isWithHeadings ? headings.headings : titles,
      tokens: estimateTokens(held, start - from, end - from) + frame,
      headingsFrom: end,
      headingsPath: titles,
    }
    isFirst = false
  }
}

/** Text repeated at the start of each further part of a split block, and at the end of each part except the last. */
function repeats(block: Block, size: ChunkSize): { prefix: string; suffix: string } {
  const frame =
    block.kind === 'code'
      ? { prefix: `${block.opening}\n`, suffix: `\n${block.closing}` }
      : block.kind === 'table'
        ? { prefix: `${block.header}\n`, suffix: '' }
        : { prefix: '', suffix: '' }
  const isSmall = estimateTokens(frame.prefix) + estimateTokens(frame.suffix) <= size.maxTokens / 4
  return isSmall ? frame : { prefix: '', suffix: '' }
}
