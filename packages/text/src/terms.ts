/** English words without content, in lower case: articles, pronouns, auxiliary verbs. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are aren't as at be because been before being below between both but by
  can can't cannot could couldn't did didn't do does doesn't doing don't down during each either else ever every few for
  from further had has hasn't have haven't having he her here hers him his how however i i'd i'll i'm i've if in into is
  isn't it it's its itself just let lets like may me might more most much must my myself no nor not now of off on once only
  or other our out over own per quite rather same shall she should shouldn't so some such than that that's the their them
  then there these they they're this those through thus to too under until up upon us very via was wasn't we we'd we'll
  we're we've well were weren't what what's whatever when where whether which while who whom whose why will with within
  without won't would wouldn't yes yet you you'd you'll you're you've your yours`.split(/\s+/),
)

/** A word in any language; `C++`, `don't` and `std.fs` are single words. */
export const wordPattern: RegExp = /[\p{L}\p{M}\p{N}_]+(?:['’.+#-]*[\p{L}\p{M}\p{N}_]+)*(?:\+\+|#)?/gu
/** A letter of a script without spaces between words. */
export const spaceless: RegExp =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

let segmenter: Intl.Segmenter | undefined

/** Words of scripts without spaces. */
function segments(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' })
  return [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment)
}

/** Words in lower case with plain apostrophes and without possessive endings. */
export function wordsOf(text: string): string[] {
  const matches = text.match(wordPattern) ?? []
  return matches
    .flatMap((word) => (spaceless.test(word) ? segments(word) : [word]))
    .map((word) => word.toLowerCase().replaceAll('’', "'").replace(/'s$/, ''))
}

/** For words of at most 39 letters. */
const endings: readonly (readonly [RegExp, string])[] = [
  [/ies$/, 'y'],
  [/(ss|sh|ch|x)es$/, '$1'],
  [/([^su])s$/, '$1'],
  // oxlint-disable-next-line regexp/no-super-linear-move -- 39 letters
  [/(?<=[aeiouy].*)ingly$|(?<=[aeiouy].*)edly$/, ''],
  // oxlint-disable-next-line regexp/no-super-linear-move -- 39 letters
  [/(?<=[aeiouy].*[^e])(?:ing|ed)$/, ''],
  [/(?<=.{3})ly$/, ''],
  [/(?<=.{3}[st])ion$/, ''],
  [/(?<=.{4})ment$/, ''],
  [/(?<=.{4})(?:ence|ance|ent|ant)$/, ''],
  [/(?<=.{3})(?:er|or)$/, ''],
  [/([bdfgmnprt])\1$/, '$1'],
  [/(?<=.{2})e$/, ''],
  [/(?<=.{2})y$/, 'i'],
]

/** Cache of stems, since words repeat. */
const stems = new Map<string, string>()
const maxStems = 20_000

/** Stem of a word in lower case: the same for `borrowing`, `borrowed` and `borrows`. Only for comparisons. */
export function stem(word: string): string {
  if (word.length < 4 || word.length >= 40 || !/^[a-z]+$/.test(word)) return word
  let short = stems.get(word)
  if (short === undefined) {
    short = word
    for (const [pattern, replacement] of endings) if (short.length > 3) short = short.replace(pattern, replacement)
    if (stems.size >= maxStems) stems.clear()
    stems.set(word, short)
  }
  return short
}

/** Parts of a name such as `push_str`, `Get-ChildItem`, `camelCase`, `std.fs`; [] for a plain word. */
export function partsOf(word: string): string[] {
  if (/^[A-Z]?[a-z]*$/.test(word)) return []
  const parts = word.split(/[_.'+#-]+|(?<=[a-z])(?=[A-Z])/).filter((part) => part.length > 1)
  return parts.length > 1 ? parts : []
}

const marks = /\p{M}/gu

/**
 * Comparison key of a word in any language: English words lose their ending; then words longer than six letters are
 * cut to six, which distinguishes words about as well as stems would.
 */
function keyOf(text: string): string {
  const short = stem(text)
  if (text.length < 4) return text
  const plain = short.normalize('NFKD').replace(marks, '')
  return plain.length > 6 && /^\p{L}+$/u.test(plain) ? plain.slice(0, 6) : plain
}

/** Pairs of adjacent characters, for scripts without spaces. */
function* pairsOf(run: string): Generator<string> {
  for (const piece of run.split(/([\p{N}a-z]+)/u)) {
    if (!spaceless.test(piece)) {
      if (piece !== '') yield piece
      continue
    }
    const characters = [...piece]
    if (characters.length === 1) yield piece
    for (let at = 1; at < characters.length; at++) yield `${characters[at - 1]}${characters[at]}`
  }
}

/**
 * Keys of words, which repeat. Only of words with fewer than 13 characters: V8 keeps a longer match as a slice of its text,
 * so that a word in this map would keep its whole document in memory.
 */
const keys = new Map<string, readonly string[]>()

function keysOfWord(word: string): readonly string[] {
  const known = keys.get(word)
  if (known) return known
  const lower = word.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')
  const own = spaceless.test(lower)
    ? [...pairsOf(lower)]
    : [keyOf(lower), ...partsOf(word).map((part) => keyOf(part.toLowerCase()))]
  if (word.length >= 13) return own
  if (keys.size >= maxStems) keys.clear()
  keys.set(word, own)
  return own
}

/** Keys of all words of a text in order; names with several parts also give the keys of their parts. */
export function keysOf(text: string): string[] {
  return (text.match(wordPattern) ?? []).flatMap(keysOfWord)
}

/** Whether a key of the passages is similar enough to a key of the question that they do not contain. */
export function isLike(key: string, other: string): boolean {
  if (key.length > 3 && other.includes('-') && other.replaceAll('-', '') === key) return true
  if (key.length < 5) return false
  return isNear(key, other) || (other.length > 4 && (other.startsWith(key) || key.startsWith(other)))
}

/** Length in words; a character of a script without spaces counts two fifths of a word. */
export function lengthInWords(text: string): number {
  let count = 0
  for (const piece of text.split(/\s+/)) {
    const characters = [...piece].filter((character) => spaceless.test(character)).length
    count += characters > 0 ? Math.max(1, characters * 0.4) : piece === '' ? 0 : 1
  }
  return count
}

/** A letter added, omitted or replaced, or two adjacent ones swapped, counts one; `most` + 1 if it is larger. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1)
      row.push(cost)
    }
    if (Math.min(...row) > most) return most + 1
    beforeLast = last
    last = row
  }
  return last[b.length]!
}

/** Whether two words differ by so few letters that one may be a misspelling of the other. */
export function isNear(left: string, right: string): boolean {
  const most = left.length > 7 ? 2 : left.length > 4 ? 1 : 0
  return most > 0 && left[0] === right[0] && editDistance(left, right, most) <= most
}
