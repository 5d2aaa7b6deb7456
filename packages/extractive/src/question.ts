import { commonWordsOf, isNear, keysOf, spaceless, stopWords, wordPattern, wordsOf } from '@inlay/text'
import { answerKindOf, type AnswerKind } from './answer-kind.ts'

/** The form an answer should have. */
export type AnswerForm = 'fact' | 'definition' | 'list' | 'steps' | 'overview'

/** A question, understood as far as it goes. */
export interface Question {
  /** As it was asked, without greetings and politeness. */
  readonly text: string
  readonly form: AnswerForm
  /** Whether a number or a name is asked for. */
  readonly kind: AnswerKind
  /** Keys of the words that carry the topic, in order, each once. */
  readonly topic: readonly string[]
  /** Keys of the topic that are names, numbers or codes: an answer without them is about something else. */
  readonly names: readonly string[]
  /** Search queries, the most specific first; at least one. */
  readonly queries: readonly string[]
}

const politeness =
  /^(?:(?:hi|hello|hey|ok|okay|well|so|thanks|thank you|please|sorry|excuse me)[\s,.!:-]+)+|\b(?:please|kindly)\b[\s,]*|^(?:(?:can|could|would|will) you (?:please )?(?:tell|explain|show|help|describe|give|remind)(?: me| us)?(?: understand)?(?: about)?|(?:do you know|i (?:want|need|would like|['’]d like) to (?:know|understand)|i was wondering|tell me(?! about| more)|explain(?: to me)?|show me(?! an?\b)|remind me))\s+(?=\S)/gi

/** English words that ask for an answer but seldom stand in one. */
const askingWords: ReadonlySet<string> = new Set(
  `compare comparison define definition describe detail details difference differences different enumerate exactly
  explain explanation find give happen happens help kind kinds know list many mean meaning means much name need often overview
  possible purpose question say sort sorts summarise summarize summary tell thing things type types use used uses using
  want way ways work works command commands example examples`.split(/\s+/),
)

const forms: readonly (readonly [RegExp, AnswerForm])[] = [
  [
    /^(?:summari[sz]e|(?:give (?:me |us )?)?an? (?:overview|summary)|give (?:me |us )?an? (?:overview|summary)|overview|summary|tl;?dr|tell me (?:more )?about|what (?:is|does) .{1,80} (?:say|cover|contain|about))\b|^(?:zusammenfassung|fasse|resumen?|résum[ée]r?|résumez|riassumi)(?!\p{L})/iu,
    'overview',
  ],
  [
    /^(?:list|enumerate|name (?:all|the)|show (?:me )?(?:all|the list))\b|\b(?:what|which) (?:kinds?|types?|sorts?|forms?|categories|options|steps|rules|ways) (?:of|are|do|to|exist)\b|^(?:what|which) (?:are|were) (?:all |the )|^which \p{L}+s (?:are|exist|can|do)\b/iu,
    'list',
  ],
  [
    /^(?:how|what(?:['’]s| is) the (?:best |right |easiest |proper )?way) (?:do|does|can|could|should|would|must|to)\b|\bsteps? (?:to|for)\b|^(?:which|what) command\b/i,
    'steps',
  ],
  [
    /^(?:what|who)(?:['’]s| (?:is|are|was|were)) (?:an? |the )?(?:\S+\s*){1,4}$|^(?:define|meaning of)\b/i,
    'definition',
  ],
]

/** Where both sides of a comparison stand in its words. */
const comparison =
  /\b(?:between|compare)\s+(?:the |an? )?(.{1,80}?)\s+(?:and|with|to|vs\.?|versus|or)\s+(?:the |an? )?(.{1,80}?)\s*[?.!]*$|^(?:the |an? )?(.{1,80}?)\s+(?:vs\.?|versus)\s+(?:the |an? )?(.{1,80}?)\s*[?.!]*$/i

const pointsBack =
  /\b(?:which one|it|its|they|them|their|theirs|these|those|ones|he|she|his|her|him|former|latter|the (?:same|other|first|second|last)(?: one| thing)?)\b|\bth(?:is|at)\b(?=\s*(?:is|was|does|do|work|mean|happen|one|instead|too|thing|[?.!,]|$))|\b(?:do|does|did|about|with|for|of|use|like|by|in) (?:this|that)\b/i
const carriesOn =
  /^(?:and|but|or|also|then|so|what about|how about|what if|why|how so|how come|since when|when|where|for what|in which)\b/i
const opening = /^(?:and|but|or|so|then|also|what about|how about)\s+(?=\S)/i
const asksForMore =
  /^(?:tell me more|more|go on|continue|elaborate|and\??$|(?:more|further) (?:details?|information|about (?:it|that|this))|what else|anything else)\b/i

/** A capitalised word that does not begin a sentence, or Latin letters among Han characters. */
const properName = /(?<=[^\s“"„¿¡.?!:]\s["“„(]?)\p{Lu}[\p{L}\p{M}\p{N}]*|(?<=\p{Script=Han}\s?)[A-Za-z]{2,}/gu
const acronym = /(?<![\p{L}\p{N}])\p{Lu}[\p{Lu}\p{N}]+(?![\p{L}\p{N}])/gu
const asksInHan = /什么|哪|谁|多少|几|怎|吗/u

/** The words of a text that carry its topic, as they stand. */
function topicWords(text: string): string[] {
  const common = commonWordsOf(text)
  const frequent = common && common.language !== 'en' ? common.words : stopWords
  const words = text.match(wordPattern) ?? []
  const lower = (word: string): string => word.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')
  // An acronym that is spelt like a stop word: IT, US, WHO.
  const isAcronym = (word: string): boolean => /^\p{Lu}{2,}$/u.test(word) && text !== text.toUpperCase()
  const said = words.filter((word) => spaceless.test(word) || isAcronym(word) || !frequent.has(lower(word)))
  const about = said.filter((word) => !askingWords.has(word.toLowerCase()))
  return about.length > 0 ? about : said.length > 0 ? said : words
}

const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim()
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]

/** The patterns below look this far: questions say early what they ask. */
const maxPatternLength = 1_000

/** Words of an earlier question that a follow-up takes along. */
const maxCarriedWords = 8

/**
 * Understands the last of several questions. A follow-up (`and for slices?`, `how does it work?`) takes the topic of the
 * one before along.
 * @param questions all questions of the conversation, oldest first; at least one
 */
export function understand(questions: readonly string[]): Question {
  const [last = '', ...before] = questions.toReversed()
  const polite = tidy(last.replace(politeness, ' '))
  const text = polite === '' ? tidy(last) : polite
  const head = mendAskingWords(text.slice(0, maxPatternLength))
  const own = distinct(topicWords(text))
  const isMore = asksForMore.test(head)
  const leans = isMore || pointsBack.test(head) || (carriesOn.test(head) && own.length < 4)
  const earlier = before.length > 0 && leans ? understand(before.toReversed()) : undefined
  if (earlier && isMore) return earlier

  const carried = earlier ? topicWords(earlier.queries[0] ?? '').filter((word) => !own.includes(word)) : []
  const context = carried.slice(0, maxCarriedWords)
  const main = tidy(`${text.replace(opening, '').replace(/(?<![?.!\s])[?.!\s]+$/, '')} ${context.join(' ')}`)
  const keywords = [...own, ...context].join(' ')
  const [, left, right, former, latter] = comparison.exec(head) ?? []
  const sides = [left ?? former, right ?? latter].filter((side) => side !== undefined)
  const further = sides.length > 0 ? sides : wordsOf(text).length > own.length + 3 ? [keywords] : []
  const topic = distinct([...own, ...context].flatMap(keysOf)).filter((key) => !asksInHan.test(key))
  // German capitalises every noun.
  const names = commonWordsOf(text)?.language === 'de' ? acronym : properName
  const named = [...(text.match(names) ?? []), ...own.filter((word) => /\p{N}/u.test(word))]
  return {
    text,
    form:
      forms.find(([pattern]) => pattern.test(head))?.[1] ??
      (own.length < 3 && !/[?？]/u.test(text) ? 'definition' : 'fact'),
    kind: answerKindOf(text),
    topic,
    names: distinct(named.flatMap(keysOf)).filter((key) => topic.includes(key)),
    queries: distinct([main, ...further]),
  }
}

/** Corrects slips in longer words that tell the form of a question, such as `overveiw`. */
function mendAskingWords(text: string): string {
  const known = ['difference', 'between', 'compare', 'summarize', 'summarise', 'overview', 'versus']
  return text.replace(/\b[a-z]{6,12}\b/g, (word) =>
    known.some((right) => word.startsWith(right)) ? word : (known.find((right) => isNear(word, right)) ?? word),
  )
}
