import { keysOf, wordPattern } from '@inlay/text'
import { createCoverage, readPassages } from './facts/coverage.ts'
import { languageOf, namePart, topicOf } from './facts/evidence.ts'
import { nearestHeading, type Candidate } from './passages.ts'
import type { QuestionKind } from './phrases.ts'
import { understand, type Question } from './question.ts'

/** Characters of a section that are quoted; its first unit whatever its length. */
const longestQuotation = 600

/** Kinds that stand for `What does it cost?`, as in `How much is it?`; beside numbers they stand for each other. */
const general: ReadonlySet<QuestionKind> = new Set(['how', 'number', 'where', 'other'])

const questions = /[^?？]+[?？]/g

/**
 * What stands under a heading that asks the same, as on a page of frequent questions; [] when no heading does. Such a
 * heading speaks of all that was asked, and of little else.
 * @param units those whose nearest heading is a question
 * @param all everything that was found
 */
export function sectionAsking(question: Question, units: readonly Candidate[], all: readonly Candidate[]): Candidate[] {
  const sections = Map.groupBy(units, (unit) => nearestHeading(unit, unit.passage))
  const topic = topicOf(question.queries[0] ?? question.text)
  if (topic.length === 0) return []
  const read = readPassages(all)
  const inHeadings = { all: new Set([...sections.keys()].flatMap(keysOf)), units: [], words: new Set<string>() }
  const { has } = createCoverage(topic, question.text, {
    passages: [...read, inHeadings],
    isEnglish: languageOf(question.text) === 'en',
  })
  // The name of the product is on most pages, and tells no question from another.
  const names = new Set((question.text.match(namePart) ?? []).flatMap(keysOf))
  const isCommon = (key: string): boolean => read.filter(({ all }) => has(all, key)).length * 2 > read.length
  const distinctive = topic.filter((key) => !names.has(key) || !isCommon(key))
  const wanted = distinctive.length > 0 ? distinctive : topic
  let best: { section: readonly Candidate[]; more: number } | undefined
  for (const [heading, section] of sections)
    for (const [asking] of heading.matchAll(questions)) {
      const keys = new Set(topicOf(asking))
      if (!wanted.every((key) => has(keys, key)) || !isSameKind(question, understand([asking]).kind)) continue
      const related = wanted.filter((key) => !keys.has(key)).length
      const words = (asking.match(wordPattern) ?? []).map((word) => keysOf(word)[0] ?? '')
      const more = words.filter((key) => keys.has(key) && !topic.includes(key)).length
      if (more - related <= Math.max(1, wanted.length) && more < (best?.more ?? Infinity)) best = { section, more }
    }
  return best ? beginningOf(best.section) : []
}

function isSameKind({ kind, subjects, text }: Question, other: QuestionKind): boolean {
  const isLabel = subjects[0] === text.replace(/(?<![?.!])[?.!]+$/, '')
  if (isLabel || kind === other) return true
  const isNumber = kind === 'number' || other === 'number'
  return general.has(kind) && general.has(other) && (!isNumber || kind === 'other' || other === 'other')
}

function beginningOf(section: readonly Candidate[]): Candidate[] {
  const units = section.filter(({ passage }) => passage === section[0]?.passage)
  let length = 0
  const end = units.findIndex(({ text }) => (length += text.length) > longestQuotation)
  return units.slice(0, end === -1 ? units.length : Math.max(1, end))
}
