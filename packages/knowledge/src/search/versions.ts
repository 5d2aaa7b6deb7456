import { hasAsciiWords, stopWords } from '@inlay/text'
import { titleOf, type ReadHit } from '../chunking/chunk-metadata.ts'
import type { DocumentReplacement } from '../contracts/search.ts'

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
/** Minimum share of common words for two passages to be versions of one text. */
const nearIdentical = 0.7
/** Same, for documents whose titles differ only in numbers. */
const alikeByName = 0.3
/** Same, for one to replace the other: what has less in common may answer other questions. */
const alikeToReplaced = 0.6
/** Same, for two documents of which one says that it is superseded. */
const alikeToSuperseded = 0.45

interface Version {
  readonly generation: string
  readonly reference: DocumentReplacement
  readonly title: string
  /** The title without the versions and words, such as "draft", in which versions differ. */
  readonly name: string
  /** The name without numbers. */
  readonly bareName: string
  /** The version in the title, such as `2022` or `1.10`; "" for none. */
  readonly version: string
  readonly words: ReadonlySet<string>
  /** The words, without frequent words and numbers. */
  readonly significant: ReadonlySet<string>
  readonly updatedAt: number
  /** The notice that the document is superseded; see `supersededNotice`. */
  readonly notice: string | undefined
  /** Names what the document replaces; see `replacesNotice`. */
  readonly replaces: string | undefined
}

/**
 * Puts the newest of near-identical documents first, and documents that say they are superseded behind their
 * replacements, with a note for the reader. A version that contains a word of the query that the other lacks (`policy
 * 2022`) keeps its place.
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
  const { successions, isNewer } = orderedSuccessions(versions)
  const queryWords = new Set(plainWords(query))
  const notes = new Map<string, string>()
  const successors = new Map<Version, Version>()
  const replacements = new Map<string, Version>()
  /** For each document, those that have to come after it. */
  const behind = new Map<string, Set<string>>()
  const newest = new Map<string, number>()
  for (const { newer, older } of successions) {
    const keepNewest = <Key>(known: Map<Key, Version>, key: Key): void => {
      const other = known.get(key)
      if (!other || isNewer(newer, other)) known.set(key, newer)
    }
    const isStated = older.notice !== undefined || isReplacedBy(older, newer)
    const isReplaced = isStated || likeness(newer, older) >= alikeToReplaced
    if (isReplaced) keepNewest(replacements, older.generation)
    keepNewest(successors, older)
    if (isStated) notes.set(newer.generation, `Replaces "${older.title}".`)
    else newest.set(newer.generation, (newest.get(newer.generation) ?? 0) + 1)
    const isMeant = (word: string): boolean => older.words.has(word) && !newer.words.has(word)
    // A superseded document stays first only if the query contains its number: its replacement may have another
    // title.
    if ([...queryWords].some((word) => isMeant(word) && (!isStated || /\p{N}/u.test(word)))) continue
    behind.set(older.generation, (behind.get(older.generation) ?? new Set()).add(newer.generation))
  }
  for (const [older, { title, updatedAt }] of successors) {
    const dates = updatedAt > older.updatedAt ? `dates from ${dayOf(updatedAt)}` : 'replaces it'
    notes.set(older.generation, `An older version: "${title}" ${dates}.`)
  }
  for (const { generation, notice } of versions)
    if (notice !== undefined) notes.set(generation, `Superseded according to the document: "${notice}"`)
  for (const [generation, count] of newest)
    if (!notes.has(generation)) notes.set(generation, `The newest of ${count + 1} similar documents.`)
  if (notes.size === 0) return passages
  return moved(passages, behind).map((passage) => {
    const { generation } = passage.best.hit
    const [note, replacedBy] = [notes.get(generation), replacements.get(generation)?.reference]
    return note === undefined ? passage : { ...passage, note, ...(replacedBy && { replacedBy }) }
  })
}

/** Grounds on which one document counts as newer than another; a larger number takes precedence. */
const evidences = { date: 0, titleVersion: 1, statement: 2 } as const

interface Succession {
  readonly newer: Version
  readonly older: Version
  readonly evidence: number
}

/**
 * Successions without circles. Pairs may contradict each other, since titles decide about some and dates about others:
 * the best evidence goes first, and what contradicts it is dropped. At equal evidence the greater difference in age
 * goes first, so that the outcome does not depend on the query.
 */
function orderedSuccessions(versions: readonly Version[]) {
  const pairs = versions.flatMap((left, at) =>
    versions.slice(at + 1).flatMap((right) => successionOf(left, right) ?? []),
  )
  const gain = ({ newer, older }: Succession): number => newer.updatedAt - older.updatedAt
  const newerThan = new Map(versions.map((version) => [version, new Set<Version>()]))
  const isNewer = (newer: Version, older: Version): boolean => newerThan.get(older)!.has(newer)
  const successions = pairs
    .toSorted((left, right) => right.evidence - left.evidence || gain(right) - gain(left))
    .filter(({ newer, older }) => {
      if (isNewer(older, newer)) return false
      for (const [version, above] of newerThan)
        if (version === older || above.has(older)) for (const each of [newer, ...newerThan.get(newer)!]) above.add(each)
      return true
    })
  return { successions, isNewer }
}

function toVersion({ best: { hit, metadata } }: Passage): Version {
  const title = titleOf(metadata)
  const versions = Array.from(title.matchAll(titleVersion), ([, number, year]) => number ?? year ?? '')
  const plain = title.replaceAll(titleVersion, ' ').replaceAll(/[([][^)\]]*[)\]]/g, ' ')
  const name = plainWords(plain).filter((word) => !versionWords.has(word))
  const text = `${title} ${hit.text}`
  let wordSet: ReadonlySet<string> | undefined
  return {
    generation: hit.generation,
    reference: { documentId: hit.documentId, title, link: metadata.link ?? null },
    title,
    name: name.join(' '),
    bareName: name.join(' ').replaceAll(/\p{N}+/gu, ''),
    version: versions.join(' '),
    // Made when first read, since most documents are unrelated to the others.
    get words() {
      return (wordSet ??= new Set(plainWords(text)))
    },
    significant: significantOf(text),
    updatedAt: hit.updatedAt,
    notice: metadata.superseded,
    replaces: metadata.replaces,
  }
}

/** Significant words by text, most recently used last: searches one after the other often find the same documents. */
const significant = new Map<string, ReadonlySet<string>>()
/** About 4 MB. */
const maxKept = 256

function significantOf(text: string): ReadonlySet<string> {
  const words = significant.get(text) ?? new Set(plainWords(text).filter(isSignificant))
  significant.delete(text)
  significant.set(text, words)
  if (significant.size > maxKept) significant.delete(significant.keys().next().value!)
  return words
}

/** A year, a date or a number that is called a version. Other numbers tell documents apart: `Form 3`, `Form 4`. */
const titleVersion =
  /\b(?:v|version|rev|revision|fassung|stand)[.\s]*(\d+(?:\.\d+)*)\b|\b((?:19|20)\d\d(?:-\d\d){0,2})\b/giu
const versionWords = new Set('v version rev revision draft final old new copy superseded archived obsolete'.split(' '))

/** Tells which of two documents replaces the other; undefined for unrelated documents. */
function successionOf(left: Version, right: Version): Succession | undefined {
  const isCalledSame = left.name !== '' && left.name === right.name
  const isReplacing = (newer: Version, older: Version): boolean =>
    isNamedIn(older.notice, newer, older) || isReplacedBy(older, newer)
  const [isLeftNamed, isRightNamed] = [isReplacing(left, right), isReplacing(right, left)]
  if (isLeftNamed !== isRightNamed) return ordered(left, right, isLeftNamed ? 1 : -1, 'statement')
  if ((left.notice === undefined) !== (right.notice === undefined)) {
    const [current, old] = left.notice === undefined ? [left, right] : [right, left]
    const isNamed = current.name.length > 3 && plainWords(old.notice!).join(' ').includes(current.name)
    const isRelated = isCalledSame || isNamed || likeness(left, right) >= alikeToSuperseded
    return isRelated ? ordered(current, old, 1, 'statement') : undefined
  }
  if (!isCalledSame && left.bareName === right.bareName) return undefined
  const least = isCalledSame ? alikeByName : nearIdentical
  if (likeness(left, right, least) < least) return undefined
  const areNumbered = isCalledSame && left.version !== '' && right.version !== ''
  const order = areNumbered ? left.version.localeCompare(right.version, 'en', { numeric: true }) : 0
  if (order !== 0) return ordered(left, right, order, 'titleVersion')
  return ordered(left, right, dayOf(left.updatedAt).localeCompare(dayOf(right.updatedAt)), 'date')
}

/** @param order above 0 if the left one is newer */
function ordered(left: Version, right: Version, order: number, by: keyof typeof evidences): Succession | undefined {
  if (order === 0) return undefined
  const [newer, older] = order > 0 ? [left, right] : [right, left]
  return { newer, older, evidence: evidences[by] }
}

/** Whether a notice of a document names another one by its whole title. */
function isNamedIn(notice: string | undefined, named: Version, { title }: Version): boolean {
  if (notice === undefined) return false
  const words = (text: string): string => ` ${plainWords(text).join(' ')} `
  const name = words(named.title)
  return name.length > 5 && name !== words(title) && words(notice).includes(name)
}

/** Whether a document says that it replaces another one. One word may be the name of anything: "the handbook". */
function isReplacedBy(older: Version, newer: Version): boolean {
  return newer.replaces !== undefined && plainWords(older.title).length > 1 && isNamedIn(newer.replaces, older, newer)
}

/**
 * Share of common significant words. Stops as soon as it is below `least`: a search compares every two of its documents,
 * and most of them are unrelated.
 */
function likeness({ significant: left }: Version, { significant: right }: Version, least = 0): number {
  const all = left.size + right.size
  if (all === 0) return 0
  const [few, many] = left.size < right.size ? [left, right] : [right, left]
  let common = few.size
  for (const word of few) {
    if (common / (all - common) < least) break
    if (!many.has(word)) common--
  }
  return common / (all - common)
}

/** The letters first: a regular expression takes longer than all the rest. */
const isSignificant = (word: string): boolean =>
  !stopWords.has(word) && ((word >= 'a' && word < '{') || !/^\p{N}+$/u.test(word))

/** Moves documents behind the best passage of the document they have to follow, which takes their place. */
function moved<Item extends Passage>(
  passages: readonly Item[],
  behind: ReadonlyMap<string, ReadonlySet<string>>,
): Item[] {
  const order = [...passages]
  for (let at = order.length - 1; at >= 0; at--) {
    const passage = order[at]!
    const replacing = behind.get(passage.best.hit.generation)
    if (!replacing) continue
    const place = order.findIndex(
      ({ best }, index) =>
        index > at &&
        replacing.has(best.hit.generation) &&
        !order.slice(0, at).some((before) => before.best.hit.generation === best.hit.generation),
    )
    if (place === -1) continue
    const [newer] = order.splice(place, 1)
    order.splice(at, 0, newer!)
  }
  // Places keep their scores, so that scores still descend.
  return order.map((passage, at) => {
    const { score } = passages[at]!.best.hit
    return score === passage.best.hit.score
      ? passage
      : { ...passage, best: { ...passage.best, hit: { ...passage.best.hit, score } } }
  })
}

/** Five times as fast if the words are ASCII. */
const plainWords = (text: string): string[] =>
  text.toLowerCase().match(hasAsciiWords(text) ? /[a-z0-9]+/g : /[\p{L}\p{M}\p{N}]+/gu) ?? []

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)
