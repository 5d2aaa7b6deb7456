import type { Passage } from '../contracts/search.ts'

/** One ranking to be fused, best first. */
export interface Ranking<Item> {
  readonly items: readonly Item[]
  /** Weight in the fused ranking, above 0. */
  readonly weight: number
}

export const passageKey = ({ document }: Passage): string => `${document.chunk_ind} ${document.document_id}`

// Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009.
const smoothing = 60

/**
 * Fuses rankings by weighted reciprocal rank: the score of an item is the sum of weight / (60 + rank), with ranks from
 * 1.
 * @param keyOf identifies items across rankings; the first of equal items is kept
 * @returns items by descending score; equal scores in order of first appearance
 */
export function fuseRankings<Item>(
  rankings: readonly Ranking<Item>[],
  keyOf: (item: Item) => string,
): { readonly item: Item; readonly score: number }[] {
  const fused = new Map<string, { item: Item; score: number }>()
  for (const { items, weight } of rankings) {
    for (const [index, item] of items.entries()) {
      const share = weight / (smoothing + index + 1)
      const known = fused.get(keyOf(item))
      if (known) known.score += share
      else fused.set(keyOf(item), { item, score: share })
    }
  }
  return [...fused.values()].toSorted((a, b) => b.score - a.score)
}

/** Takes items of two rankings by turns, best first, each item once; the first of equal items is kept. */
export function alternate<Item>(
  first: readonly Item[],
  second: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const items = Array.from({ length: Math.max(first.length, second.length) }, (_, at) => [first[at], second[at]])
  const byKey = new Map<string, Item>()
  for (const item of items.flat()) {
    if (item !== undefined && !byKey.has(keyOf(item))) byKey.set(keyOf(item), item)
  }
  return [...byKey.values()]
}

// Share of link or heading lines that makes a table of contents, and share of words that makes a copy.
const contentsShare = 0.6
const copyShare = 0.85
const minLines = 4
const shingleWords = 5

/** Lists of links or headings, and near-duplicates of a better one, go to the end. @param sections best first */
export function rankDown<Section extends Passage>(sections: readonly Section[]): Section[] {
  const kept: { readonly section: Section; readonly shingles: ReadonlySet<string> }[] = []
  const down: Section[] = []
  for (const section of sections) {
    const shingles = shinglesOf(section.content)
    const tellsLittle = isContents(section.content) || kept.some((better) => isCopy(shingles, better.shingles))
    if (tellsLittle) down.push(section)
    else kept.push({ section, shingles })
  }
  return [...kept.map(({ section }) => section), ...down]
}

const linkLine = /^(?:[-*+]|\d+[.)])?\s*\[[^\]\n]+\]\([^)\n]*\)[.,;]?$|^\[[^\]\n]+\]:\s*\S+/
const contentsLine = /^(?:\d+(?:\.\d+)*\.?\s+)?\S.{0,80}?(?:\s?\.){3,}\s*\d+$/

function isContents(content: string): boolean {
  const lines = content.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim().slice(0, 500)]))
  const texts = lines.filter((line) => !line.startsWith('#'))
  if (texts.length < minLines) return false
  return texts.filter((line) => linkLine.test(line) || contentsLine.test(line)).length >= texts.length * contentsShare
}

function shinglesOf(content: string): ReadonlySet<string> {
  const words = content.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const count = Math.max(0, words.length - shingleWords + 1)
  return new Set(Array.from({ length: count }, (_, at) => words.slice(at, at + shingleWords).join(' ')))
}

function isCopy(own: ReadonlySet<string>, better: ReadonlySet<string>): boolean {
  // Short texts share words with many others.
  if (own.size < 20) return false
  // Most texts are no copies, which their first words tell.
  let possible = own.size
  for (const shingle of own) if (!better.has(shingle) && --possible < own.size * copyShare) return false
  return true
}
