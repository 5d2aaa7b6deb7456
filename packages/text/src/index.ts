export { createCodeTracker } from './code-tracker.ts'
export { commonWordsOf, englishWords, isCommonWord, withoutCommonWords } from './common-words.ts'
export type { CommonWords } from './common-words.ts'
export { nameWords, queryNameWords, titleWords } from './names.ts'
export { GrowingText } from './growing-text.ts'
export { hasAsciiWords, isAlphabetic, isAscii, plainLetters, unspacedRun } from './letters.ts'
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
  wordPattern,
  wordsOf,
} from './terms.ts'
export { endsSentence, sentencesOf, toProse, unitsOf } from './units.ts'
export type { Unit } from './units.ts'
export { smallTalkOf } from './small-talk.ts'
export type { SmallTalk } from './small-talk.ts'
