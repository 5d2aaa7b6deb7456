import type { Section } from '@inlay/protocol'
import { type Block, type Pause, type Span, type TextWindow, estimateTokens, findBlocks, openText } from './blocks.ts'
import { splitSpan } from './split.ts'

/** A piece of a document that is found and shown as one. */
export interface Chunk {
  /** Number in its document, from 0. */
  readonly position: number
  /** Number of the section it comes from, and where it lies in its text. */
  readonly section: number
  readonly start: number
  readonly end: number
  /** Never blank. Parts of a cut code block or table carry the fence or header of the whole. */
  readonly text: string
  /** Headings it stands under, or begins with; outermost first. */
  readonly headings: readonly string[]
  readonly link: string | null
  readonly imageFileId: string | null
  /** Whether a model said this of the image. */
  readonly isDescription?: true
  /** Absent when a blank line stood before it. */
  readonly seam?: Seam
}

/** How a chunk follows the one before it in its section, so that both can be shown as the one text they were. */
export interface Seam {
  /** Text between the two. */
  readonly between: string
  /** Characters at the end of the one before, and at the beginning of this one, that only a cut added. */
  readonly added: readonly [number, number]
}

/** Below the 512 tokens that small embedding models read, with room for title, headings and metadata. */
export const defaultChunkSize: ChunkSize = { limitTokens: 448, targetTokens: 360, leastTokens: 96 }

/** Each chunk carries the heading of its section, in characters. */
const longestHeading = 500

/** How sections are cut. */
export interface ChunkOptions {
  readonly size?: ChunkSize
  /** Image descriptions by id. Each follows the text of the first section with the image. */
  readonly descriptions?: ReadonlyMap<string, string>
  /** Opens the texts of sections that are not there as a whole; whoever reads the chunks adds to them. */
  readonly openSection?: ((section: number) => TextWindow | undefined) | undefined
}

/**
 * Cuts the sections of a document into chunks, along headings, paragraphs, lists, code blocks and tables; never across
 * sections. Lazy, so that a large document need not be in memory twice.
 * @returns chunks in document order; none for blank sections and for images that nothing is said of
 */
export function* chunkSections(sections: readonly Section[], options: ChunkOptions = {}): Generator<Chunk | Pause> {
  const { size = defaultChunkSize, openSection } = options
  const descriptions = new Map(options.descriptions)
  let position = 0
  for (const [section, content] of sections.entries()) {
    const heading = content.heading?.trim().slice(0, longestHeading)
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
      if (before && text.needed - before.end > longestGap) before = undefined
      else if (before) text.needed = Math.min(text.needed, before.start)
      yield undefined
      continue
    }
    const { start, end, prefix, suffix, headings } = packed
    // Without blank lines around it; indentation of the first line stays.
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

/** More blanks between two chunks are not kept in memory; nor are they shown. */
const longestGap = 65_536

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

/** How large chunks get, in tokens of {@link estimateTokens}. */
export interface ChunkSize {
  /** No chunk is larger. At least 64. */
  readonly limitTokens: number
  /** A chunk this large takes no further block. */
  readonly targetTokens: number
  /** A heading begins a new chunk once the one before it has this much. */
  readonly leastTokens: number
}

/** A stretch of a text that becomes one chunk. */
export interface Packed extends Span {
  /** Repeated from the part before: the opening of a code fence, the header of a table; with its line end. */
  readonly prefix: string
  /** Closes a fence that goes on in the next part; with the line end before it. */
  readonly suffix: string
  /** Headings that the stretch begins under, or with; outermost first. */
  readonly headings: readonly string[]
}

interface Open extends Packed {
  readonly tokens: number
  /** Start of headings without content so far; `end` when the range ends with something else. */
  readonly headingsFrom: number
  /** The path at that place. */
  readonly headingsPath: readonly string[]
}

type Heading = Block & { readonly kind: 'heading' }

/**
 * Fills stretches of a text with whole blocks. A heading stays with what follows it; code and tables are cut only when
 * they do not fit by themselves, and then between lines.
 * @returns stretches in order that together hold everything but blank lines
 */
export function* packBlocks(text: TextWindow, size: ChunkSize): Generator<Packed | Pause> {
  let open: Open | undefined
  let path: Heading[] = []
  for (const block of findBlocks(text)) {
    if (!block) {
      // Nothing comes close enough any more.
      if (open && text.needed - open.end > longestGap) {
        yield* splitHeadingsOff(text, open)
        open = undefined
      } else if (open) text.needed = open.start
      yield undefined
      continue
    }
    const { held, from } = text
    if (block.kind === 'heading') {
      if (open && !isHeadingsOnly(open) && open.tokens >= size.leastTokens) {
        yield open
        open = undefined
      }
      path = [...path.filter((above) => above.level < block.level), block]
    }
    const titles = path.map((above) => above.title).filter((title) => title !== '')
    const tokens = estimateTokens(held, block.start - from, block.end - from, size.limitTokens)
    const joined = (before: Open): number =>
      before.tokens + estimateTokens(held, before.end - from, block.start - from, size.limitTokens) + tokens
    const isPart = 'isContinued' in block || 'goesOn' in block
    if (
      open &&
      !isHeadingsOnly(open) &&
      (open.tokens >= size.targetTokens || joined(open) > size.limitTokens || 'isContinued' in block)
    ) {
      const [full, rest] = splitHeadingsOff(text, open)
      yield full
      open = rest
    }
    if (open && !isPart && joined(open) <= size.limitTokens)
      open = extend(open, block, { tokens: joined(open), titles })
    else if (tokens <= size.limitTokens && !isPart && !(open && block.kind === 'text')) {
      // Headings alone: better than cutting the code or table below them, whose path names them anyway.
      if (open) yield open
      const { start, end } = block
      const headingsFrom = block.kind === 'heading' ? start : end
      open = { start, end, prefix: '', suffix: '', headings: titles, tokens, headingsFrom, headingsPath: titles }
    } else {
      // One part at a time: a block may be as long as the text.
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

/** Headings at the end of a stretch belong to what comes next. */
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

/** Cuts a block that fits nowhere; headings that stand before it go with its first part. */
function* cut(
  text: TextWindow,
  headings: Open | undefined,
  block: Block,
  { size, titles }: { size: ChunkSize; titles: readonly string[] },
): Generator<Open> {
  const { prefix, suffix } = repeats(block, size)
  const frame = estimateTokens(prefix) + estimateTokens(suffix)
  const limit = size.limitTokens - frame
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

/** Text repeated at the start of each further part of a split block, and at the end of each part but the last. */
function repeats(block: Block, size: ChunkSize): { prefix: string; suffix: string } {
  const frame =
    block.kind === 'code'
      ? { prefix: `${block.opening}\n`, suffix: `\n${block.closing}` }
      : block.kind === 'table'
        ? { prefix: `${block.header}\n`, suffix: '' }
        : { prefix: '', suffix: '' }
  const isSmall = estimateTokens(frame.prefix) + estimateTokens(frame.suffix) <= size.limitTokens / 4
  return isSmall ? frame : { prefix: '', suffix: '' }
}
