/** English words that say nothing about the subject of a conversation. */
const fillers: ReadonlySet<string> = new Set(
  'a an and are as at be but by can did do does for from how i if in into is it its me my no not of on or our so that the their them there these they this to was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** A letter of the scripts whose words the search of conversations finds inside of a longer run of letters. */
export const searchedInside: RegExp =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** The words of a query that conversations are searched for: without fillers, unless there are no other words. */
export function searchedWords(words: readonly string[]): readonly string[] {
  const meaningful = words.filter((word) => !fillers.has(word))
  return meaningful.length > 0 ? meaningful : words
}
