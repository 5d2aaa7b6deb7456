/** Scripts written without spaces between words, and Hangul, whose words carry endings: found by pairs of characters. */
export const unspacedRun: RegExp =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu

/** Whether an index takes the character into words; tone marks and the like split them there. */
export const isAlphabetic: RegExp = /\p{Alphabetic}/u

// oxlint-disable-next-line no-control-regex
const isAscii = /^[\u0000-\u007f]*$/
const hasPoints = /[\u0590-\u05ff\u0600-\u06ff]/
/** Vowel points and cantillation of Hebrew; vowel points, Koranic marks and stretching of Arabic. */
const points =
  // oxlint-disable-next-line no-misleading-character-class -- the marks alone are meant
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g
/** Letters that are written one way or the other; those of Persian keyboards. */
const variants: Readonly<Record<string, string>> = { أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ی: 'ي', ة: 'ه', ک: 'ك' }
const variant = /[أإآٱىیةک]/g

/**
 * Composed and full-width forms become plain ones, and what Arabic and Hebrew mostly leave out is left out: an index
 * splits words at combining marks, and people search without them.
 */
export function plainLetters(text: string): string {
  if (isAscii.test(text)) return text
  const plain = text.normalize('NFKC')
  if (!hasPoints.test(plain)) return plain
  return plain.replace(points, '').replace(variant, (letter) => variants[letter]!)
}
