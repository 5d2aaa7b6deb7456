export { commonWordsOf, englishWords, withoutCommonWords } from './common-words.ts'
export type { CommonWords } from './common-words.ts'
export { isAlphabetic, plainLetters, unspacedRun } from './letters.ts'
