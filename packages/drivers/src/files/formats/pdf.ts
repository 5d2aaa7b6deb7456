import { fileURLToPath } from 'node:url'
import type { ExtractedSection } from '@inlay/knowledge'
import type { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { createBudget, type Budget } from '../budget.ts'
import { refusalOfMany, type Picture, type Pictures } from '../pictures.ts'
import { toTimestamp } from '../timestamps.ts'
import { pageImage } from './page-image.ts'
import { toPng } from '../../ocr/png.ts'
import { pageMarkdown, typographyOf } from './pdf-layout.ts'
import { withFields } from './pdf-form.ts'
import { repairPageTree } from './pdf-page-tree.ts'
import { readOutline, type Outline } from './pdf-outline.ts'
import { linesOf, lineText, withoutFurniture, type Line, type PdfPage, type PdfText } from './pdf-lines.ts'
import { refusal, type Refusal } from '../refusals.ts'
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
const maxUnpackedToRecount = 50_000_000
/** An A3 page at 600 dots per inch has 70 million. */
const maxImagePixels = 100_000_000
/** Maximum number of unreadable pages before the first readable one: with more, the page count of the file is wrong. */
const maxUnreadable = 100

/**
 * Reads a PDF: one section a page, with headings, lists and tables as far as their layout tells. Images are decoded only
 * where the text of pictures is read, and there only those of pages that have no text of their own.
 *
 * Fonts that need Adobe's character maps for Chinese, Japanese and Korean (files without a map of their own), and images
 * packed as CCITT fax, JBIG2 or JPEG 2000, are read when the package `pdfjs-dist` is installed too.
 */
export async function readPdf(
  bytes: Uint8Array,
  { budget, pictures }: { readonly budget: Budget; readonly pictures: Pictures },
): Promise<Reading> {
  const decoders = pictures.step === 'read' ? await loadDecoders() : {}
  const { pdf, lostPages, imageCount, hasOversized, undecoded } = await openPdf(bytes, decoders, budget)
  try {
    const { pages, unreadable } = await readPages(pdf, { budget, lostPages })
    if (unreadable.length === pages.length) throw brokenPdf()
    const damaged = new Set(unreadable.map(Number))
    const hasScan = (page: PdfPage, number: number): boolean => !hasOwnText(page) && !damaged.has(number)
    const scans = imageCount === 0 ? [] : pages.flatMap((page, index) => (hasScan(page, index + 1) ? [index + 1] : []))
    if (scans.length > 0 && pictures.step === 'note') pictures.note()
    const isScanOnly = scans.length + unreadable.length === pages.length
    const { texts, unread } =
      pictures.step === 'read'
        ? await readScans(pdf, { scans, pages, isScanOnly, pictures, undecoded, hasOversized })
        : noScans
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }))
    const lines = withoutFurniture(pages)
    const outline = await readOutline(pdf)
    const { sections, firstHeading } = sectionsOfPages(lines, { scans: texts, outline, budget })
    return {
      ...factsOfPdf(info, [...unreadable, ...unread], pages.length),
      title: titleOf(info) ?? firstHeading,
      sections,
    }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

/** Pages that pdf.js drops because of a wrong entry in the page tree. */
interface LostPages {
  /** Whether they stand among the pages as blank ones. */
  readonly areBlank: boolean
  /** Number of lost pages behind the last page. */
  readonly behind: number
}

async function openPdf(bytes: Uint8Array, decoders: { readonly wasmUrl?: string }, budget: Budget) {
  // Read first: the library takes the bytes.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const about = { ...imagesOf(text), undecoded: undecodedBy(decoders, text) }
  const pdf = await openWith(bytes, decoders)
  // After a wrong entry the number of pages ends at it.
  const isLastLost = await pdf.getPage(pdf.numPages).then(
    () => false,
    () => true,
  )
  if (!isLastLost) {
    const whole = countPages(text) > pdf.numPages ? await recounted(pdf, text, decoders) : undefined
    if (whole) await pdf.loadingTask.destroy()
    return { pdf: whole ?? pdf, lostPages: { areBlank: false, behind: 0 }, ...about }
  }
  const { bytes: repaired, statedPages = 0 } = repairPageTree(text, budget)
  const whole = repaired && (await openWith(repaired, decoders).catch(() => undefined))
  if (whole && whole.numPages >= pdf.numPages) {
    await pdf.loadingTask.destroy()
    return { pdf: whole, lostPages: { areBlank: true, behind: 0 }, ...about }
  }
  await whole?.loadingTask.destroy()
  const behind = Math.min(Math.max(0, statedPages - pdf.numPages), maxPages)
  return { pdf, lostPages: { areBlank: false, behind }, ...about }
}

async function openWith(bytes: Uint8Array, decoders: { readonly wasmUrl?: string }): Promise<PdfDocument> {
  const { getDocumentProxy: open } = await import('unpdf')
  return open(bytes, {
    verbosity: 0,
    useSystemFonts: false,
    disableFontFace: true,
    maxImageSize: maxImagePixels,
    ...decoders,
  }).catch((error: unknown) => {
    throw refusalFor(error)
  })
}

/** Number of pages that are not inside compressed objects, also replaced and removed ones, and those of attached files. */
function countPages(text: string): number {
  let count = 0
  for (const _ of text.matchAll(/\/Type\s*\/Page(?![A-Za-z])/g)) count++
  return count
}

/** A count that is too small hides pages. Undefined unless the new file has all pages in their order, and more. */
async function recounted(
  pdf: PdfDocument,
  text: string,
  decoders: { readonly wasmUrl?: string },
): Promise<PdfDocument | undefined> {
  let whole: PdfDocument | undefined
  try {
    // Most files that get here are sound: what the attempt unpacks is not charged to them.
    const { bytes } = repairPageTree(text, createBudget({ unpackedBytes: maxUnpackedToRecount, textCharacters: 0 }))
    whole = bytes && (await openWith(bytes, decoders))
    if (whole && whole.numPages > pdf.numPages && whole.numPages <= maxPages) {
      const before = await pageObjects(pdf)
      const after = await pageObjects(whole)
      let kept = 0
      for (const number of after) if (number === before[kept]) kept++
      if (kept === before.length) return whole
    }
  } catch {
    // The file stays as it was opened.
  }
  await whole?.loadingTask.destroy()
  return undefined
}

/** Object numbers of all pages. @throws if one cannot be opened or is no object of the file */
async function pageObjects(pdf: PdfDocument): Promise<number[]> {
  const numbers: number[] = []
  for (let number = 1; number <= pdf.numPages; number++) {
    const { ref } = await pdf.getPage(number)
    if (ref === null) throw brokenPdf()
    numbers.push(ref.num)
  }
  return numbers
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
function imagesOf(text: string): { readonly imageCount: number; readonly hasOversized: boolean } {
  let imageCount = 0
  let hasOversized = false
  for (const { index } of text.matchAll(/\/Subtype\s*\/Image\b/g)) {
    imageCount++
    const before = text
      .slice(Math.max(0, index - 1000), index)
      .split(/\bobj\b/)
      .at(-1)!
    const entries = before + text.slice(index, index + 1000).split(/\bstream\b/)[0]!
    const [width, height] = ['Width', 'Height'].map((name) =>
      Number(new RegExp(`/${name}\\s+(\\d+)`).exec(entries)?.[1]),
    )
    hasOversized ||= width! * height! > maxImagePixels
  }
  return { imageCount, hasOversized }
}

async function readPages(
  pdf: PdfDocument,
  { budget, lostPages }: { readonly budget: Budget; readonly lostPages: LostPages },
): Promise<{ pages: PdfPage[]; unreadable: string[] }> {
  if (pdf.numPages > maxPages)
    throw refusal('too_large', `The PDF has more than ${maxPages} pages: split it into smaller files.`)
  const pages: PdfPage[] = []
  const unreadable: string[] = []
  let characters = 0
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await readPage(pdf, number, lostPages).catch((error: unknown) => {
      // One damaged page does not take the others with it; the metadata names it.
      unreadable.push(String(number))
      if (unreadable.length > maxUnreadable && unreadable.length === number) throw brokenPdf(error)
      return { lines: [], height: 0 }
    })
    for (const line of page.lines) for (const { text } of line.cells) characters += text.length
    budget.expectText(characters)
    pages.push(page)
  }
  for (let lost = 0; lost < lostPages.behind; lost++) unreadable.push(String(pages.push({ lines: [], height: 0 })))
  return { pages, unreadable }
}

async function readPage(pdf: PdfDocument, number: number, { areBlank }: Pick<LostPages, 'areBlank'>): Promise<PdfPage> {
  const page = await pdf.getPage(number)
  // Only pages put in for lost ones are no objects of the file.
  if (areBlank && page.ref === null) throw brokenPdf()
  const { items } = await page.getTextContent({ includeMarkedContent: false })
  const [, bottom = 0, , top = 0] = page.view
  const fields = await page.getAnnotations().catch(() => [])
  page.cleanup()
  // Without marked content all items are text.
  const lines = withFields(linesOf(items as PdfText[]), fields)
  return { lines: lines.map((line) => ({ ...line, y: line.y - bottom })), height: top - bottom }
}

/** Pages with less text may be scans with a stamp, a page number or the name of the scanner on them. */
const minOwnLetters = 60

function hasOwnText({ lines }: PdfPage): boolean {
  let letters = 0
  for (const line of lines) letters += lineText(line).length
  return letters >= minOwnLetters
}

/** Texts recognised, and pages that could not be, by their numbers from 1. */
interface ScannedPages {
  readonly texts: ReadonlyMap<number, string>
  readonly unread: readonly string[]
}

const noScans: ScannedPages = { texts: new Map(), unread: [] }

/** Pages in a row that cannot be read until the rest is given up. */
const maxFailures = 3

interface ScanReading {
  /** Numbers of the pages without a text of their own. */
  readonly scans: readonly number[]
  readonly pages: readonly PdfPage[]
  /** Whether no other page can be read. */
  readonly isScanOnly: boolean
  readonly pictures: Pictures
  readonly undecoded: Refusal
  /** Whether the file has images that the library drops for their size, which leaves their pages blank. */
  readonly hasOversized: boolean
}

/** Pages that fail are named. @throws the refusal of the last page when the file has no other text */
async function readScans(
  pdf: PdfDocument,
  { scans, pages, isScanOnly, pictures, undecoded, hasOversized }: ScanReading,
): Promise<ScannedPages> {
  // Known beforehand: nobody has to wait for it.
  if (isScanOnly && scans.length > pictures.maxPictures) throw toError(refusalOfMany(pictures.maxPictures))
  const { OPS } = await (await import('unpdf')).getResolvedPDFJS()
  const texts = new Map<number, string>()
  const unread: string[] = []
  let failures = 0
  let last: Refusal | undefined
  for (const number of scans) {
    if (failures >= maxFailures || pictures.left === 0) {
      unread.push(String(number))
      continue
    }
    const hasText = pages[number - 1]!.lines.length > 0
    const image = await pdf
      .getPage(number)
      .then((page) => imageOf(page, OPS, { maxPixels: pictures.maxPixels, hasText }))
      // One damaged page does not take the others with it.
      .catch(() => 'damaged' as const)
    if (image === 'blank' && !hasOversized) continue
    const answer =
      image === 'blank'
        ? { unread: oversized }
        : image === 'damaged'
          ? { unread: undecoded }
          : await pictures.read(image)
    if ('text' in answer) {
      failures = 0
      texts.set(number, answer.text)
    } else {
      failures++
      last = answer.unread
      unread.push(String(number))
    }
  }
  if (last && texts.size === 0 && isScanOnly) throw toError(last)
  return { texts, unread }
}

const oversized: Refusal = {
  reason: 'too_large',
  message: `The scan has more than ${maxImagePixels / 1e6} million pixels a page: scan it with a lower resolution.`,
}

const toError = ({ reason, message }: Refusal): Error => refusal(reason, message)

async function imageOf(
  page: Awaited<ReturnType<PdfDocument['getPage']>>,
  ops: Awaited<ReturnType<typeof getResolvedPDFJS>>['OPS'],
  options: { readonly maxPixels: number; readonly hasText: boolean },
): Promise<Picture | 'blank' | 'damaged'> {
  try {
    const image = await pageImage(page, ops, options)
    if (image === undefined) return 'blank'
    return image.drawn === 0 ? 'damaged' : { bytes: toPng(image.canvas), mediaType: 'image/png' }
  } finally {
    page.cleanup()
  }
}

/** Loads the whole of pdf.js, whose decoders are not in the small build; without it, their images stay unread. */
async function loadDecoders(): Promise<{ readonly wasmUrl?: string }> {
  let base: string
  try {
    base = import.meta.resolve('pdfjs-dist/package.json')
  } catch {
    return {}
  }
  const { definePDFJSModule } = await import('unpdf')
  // Otherwise it would use the worker of the small build, which is loaded with the first file.
  Reflect.deleteProperty(globalThis, 'pdfjsWorker')
  // With a catch of its own, esbuild leaves an import alone that it cannot resolve.
  const whole = (): Promise<unknown> =>
    import('pdfjs-dist/legacy/build/pdf.mjs').catch((error: unknown) => {
      throw error
    })
  await definePDFJSModule(whole)
  return { wasmUrl: fileURLToPath(new URL('./wasm/', base)) }
}

/** Said of images that cannot be decoded. */
function undecodedBy(decoders: object, text: string): Refusal {
  const isPacked = /\/(?:CCITTFaxDecode|JBIG2Decode|JPXDecode)\b/.test(text)
  return isPacked && !('wasmUrl' in decoders)
    ? {
        reason: 'unsupported',
        message: 'The scan is packed as CCITT fax, JBIG2 or JPEG 2000: install the package pdfjs-dist to have it read.',
      }
    : { reason: 'broken', message: 'The images of the PDF are damaged: scan it again, or save it anew.' }
}

/** A page begins under the heading in force at the end of the page before. */
function sectionsOfPages(
  pages: readonly (readonly Line[])[],
  {
    scans,
    outline,
    budget,
  }: { readonly scans: ReadonlyMap<number, string>; readonly outline: Outline; readonly budget: Budget },
): { sections: ExtractedSection[]; firstHeading: string | null } {
  const typography = typographyOf(pages)
  const sections: ExtractedSection[] = []
  let heading: string | undefined
  let firstHeading: string | null = null
  for (const [index, lines] of pages.entries()) {
    const bookmarks = outline.get(index + 1) ?? []
    const text = [pageMarkdown(lines, typography, bookmarks), scans.get(index + 1) ?? ''].filter(Boolean).join('\n\n')
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!)
    firstHeading ??= headings[0] ?? null
    // A bookmark that is not on the page as it stands, such as that of a picture, still names the page.
    if (headings.length === 0) heading = bookmarks[0]?.title ?? heading
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
  pageCount: number,
): Pick<Reading, 'metadata' | 'createdAt' | 'updatedAt'> {
  return {
    metadata: factsOf({
      // First, since of long metadata only the beginning is recorded as tags.
      unreadable_page_count: unreadable.length === 0 ? undefined : `${unreadable.length} of ${pageCount}`,
      author: listed(plain(info.Author), /;/),
      subject: plain(info.Subject),
      keywords: listed(plain(info.Keywords)),
      language: plain(info.Language),
      unreadable_pages: rangesOf(unreadable.map(Number)),
    }),
    createdAt: toTimestamp(plain(info.CreationDate) ?? ''),
    updatedAt: toTimestamp(plain(info.ModDate) ?? ''),
  }
}

/** Page numbers in their order; three and more in a row as one range. */
function rangesOf(numbers: readonly number[]): string[] {
  const ranges: { from: number; to: number }[] = []
  for (const number of numbers.toSorted((left, right) => left - right)) {
    const last = ranges.at(-1)
    if (last && number <= last.to + 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  return ranges.flatMap(({ from, to }) => (to - from < 2 ? [...new Set([from, to])].map(String) : [`${from}-${to}`]))
}
