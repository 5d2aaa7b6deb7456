import type { ExtractedSection } from '@inlay/knowledge'
import type { getDocumentProxy } from 'unpdf'
import type { Budget } from '../budget.ts'
import { toTimestamp } from '../timestamps.ts'
import { pageMarkdown, typographyOf } from './pdf-layout.ts'
import { linesOf, withoutFurniture, type Line, type PdfPage, type PdfText } from './pdf-lines.ts'
import { refusal } from '../refusals.ts'
import { factsOf, listed, oneLine, sectionsOf, type Reading } from '../sections.ts'

/** Metadata of a PDF; in malformed files values may be absent or of another type. */
interface PdfInfo {
  readonly Title?: unknown
  readonly Author?: unknown
  readonly Subject?: unknown
  readonly Keywords?: unknown
  readonly CreationDate?: unknown
  readonly ModDate?: unknown
  readonly Language?: unknown
}

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>

const maxPages = 20_000
/** Maximum number of unreadable pages before the first readable one: with more, the page count of the file is wrong. */
const maxUnreadable = 100

/**
 * Reads a PDF: one section a page, with headings, lists and tables as far as their layout tells. Only text that is
 * drawn as text is read; images are neither decoded nor read, so that a scanned file has no sections.
 *
 * Fonts that need Adobe's character maps for Chinese, Japanese and Korean (files without a map of their own) are read
 * when the package `pdfjs-dist` is installed too.
 */
export async function readPdf(bytes: Uint8Array, budget: Budget): Promise<Reading> {
  // Counted first: the library takes the bytes.
  const imageCount = countImages(bytes)
  const unpdf = await import('unpdf')
  const pdf = await unpdf
    .getDocumentProxy(bytes, { verbosity: 0, useSystemFonts: false, disableFontFace: true })
    .catch((error: unknown) => {
      throw refusalFor(error)
    })
  try {
    const { pages, unreadable } = await readPages(pdf, budget)
    if (unreadable.length === pages.length) throw brokenPdf()
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }))
    const lines = withoutFurniture(pages)
    const { sections, firstHeading } = sectionsOfPages(lines, budget)
    return { ...factsOfPdf(info, unreadable), title: titleOf(info) ?? firstHeading, sections, imageCount }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

function brokenPdf(cause?: unknown): Error {
  return refusal('broken', 'The PDF is damaged or was cut off: send it again, or save it anew.', cause)
}

function refusalFor(error: unknown): Error {
  if (error instanceof Error && error.name === 'PasswordException')
    return refusal('encrypted', 'The PDF is protected by a password: remove the password and send it again.', error)
  return brokenPdf(error)
}

/** Image streams are never inside compressed objects, so counting them needs no decoding. */
function countImages(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return text.match(/\/Subtype\s*\/Image\b/g)?.length ?? 0
}

async function readPages(pdf: PdfDocument, budget: Budget): Promise<{ pages: PdfPage[]; unreadable: string[] }> {
  if (pdf.numPages > maxPages)
    throw refusal('too_large', `The PDF has more than ${maxPages} pages: split it into smaller files.`)
  const pages: PdfPage[] = []
  const unreadable: string[] = []
  let characters = 0
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await readPage(pdf, number).catch((error: unknown) => {
      // One damaged page does not take the others with it; the metadata names it.
      unreadable.push(String(number))
      if (unreadable.length > maxUnreadable && unreadable.length === number) throw brokenPdf(error)
      return { lines: [], height: 0 }
    })
    for (const line of page.lines) for (const { text } of line.cells) characters += text.length
    budget.expectText(characters)
    pages.push(page)
  }
  return { pages, unreadable }
}

async function readPage(pdf: PdfDocument, number: number): Promise<PdfPage> {
  const page = await pdf.getPage(number)
  const { items } = await page.getTextContent({ includeMarkedContent: false })
  const [, bottom = 0, , top = 0] = page.view
  page.cleanup()
  // Without marked content all items are text.
  const lines = linesOf(items as PdfText[])
  return { lines: lines.map((line) => ({ ...line, y: line.y - bottom })), height: top - bottom }
}

/** A page begins under the heading in force at the end of the page before. */
function sectionsOfPages(
  pages: readonly (readonly Line[])[],
  budget: Budget,
): { sections: ExtractedSection[]; firstHeading: string | null } {
  const typography = typographyOf(pages)
  const sections: ExtractedSection[] = []
  let heading: string | undefined
  let firstHeading: string | null = null
  for (const [index, lines] of pages.entries()) {
    const text = pageMarkdown(lines, typography)
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!)
    firstHeading ??= headings[0] ?? null
    const own = text.startsWith('#') ? undefined : heading
    for (const section of sectionsOf(text, budget, { heading: own, page: index + 1 })) sections.push(section)
    heading = headings.at(-1) ?? heading
  }
  return { sections, firstHeading }
}

/** Titles that programs make up themselves: file names, "Microsoft Word - …", "Untitled". */
const madeUpTitle =
  /^(?:untitled|document\d*|unbenannt|sans titre|microsoft (?:word|powerpoint|excel) - .*|.*\.(?:docx?|pdf|tex|indd|pptx?|xlsx?|odt|dvi|qxd|rtf|pages))$/i

function titleOf(info: PdfInfo): string | null {
  const title = oneLine(plain(info.Title) ?? '')
  return title === '' || madeUpTitle.test(title) ? null : title
}

function plain(value: unknown): string | undefined {
  // Default values of some programs.
  return typeof value === 'string' && !/^\((?:anonymous|unspecified)\)$/.test(value) ? value : undefined
}

function factsOfPdf(
  info: PdfInfo,
  unreadable: readonly string[],
): Pick<Reading, 'metadata' | 'createdAt' | 'updatedAt'> {
  return {
    metadata: factsOf({
      author: listed(plain(info.Author), /;/),
      subject: plain(info.Subject),
      keywords: listed(plain(info.Keywords)),
      language: plain(info.Language),
      unreadable_pages: unreadable,
    }),
    createdAt: toTimestamp(plain(info.CreationDate) ?? ''),
    updatedAt: toTimestamp(plain(info.ModDate) ?? ''),
  }
}
