import type { Section } from '@inlay/protocol'
import { packBlocks, type ChunkSize, type Packed } from './pack.ts'

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
  /** What stood between them. */
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
  /** What is said of images, by id: it follows the text of the first section that has the image. */
  readonly descriptions?: ReadonlyMap<string, string>
}

/**
 * Cuts the sections of a document into chunks, along headings, paragraphs, lists, code blocks and tables; never across
 * sections. Lazy, so that a large document need not be in memory twice.
 * @returns chunks in document order; none for blank sections and for images that nothing is said of
 */
export function* chunkSections(sections: readonly Section[], options: ChunkOptions = {}): Generator<Chunk> {
  const { size = defaultChunkSize } = options
  const descriptions = new Map(options.descriptions)
  let position = 0
  for (const [section, content] of sections.entries()) {
    const heading = content.heading?.trim().slice(0, longestHeading)
    const imageFileId = 'image_file_id' in content ? content.image_file_id : null
    const shared = { section, link: content.link || null, imageFileId }
    const description = imageFileId === null ? undefined : descriptions.get(imageFileId)
    if (imageFileId !== null) descriptions.delete(imageFileId)
    for (const [text, said] of [
      ['text' in content ? content.text : '', {}],
      [description ?? '', { isDescription: true }],
    ] as const)
      for (const part of chunkText(text, size))
        yield {
          ...part,
          ...shared,
          ...said,
          position: position++,
          headings: heading ? [heading, ...part.headings] : part.headings,
        }
  }
}

function* chunkText(
  text: string,
  size: ChunkSize,
): Generator<Pick<Chunk, 'start' | 'end' | 'text' | 'headings' | 'seam'>> {
  let before: Packed | undefined
  for (const packed of packBlocks(text, size)) {
    const { start, end, headings } = packed
    const shown = toText(text, packed)
    if (shown === undefined) continue
    const seam = before && seamOf(text, before, packed)
    before = packed
    yield { start, end, text: shown, headings, ...(seam ? { seam } : {}) }
  }
}

const blankLines = /^(?:[^\S\n]*\n)+/

/** Without blank lines around it; indentation of the first line stays. */
function toText(text: string, { start, end, prefix, suffix }: Packed): string | undefined {
  const inner = text.slice(start, end).replace(blankLines, '').trimEnd()
  return inner.trim() === '' ? undefined : prefix + inner + suffix
}

function seamOf(text: string, before: Packed, after: Packed): Seam | undefined {
  const end = before.start + text.slice(before.start, before.end).trimEnd().length
  const start = after.start + (blankLines.exec(text.slice(after.start, after.end))?.[0].length ?? 0)
  const between = text.slice(end, start)
  const isCut = after.prefix !== '' || before.suffix !== ''
  if (!isCut && /\n[^\S\n]*\n/.test(between)) return undefined
  return { between, added: [before.suffix.length, after.prefix.length] }
}
