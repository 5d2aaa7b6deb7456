import { hasAsciiWords, stopWords } from '@inlay/text'
import { titleOf, type ReadHit } from '../chunking/chunk-metadata.ts'
import type { DocumentReplacement } from '../contracts/search.ts'
import { titleVersion, type TitleVersion } from './title-version.ts'

type Passage = { readonly best: ReadHit }

/** Result of comparing versions. */
export interface VersionNote {
  /** For the reader: the document is superseded, an older version, or the newest of several. */
  readonly note?: string
  readonly replacedBy?: DocumentReplacement
}

/** Documents compared with each other: only the best ones, since others are not shown. */
const maxCompared = 16
/** Minimum share of common words for documents with one title, which may also be `Overview`. */
const alike = 0.3

interface Version extends TitleVersion, ReadHit {
  readonly title: string
  readonly words: readonly string[]
  readonly day: string
}

/**
 * Puts the newest of several versions before the others, with notes for the reader. Versions are documents whose titles
 * differ only in date, version or status, or of which one says that it replaces the other or is superseded by it. A
 * version whose number or date the query names (`policy 2022`) keeps its place.
 * @param passages best first
 * @returns best first, by descending score
 */
export function orderVersions<Item extends Passage>(
  passages: readonly Item[],
  query: string,
): readonly (Item & VersionNote)[] {
  const byGeneration = Map.groupBy(passages, ({ best }) => best.hit.generation)
  const versions = [...byGeneration.values()].slice(0, maxCompared).map(([first]) => toVersion(first!.best))
  const successors = successorsOf(versions)
  /** By generation. */
  const [notes, behind] = [new Map<string, VersionNote>(), new Map<string, string>()]
  const queryWords = new Set(plainWords(query))
  for (const [older, { isStated }] of successors) {
    const newer = newestOf(older, successors)
    const ofFamily = [...successors.keys()].filter((other) => newestOf(other, successors) === newer)
    const date = newer.day > older.day ? `dates from ${newer.day}` : 'replaces it'
    notes.set(older.hit.generation, {
      note: `An older version: "${newer.title}" ${date}.`,
      replacedBy: { documentId: newer.hit.documentId, title: newer.title, link: newer.metadata.link ?? null },
    })
    notes.set(newer.hit.generation, {
      note: isStated ? `Replaces "${older.title}".` : `The newest of ${ofFamily.length + 1} similar documents.`,
    })
    // Numbers, and words such as "draft" in titles that are the same otherwise.
    const isMeant = older.words.some(
      (word) =>
        queryWords.has(word) && !newer.words.includes(word) && (/\p{N}/u.test(word) || older.name === newer.name),
    )
    if (!isMeant) behind.set(older.hit.generation, newer.hit.generation)
  }
  for (const { hit, metadata } of versions)
    if (metadata.superseded !== undefined) {
      const note = `Superseded according to the document: "${metadata.superseded}"`
      notes.set(hit.generation, { ...notes.get(hit.generation), note })
    }
  if (notes.size === 0) return passages
  return moved(passages, behind).map((passage) => ({ ...passage, ...notes.get(passage.best.hit.generation) }))
}

function toVersion(best: ReadHit): Version {
  const title = titleOf(best.metadata)
  const day = new Date(best.hit.updatedAt).toISOString().slice(0, 10)
  return { ...best, ...titleVersion(title), title, words: plainWords(title), day }
}

type Successors = ReadonlyMap<Version, { readonly newer: Version; readonly isStated: boolean }>

/**
 * The document that each older one is replaced by, without circles. Pairs may contradict each other: the strongest
 * evidence counts most, then the greater difference in age.
 */
function successorsOf(versions: readonly Version[]): Successors {
  const pairs = versions.flatMap((left, at) =>
    versions.slice(at + 1).map((right) => {
      const order = compare(left, right)
      const [newer, older] = order > 0 ? [left, right] : [right, left]
      return { newer, older, by: Math.abs(order), gain: newer.hit.updatedAt - older.hit.updatedAt }
    }),
  )
  const successors = new Map<Version, { newer: Version; isStated: boolean }>()
  for (const { newer, older, by } of pairs.toSorted((a, b) => b.by - a.by || b.gain - a.gain))
    if (by > 0 && !successors.has(older) && newestOf(newer, successors) !== older)
      successors.set(older, { newer, isStated: by === evidence.statement })
  return successors
}

function newestOf(version: Version, successors: Successors): Version {
  const next = successors.get(version)
  return next ? newestOf(next.newer, successors) : version
}

/** On what grounds one document counts as newer than another; a larger number takes precedence. */
const evidence = { date: 1, title: 2, statement: 3 } as const

/** The {@link evidence} that the left one is newer, below 0 for the right one, 0 if neither replaces the other. */
function compare(left: Version, right: Version): number {
  const stated = Number(isReplacing(left, right)) - Number(isReplacing(right, left))
  if (stated !== 0) return stated * evidence.statement
  const [isOfDate, isOfVersion] = [left.date === right.date, left.version === right.version]
  const isRecordOfOther = left.isRecord && (!isOfDate || (left.date === '' && !isOfVersion))
  if (!isCalledSame(left, right) || isRecordOfOther || (left.isInterface && !isOfVersion)) return 0
  const inTitle =
    left.status - right.status ||
    (left.date && right.date && left.date.localeCompare(right.date)) ||
    (left.version && right.version && left.version.localeCompare(right.version, 'en', { numeric: true }))
  if (inTitle) return Math.sign(inTitle) * evidence.title
  if (isOfDate && isOfVersion && likeness(left, right) < alike) return 0
  return Math.sign(left.day.localeCompare(right.day)) * evidence.date
}

const isCalledSame = (left: Version, right: Version): boolean => left.name !== '' && left.name === right.name

/** Whether one of two documents says that the newer one replaces the other. */
function isReplacing(newer: Version, older: Version): boolean {
  const [notice, replaces] = [older.metadata.superseded, newer.metadata.replaces]
  const said = plainWords(notice ?? '').join(' ')
  const isCalled = newer.name.length > 3 && said.includes(newer.name)
  return (
    isNamedIn(notice, newer, older) ||
    // One word may be the name of anything: "the handbook".
    (older.words.length > 1 && isNamedIn(replaces, older, newer)) ||
    (notice !== undefined && newer.metadata.superseded === undefined && (isCalledSame(newer, older) || isCalled))
  )
}

/** Whether a notice of a document names another one by its whole title. */
function isNamedIn(notice: string | undefined, named: Version, by: Version): boolean {
  const [name, own] = [` ${named.words.join(' ')} `, ` ${by.words.join(' ')} `]
  return name.length > 5 && name !== own && ` ${plainWords(notice ?? '').join(' ')} `.includes(name)
}

/** Share of common significant words. */
function likeness(left: Version, right: Version): number {
  const [few, many] = [left, right].map(
    ({ words, hit }) =>
      new Set([...words, ...plainWords(hit.text)].filter((word) => !stopWords.has(word) && !/^\p{N}+$/u.test(word))),
  ) as [Set<string>, Set<string>]
  const common = [...few].filter((word) => many.has(word)).length
  return common / Math.max(1, few.size + many.size - common)
}

/** Moves the best passage of the newer document before those of the older one, in their place. */
function moved<Item extends Passage>(passages: readonly Item[], behind: ReadonlyMap<string, string>): Item[] {
  const order = [...passages]
  for (let at = order.length - 1; at >= 0; at--) {
    const newer = behind.get(order[at]!.best.hit.generation)
    const place = order.findIndex(({ best }) => best.hit.generation === newer)
    if (place > at) order.splice(at, 0, ...order.splice(place, 1))
  }
  // Places keep their scores, so that scores still descend.
  return order.map((passage, at) => {
    const { score } = passages[at]!.best.hit
    return { ...passage, best: { ...passage.best, hit: { ...passage.best.hit, score } } }
  })
}

/** Five times as fast if the words are ASCII. */
const plainWords = (text: string): string[] =>
  text.toLowerCase().match(hasAsciiWords(text) ? /[a-z0-9]+/g : /[\p{L}\p{M}\p{N}]+/gu) ?? []
