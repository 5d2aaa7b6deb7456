export { commonWordsOf, englishWords, withoutCommonWords } from './common-words.ts'
export type { CommonWords } from './common-words.ts'
export { isAlphabetic, plainLetters, unspacedRun } from './letters.ts'
export {
  isLike,
  isNear,
  isSpaceless,
  isStopWord,
  keysOf,
  lengthInWords,
  partsOf,
  stem,
  termSet,
  withoutWords,
  wordsIn,
  wordsOf,
} from './terms.ts'
export { sentencesOf, toProse, unitsOf } from './units.ts'
export type { Unit } from './units.ts'
