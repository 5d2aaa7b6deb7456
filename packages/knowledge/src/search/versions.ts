import { hasAsciiWords, stopWords } from '@inlay/text'
import { titleOf, type ReadHit } from '../chunking/chunk-metadata.ts'
import type { DocumentReplacement } from '../contracts/search.ts'
import { titleVersion, type TitleVersion } from './title-version.ts'

/** A passage with its best hit. */
interface Passage {
  readonly best: ReadHit
}

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

interface Version extends TitleVersion {
  readonly hit: ReadHit['hit']
  readonly title: string
  readonly link: string | null
  readonly day: string
  /** The notice that the document is superseded; see `supersededNotice`. */
  readonly notice: string | undefined
  /** Names what the document replaces; see `replacesNotice`. */
  readonly replaces: string | undefined
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
  const first = new Map<string, Item>()
  for (const passage of passages) {
    if (first.size === maxCompared) break
    if (!first.has(passage.best.hit.generation)) first.set(passage.best.hit.generation, passage)
  }
  const versions = [...first.values()].map(toVersion)
  const successors = successorsOf(versions)
  const notes = new Map<Version, string>()
  const [replacements, behind] = [new Map<string, Version>(), new Map<string, string>()]
  const words = new Set(plainWords(query))
  for (const [older, { isStated }] of successors) {
    const newer = newestOf(older, successors)
    const ofFamily = [...successors.keys()].filter((other) => newestOf(other, successors) === newer)
    const date = newer.day > older.day ? `dates from ${newer.day}` : 'replaces it'
    notes.set(older, `An older version: "${newer.title}" ${date}.`)
    notes.set(
      newer,
      isStated ? `Replaces "${older.title}".` : `The newest of ${ofFamily.length + 1} similar documents.`,
    )
    replacements.set(older.hit.generation, newer)
    // Numbers, and words such as "draft" in titles that are the same otherwise.
    const own = plainWords(older.title).filter((word) => !plainWords(newer.title).includes(word))
    const isMeant = own.some((word) => words.has(word) && (/\p{N}/u.test(word) || older.name === newer.name))
    if (!isMeant) behind.set(older.hit.generation, newer.hit.generation)
  }
  for (const version of versions)
    if (version.notice !== undefined) notes.set(version, `Superseded according to the document: "${version.notice}"`)
  if (notes.size === 0) return passages
  const noteOf = new Map([...notes].map(([{ hit }, note]) => [hit.generation, note]))
  return moved(passages, behind).map((passage) => {
    const { generation } = passage.best.hit
    const [note, newer] = [noteOf.get(generation), replacements.get(generation)]
    if (note === undefined) return passage
    const replacedBy = newer && { documentId: newer.hit.documentId, title: newer.title, link: newer.link }
    return { ...passage, note, ...(replacedBy && { replacedBy }) }
  })
}

function toVersion({ best: { hit, metadata } }: Passage): Version {
  const title = titleOf(metadata)
  return {
    ...titleVersion(title),
    hit,
    title,
    link: metadata.link ?? null,
    day: new Date(hit.updatedAt).toISOString().slice(0, 10),
    notice: metadata.superseded,
    replaces: metadata.replaces,
  }
}

interface Succession {
  readonly newer: Version
  readonly isStated: boolean
}

/**
 * The document that each older one is replaced by, without circles. Pairs may contradict each other: what documents say
 * counts most, then what titles say, then the greater difference in age.
 */
function successorsOf(versions: readonly Version[]): Map<Version, Succession> {
  const pairs = versions
    .flatMap((left, at) => versions.slice(at + 1).map((right) => ({ left, right, ...compare(left, right) })))
    .filter(({ order }) => order !== 0)
    .map(({ left, right, order, by }) => ({
      ...(order > 0 ? { newer: left, older: right } : { newer: right, older: left }),
      by,
    }))
  const gain = ({ newer, older }: (typeof pairs)[number]): number => newer.hit.updatedAt - older.hit.updatedAt
  const successors = new Map<Version, Succession>()
  for (const { newer, older, by } of pairs.toSorted((a, b) => b.by - a.by || gain(b) - gain(a)))
    if (!successors.has(older) && newestOf(newer, successors) !== older)
      successors.set(older, { newer, isStated: by === evidence.statement })
  return successors
}

function newestOf(version: Version, successors: ReadonlyMap<Version, Succession>): Version {
  let newest = version
  for (let next = successors.get(newest); next; next = successors.get(newest)) newest = next.newer
  return newest
}

/** On what grounds one document counts as newer than another; a larger number takes precedence. */
const evidence = { date: 0, title: 1, statement: 2 } as const

interface Comparison {
  /** Above 0 if the left one is newer, 0 if neither replaces the other. */
  readonly order: number
  readonly by: number
}

function compare(left: Version, right: Version): Comparison {
  const isCalledSame = left.name !== '' && left.name === right.name
  const isReplacing = (newer: Version, older: Version): boolean =>
    isNamedIn(older.notice, newer, older) ||
    // One word may be the name of anything: "the handbook".
    (plainWords(older.title).length > 1 && isNamedIn(newer.replaces, older, newer)) ||
    (older.notice !== undefined && newer.notice === undefined && (isCalledSame || isCalledIn(older.notice, newer)))
  const stated = Number(isReplacing(left, right)) - Number(isReplacing(right, left))
  if (stated !== 0) return { order: stated, by: evidence.statement }
  const isOfDate = left.date === right.date && (left.date !== '' || left.version === right.version)
  if (!isCalledSame || (left.isRecord && !isOfDate) || (left.isInterface && left.version !== right.version))
    return { order: 0, by: evidence.date }
  const inTitle =
    left.status - right.status ||
    (left.date && right.date && left.date.localeCompare(right.date)) ||
    (left.version && right.version && left.version.localeCompare(right.version, 'en', { numeric: true }))
  if (inTitle) return { order: inTitle, by: evidence.title }
  const isOfTitle = left.date !== right.date || left.version !== right.version
  const order = isOfTitle || likeness(left, right) >= alike ? left.day.localeCompare(right.day) : 0
  return { order, by: evidence.date }
}

/** Whether a notice of a document names another one by its whole title. */
function isNamedIn(notice: string | undefined, named: Version, { title }: Version): boolean {
  if (notice === undefined) return false
  const words = (text: string): string => ` ${plainWords(text).join(' ')} `
  const name = words(named.title)
  return name.length > 5 && name !== words(title) && words(notice).includes(name)
}

const isCalledIn = (notice: string, { name }: Version): boolean =>
  name.length > 3 && plainWords(notice).join(' ').includes(name)

/** Share of common significant words. */
function likeness(left: Version, right: Version): number {
  const significant = ({ title, hit }: Version): Set<string> =>
    new Set(plainWords(`${title} ${hit.text}`).filter((word) => !stopWords.has(word) && !/^\p{N}+$/u.test(word)))
  const [few, many] = [significant(left), significant(right)]
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
