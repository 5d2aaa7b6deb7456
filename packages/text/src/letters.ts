/** Scripts without spaces between words, and Hangul, whose words have endings: matched by pairs of characters. */
export const unspacedRun: RegExp =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu

/** Whether an index treats the character as part of a word; it splits words at tone marks and similar signs. */
export const isAlphabetic: RegExp = /\p{Alphabetic}/u

// oxlint-disable-next-line no-control-regex
const ascii = /^[\u0000-\u007f]*$/

export const isAscii = (text: string): boolean => ascii.test(text)

/** Everything beyond ASCII but Latin-1 signs, General Punctuation and blocks of symbols that hold no letter or digit. */
const beyondAsciiWords =
  /[\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00bc-\u00be\u00c0-\u1fff\u2070-\u218f\u2460-\u24ff\u2776-\uffff]/

/** Whether all letters and digits of a text are ASCII; other signs may occur: `“Quoted” – text…`. */
export const hasAsciiWords = (text: string): boolean => !beyondAsciiWords.test(text)

const hasPoints = /[\u0590-\u05ff\u0600-\u06ff]/
/** Vowel points and cantillation of Hebrew; vowel points, Koranic marks and stretching of Arabic. */
const points =
  // oxlint-disable-next-line no-misleading-character-class -- matches the marks themselves
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g
/** Spelling variants of Arabic letters, including those of Persian keyboards. */
const variants: Readonly<Record<string, string>> = { أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ی: 'ي', ة: 'ه', ک: 'ك' }
const variant = /[أإآٱىیةک]/g

/**
 * Normalizes composed and full-width forms, and removes marks that Arabic and Hebrew usually omit: an index splits
 * words at combining marks, and people search without them.
 */
export function plainLetters(text: string): string {
  if (isAscii(text)) return text
  const plain = text.normalize('NFKC')
  if (!hasPoints.test(plain)) return plain
  return plain.replace(points, '').replace(variant, (letter) => variants[letter]!)
}
