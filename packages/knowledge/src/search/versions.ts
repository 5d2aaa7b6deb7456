import { titleOf, type ReadHit } from '../chunking/chunk-metadata.ts'
import type { DocumentReplacement } from '../contracts/search.ts'
import { titleVersion, type TitleVersion } from './title-version.ts'

type Passage = { readonly best: ReadHit }

export interface VersionNote {
  /** For the reader: the document is superseded, an older version, or the newest of several. */
  readonly note?: string
  readonly replacedBy?: DocumentReplacement
}

/** Documents compared with each other: only the best ones, since others are not shown. */
const maxCompared = 16

interface Version extends TitleVersion, ReadHit {
  readonly title: string
  readonly words: readonly string[]
  readonly day: string
}

/**
 * Puts the newest of several versions before the others, with notes for the reader. Versions are documents whose titles
 * differ only in date, version or status, or of which one says that the other supersedes it. A version whose number or
 * date the query names (`policy 2022`) keeps its place.
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
  const queryWords = new Set(wordsOf(query))
  for (const older of successors.keys()) {
    const newer = newestOf(older, successors)
    const ofFamily = [...successors.keys()].filter((other) => newestOf(other, successors) === newer)
    const date = newer.day > older.day ? `dates from ${newer.day}` : 'replaces it'
    notes.set(older.hit.generation, {
      note: `An older version: "${newer.title}" ${date}.`,
      replacedBy: { documentId: newer.hit.documentId, title: newer.title, link: newer.metadata.link ?? null },
    })
    notes.set(newer.hit.generation, {
      note: isNamedBy(older, newer)
        ? `Replaces "${older.title}".`
        : `The newest of ${ofFamily.length + 1} similar documents.`,
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
  return { ...best, ...titleVersion(title), title, words: wordsOf(title), day }
}

type Successors = ReadonlyMap<Version, Version>

/** The document that each older one is replaced by, without circles: what documents say counts more than titles. */
function successorsOf(versions: readonly Version[]): Successors {
  const successors = new Map<Version, Version>()
  const add = (older: Version, newer: Version): void => {
    if (!successors.has(older) && newestOf(newer, successors) !== older) successors.set(older, newer)
  }
  for (const older of versions)
    for (const newer of versions) if (isNamedBy(older, newer) && !isNamedBy(newer, older)) add(older, newer)
  for (const family of Map.groupBy(versions, ({ family: name }) => name).values()) {
    const newest = family.reduce((best, other) => (compare(other, best) > 0 ? other : best))
    if (newest.name !== '') for (const older of family) if (compare(newest, older) > 0) add(older, newest)
  }
  return successors
}

function newestOf(version: Version, successors: Successors): Version {
  const newer = successors.get(version)
  return newer ? newestOf(newer, successors) : version
}

/** Whether the notice that a document is superseded names the other one by its title, with or without its date. */
function isNamedBy({ metadata, name: own }: Version, { name }: Version): boolean {
  const said = ` ${wordsOf(metadata.superseded ?? '').join(' ')} `
  return name.length > 3 && name !== own && said.includes(` ${name} `)
}

/** Above 0 if the left one of two documents of a family is the newer one, 0 if neither is. */
function compare(left: Version, right: Version): number {
  const status = (version: Version): number => (version.metadata.superseded === undefined ? version.status : -1)
  const byTime = timeOf(left).localeCompare(timeOf(right))
  const byTitle =
    status(left) - status(right) ||
    (left.date && right.date && left.date !== right.date && byTime) ||
    (left.version && right.version && left.version.localeCompare(right.version, 'en', { numeric: true }))
  // Two documents may well have one title: `Overview`.
  const isSameTitle = left.date === right.date && left.version === right.version
  return byTitle || (isSameTitle ? 0 : byTime)
}

/** The day of a version or, if that is outside of the time that its title names, the beginning or end of this time. */
function timeOf({ date, day }: Version): string {
  if (day.startsWith(date)) return day
  return day < date ? date : `${date}-99`
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

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
