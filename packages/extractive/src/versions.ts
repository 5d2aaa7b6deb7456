import { keysOf } from '@inlay/text'
import type { SourcePassage } from './page.ts'
import type { Question } from './question.ts'

/** What tells versions of one document apart in its title: a year, a date, `v2`, `version 2.1`, `rev. 3`. */
const versionMark =
  /\b(?:v|version|ver|rev|revision|fassung|stand)[.\s]*(\d+(?:\.\d+)*)\b|\b((?:19|20)\d\d(?:-\d\d){0,2})\b/giu

const asksForOld =
  /(?<!\bhow |\bwie )\b(?:old|older|previous|former|outdated|superseded|alte[nrs]?|frühere[nrs]?|vorherige[nrs]?)\b/iu

/** Minimum share of common words of two versions. */
const alike = 0.6

function versionOf(source: SourcePassage) {
  const { title, section = '', content, updatedAt = '' } = source
  const plain = (text: string): string =>
    text
      .toLowerCase()
      .replace(versionMark, ' ')
      .replace(/[\p{P}\p{S}\s]+/gu, ' ')
      .trim()
  const marks = [...title.matchAll(versionMark)].map(([, version, year]) => version ?? year ?? '').join(' ')
  return {
    source,
    marks,
    title: plain(title),
    section: plain(section),
    updatedAt,
    keys: new Set(keysOf(`${title} ${content}`)),
  }
}

type Version = ReturnType<typeof versionOf>

/** Whether one document is newer than another: by the version in their titles, otherwise by their dates. */
function isNewer(left: Version, right: Version): boolean {
  const order =
    left.marks === '' || right.marks === '' ? 0 : left.marks.localeCompare(right.marks, 'en', { numeric: true })
  return order === 0 ? right.updatedAt !== '' && left.updatedAt > right.updatedAt : order > 0
}

/**
 * Drops passages of which the others contain a newer version: the same title or heading except for a version or a year,
 * and mostly the same words. A question for a year or for the old version keeps that version of a title instead.
 * A passage that is the only one with a number or name of the question is kept.
 */
export function chooseVersions(
  sources: readonly SourcePassage[],
  question: Question,
): { question: Question; current: readonly SourcePassage[] } {
  const { names, text } = question
  const years = names.filter((key) => /^(?:19|20)\d\d$/.test(key))
  const isOfYear = ({ marks, updatedAt }: Version): boolean =>
    years.some((year) => (marks === '' ? updatedAt.startsWith(year) : ` ${marks}`.includes(` ${year}`)))
  let isYearChosen = false
  const isReplaced = (own: Version, other: Version): boolean => {
    if (own.source.number !== undefined && own.source.number === other.source.number) return false
    const isSameTitle = own.title !== '' && own.title === other.title
    if (isSameTitle && isOfYear(other) && !isOfYear(own)) return (isYearChosen = true)
    if (isSameTitle && years.length === 0 && asksForOld.test(text)) return isNewer(own, other)
    if (!isNewer(other, own) || isOfYear(own)) return false
    if (!isSameTitle && (own.section === '' || own.section !== other.section)) return false
    if (names.some((key) => own.keys.has(key) && !other.keys.has(key))) return false
    const shared = [...own.keys].filter((key) => other.keys.has(key)).length
    return own.keys.size > 3 && shared >= alike * Math.min(own.keys.size, other.keys.size)
  }
  const versions = sources.map(versionOf)
  const current = sources.filter((_, at) => !versions.some((other) => isReplaced(versions[at]!, other)))
  // The year has chosen the version; its sentences need not repeat it.
  const isTopic = (key: string): boolean => !isYearChosen || !years.includes(key)
  return { question: { ...question, topic: question.topic.filter(isTopic), names: names.filter(isTopic) }, current }
}
