import type { getDocumentProxy } from 'unpdf'

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>
type OutlineNode = Awaited<ReturnType<PdfDocument['getOutline']>>[number]

export interface Bookmark {
  readonly title: string
  /** From 1. */
  readonly level: number
}

/** Bookmarks by the number of the page they lead to, in their order. */
export type Outline = ReadonlyMap<number, readonly Bookmark[]>

/** Deeper levels are paragraphs in some files. */
const maxLevel = 4
const maxBookmarks = 5000

/** Reads the bookmarks of a PDF; those that lead nowhere are left out. */
export async function readOutline(pdf: PdfDocument): Promise<Outline> {
  const outline = new Map<number, Bookmark[]>()
  let count = 0
  const add = async (nodes: readonly OutlineNode[], level: number): Promise<void> => {
    for (const { title, dest, items } of nodes) {
      if (++count > maxBookmarks) return
      const page = await pageOf(pdf, dest).catch(() => undefined)
      const text = title.replace(/\s+/g, ' ').trim()
      if (page !== undefined && /\p{L}/u.test(text)) {
        if (!outline.has(page)) outline.set(page, [])
        outline.get(page)!.push({ title: text, level })
      }
      if (level < maxLevel) await add(items as readonly OutlineNode[], level + 1)
    }
  }
  await add((await pdf.getOutline().catch(() => null)) ?? [], 1)
  return outline
}

async function pageOf(pdf: PdfDocument, dest: OutlineNode['dest']): Promise<number | undefined> {
  const place: unknown = typeof dest === 'string' ? await pdf.getDestination(dest) : dest
  const target: unknown = Array.isArray(place) ? place[0] : undefined
  if (typeof target === 'number') return target + 1
  if (typeof target !== 'object' || target === null) return undefined
  return (await pdf.getPageIndex(target as Parameters<PdfDocument['getPageIndex']>[0])) + 1
}

/** A text as it is compared: without its number, case and signs. */
export function comparable(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[\d.\s]+/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
