import type { PlacedMark } from '@inlay/agent'
import { endsSentence, sentencesOf, toProse } from '@inlay/text'
import type { Coverage, Coverages } from '@inlay/text/comparison'
import { refersBack } from './sentence-position.ts'

/**
 * Bounds of the shares of a sentence's words. Measured on 594 questions, each with its answer as one sentence, in four
 * languages and across them, over six passages: of 5,346 right marks one is moved and none is dropped; of 2,376 wrong ones
 * within one language on a passage of the same article 73 % move to the right passage and 11 % are dropped.
 */
const minCarried = 0.5
const minLead = 0.35
/** The same where the other document has a number of the sentence that the cited one lacks, as versions of a page do. */
const minLeadByNumber = 0.1
/** One of several marks may support only a part of the sentence. */
const maxUnused = 0.15
const maxUnrelated = 0.03
/** Shorter sentences occur in any text. */
const minWords = 3
const minWordsToDrop = 4

const trailingMarks = /(?<![\s\0])[\s\0]+$/u
/** A line that states nothing, or begins with the mark of what follows. */
const unjudged = /^\s*(?:#{1,6}\s|\||(?:[-*+>]\s+|\d{1,3}[.)]\s+)?\0)/u
const unspacedEnd = /[。！？][”』」）》]*$/u
/** Text behind a mark that ends its sentence, or another mark. */
const sentenceEnd = /^(?:[[【［.!?…。！？\n]|$)/u
/** Sends the reader to a document instead of saying what it says. */
const pointer = /^(?:see|siehe|vgl|cf|voir|véase|vedi|zie|refer to)(?![\p{L}\p{M}])/iu
const openingBracket = /^[^\S\n]*[[【［]/u

/** Whether the sentence before a mark is over, so that only the text behind the mark tells which sentence it cites. */
export function isBehindSentence(line: string): boolean {
  const body = line.replace(trailingMarks, '')
  return endsSentence(body) || unspacedEnd.test(body)
}

/** The sentence that a mark cites; undefined when the mark may cite something else. */
export function sentenceOf({ line, rest }: Pick<PlacedMark, 'line' | 'rest'>): string | undefined {
  if (unjudged.test(line)) return undefined
  const isBehind = isBehindSentence(line)
  if (isBehind ? /^[^\S\n]*\p{Ll}/u.test(rest) : !sentenceEnd.test(rest)) return undefined
  const sentences = sentencesOf(toProse(line.replace(trailingMarks, '')))
  const last = sentences.at(-1)?.split('\0').at(-1)?.trim() ?? ''
  if (pointer.test(last)) return undefined
  const before = sentences.at(-2)?.replaceAll('\0', '')
  // A mark behind a question may belong to the sentence before it; a small model also repeats the question with a mark.
  if (/[?？]$/.test(last)) return before ? `${before} ${last}` : last
  // A sentence that refers back could be true of anything: it is judged with the one that names its subject.
  return refersBack.test(last) ? before && `${before} ${last}` : last
}

/**
 * The numbers to write for a mark. A number stays unless another document holds clearly more of the sentence: then the
 * number of that one is written. A number whose document holds nothing of it, in the same language, is left out.
 */
export function checkMark(mark: PlacedMark, coverageOf: (sentence: string) => Coverages<number>): readonly number[] {
  const { numbers, written, rest } = mark
  const sentence = sentenceOf(mark)
  if (!sentence) return numbers
  const { count, freshCount, sources } = coverageOf(sentence)
  const [best] = sources
  if (!best) return numbers
  const isOneOfSeveral = numbers.length > 1 || written.length > 0 || openingBracket.test(rest)
  if (freshCount < minWords && !isOneOfSeveral) {
    const moved = numbers.map((number) => checkShort(number, sources))
    if (moved[0] !== numbers[0]) return moved
  }
  if (count < minWords) return numbers
  const checked = numbers.flatMap((number) => {
    const own = sources.find(({ source }) => source === number)
    if (!own) return [number]
    const lead = best.numbers > own.numbers ? minLeadByNumber : minLead
    const isCarriedByOther = best.share >= minCarried && best.share - own.share >= lead
    if (isCarriedByOther && (!isOneOfSeveral || own.share <= maxUnused)) return [best.source]
    return own.share <= maxUnrelated && own.isSameLanguage && count >= minWordsToDrop ? [] : [number]
  })
  return [...new Set(checked)].filter((number) => !written.includes(number))
}

/**
 * The number for a sentence of hardly any new words. Words of the question count for nothing: they stand in many documents.
 * The number stays unless its document, in the same language, holds nothing else of the sentence, and another one all of
 * it. One new word stands in many documents, too: the other one also holds what was asked where this one does not.
 */
function checkShort(number: number, sources: readonly Coverage<number>[]): number {
  const own = sources.find(({ source }) => source === number)
  if (own?.freshShare !== 0 || !own.isProbablySameLanguage) return number
  const isBetter = ({ freshShare, questionWords }: Coverage<number>): boolean =>
    freshShare === 1 && questionWords.some((key) => !own.questionWords.includes(key))
  return sources.find(isBetter)?.source ?? number
}

const clauseEnd = /[,;:]\s+(?=[\p{Ll}`])/u
const conjunction = /^(?:and|but|or|so|und|aber|oder|et|ou|mais|y|o|pero)\s+/u
/** The beginning of a clause that names its subject; any other may go on about the subject before it. */
const namesSubject =
  /^(?:`|\p{Lu}|\d|(?:the|an?|each|every|all|both|some|many|most|no|you|we|der|die|das|eine?|jede[rs]?|alle|le|la|les|une?|el|los|las|una)(?![\p{L}\p{N}_-]))/u
/** A shorter clause could occur in any text. */
const minClauseWords = 8

/** Numbers of documents that say a clause of the sentence which none of the cited ones says. */
export function findByClause(
  mark: PlacedMark,
  cited: readonly number[],
  find: (sentence: string, preferred: readonly number[]) => number | undefined,
): readonly number[] {
  const sentence = openingBracket.test(mark.rest) ? undefined : sentenceOf(mark)
  if (!sentence || find(sentence, cited) !== undefined) return []
  const numbers = sentence.split(clauseEnd).flatMap((clause, index) => {
    const bare = clause.trim().replace(conjunction, '')
    if (bare.split(/\s+/).length < minClauseWords || refersBack.test(bare)) return []
    if (index > 0 && !namesSubject.test(bare)) return []
    const number = find(clause, cited)
    return number === undefined || cited.includes(number) ? [] : [number]
  })
  return [...new Set(numbers)]
}
