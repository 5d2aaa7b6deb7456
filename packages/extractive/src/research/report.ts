import { understand, type Question } from '../question.ts'
import { relevantParts, type Candidate } from '../passages.ts'
import { askingWords, isNarration, isPointing, isReferral } from '../phrases.ts'
import { pickBroadly } from '../pick.ts'
import type { Reading } from '../prompt.ts'
import { aspectOf, topicPhrase } from './plan.ts'
import { scorePassages, type Scored } from '../score.ts'
import { select, write } from '../select.ts'
import { stopWords, stem, termSet, wordsOf } from '@inlay/text'

/** What an agent reports that found nothing. */
const nothingFound = 'The documents do not tell.'

// Of its words, how many a unit with its headings has to share with the topic to be about it; a topic that could not be
// told from the rest of the question is less sure.
const topicShare = { named: 0.6, guessed: 0.5 }

/** Leaves out what is about something else, and prefers what stands in a document about the topic. */
function aboutTopic(scored: Scored, task: string): Scored {
  const clue = aspectOf(task)?.clue
  const named = topicPhrase(task)
  const least = named === '' ? topicShare.guessed : topicShare.named
  const topic = new Set(
    wordsOf(named || task)
      .filter((word) => !stopWords.has(word) && !askingWords.has(word))
      .map(stem),
  )
  if (topic.size === 0) return scored
  const shareOf = (isThere: (term: string) => boolean): number => [...topic].filter(isThere).length / topic.size
  const termsOf = createTermCache()
  const candidates = scored.candidates.filter((unit) => {
    const { text, lead = '', kind, terms, before, passage } = unit
    if (isNarration(text) || isReferral(text) || isPointing(text)) return false
    if (clue && !clue.test(`${text} ${lead}`)) return false
    if (kind === 'row' && wordsOf(text).length < 5) return false
    const title = termsOf(passage.title)
    const place = termsOf(`${passage.section ?? ''} ${unit.headings.join(' ')} ${lead}`)
    const isHere = (term: string): boolean => title.has(term) || place.has(term) || terms.has(term)
    if (shareOf(isHere) < least) return false
    // Under a fitting heading anything may stand: the document is about the topic, or a word of it is in the text, in what
    // leads to it, or in the sentence before.
    const isSaid = (term: string): boolean =>
      terms.has(term) || termsOf(lead).has(term) || before?.terms.has(term) === true
    const inTitle = shareOf((term) => title.has(term))
    if (inTitle < 1 && shareOf(isSaid) === 0) return false
    unit.score *= 0.85 + 0.3 * inTitle
    return true
  })
  return { ...scored, candidates }
}

/** Reads the terms of texts that come again and again, such as headings. */
function createTermCache(): (text: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>()
  return (text) => {
    const terms = known.get(text) ?? termSet(text)
    known.set(text, terms)
    return terms
  }
}

// Lower than for an answer: a report may tell what only bears on its task.
const leastCoverage = 0.3

const isSpokenOf = ({ candidates }: Scored): boolean => candidates.some(({ coverage }) => coverage >= leastCoverage)

// How much the words count by which an aspect is asked for: sentences seldom use them.
const aspectWeight = 0.3

function withLightAspect(question: Question, task: string): Question {
  const topic = aspectOf(task)?.topic
  if (topic === undefined) return question
  const own = understand([topic]).terms
  const weighed = [...question.terms].map(
    ([term, weight]) => [term, own.has(term) ? weight : weight * aspectWeight] as const,
  )
  return { ...question, terms: new Map(weighed) }
}

/** Reports all that the results tell about a task, in their own words, each with its citation; the answer comes first. */
export function reportFindings({ questions, context, passages }: Reading): string {
  const [task = ''] = questions.slice(-1)
  const question = withLightAspect(understand([task]), task)
  const isHowTo = question.kind === 'how' && question.wantsCode
  const all = scorePassages({ ...question, wantsCode: isHowTo }, relevantParts(task, [...context, ...passages]))
  const scored = question.kind === 'difference' ? all : aboutTopic(all, task)
  if (!isSpokenOf(scored)) return nothingFound
  const brief = select(scored, () => false)
  const taken = new Set(brief.flatMap(({ units }) => units))
  const rest = select(scored, (unit) => taken.has(unit), others(taken))
  const written = [write(brief), write(rest)].filter((part) => part !== '').join('\n\n')
  return written === '' ? nothingFound : written
}

/** Picks broadly what is not like anything taken. */
const others =
  (taken: ReadonlySet<Candidate>) =>
  (_question: Question, pool: readonly Candidate[]): readonly Candidate[] =>
    pickBroadly(pool, [...taken])
