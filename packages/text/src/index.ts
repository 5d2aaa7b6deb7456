export { commonWordsOf, englishWords, withoutCommonWords } from './common-words.ts'
export type { CommonWords } from './common-words.ts'
export { isAlphabetic, plainLetters, unspacedRun } from './letters.ts'
export {
  editDistance,
  isLike,
  isNear,
  keysOf,
  lengthInWords,
  partsOf,
  spaceless,
  stem,
  stopWords,
  termSet,
  wordPattern,
  wordsOf,
} from './terms.ts'
export { endsSentence, sentencesOf, toProse, unitsOf } from './units.ts'
export type { Unit } from './units.ts'
export { createSupport } from './support.ts'
export type { SourceText, Support, SupportOptions } from './support.ts'
