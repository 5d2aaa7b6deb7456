import { commonWordsOf, keysOf, spaceless, stopWords, wordPattern, wordsOf } from '@inlay/text'

export interface Question {
  /** The question without greetings and phrases of politeness. */
  readonly text: string
  /** Whether it asks for all of a kind. */
  readonly isForList: boolean
  /** Keys of the words that carry the topic, in order, without duplicates. */
  readonly topic: readonly string[]
  /** Keys of the topic that are names, numbers or codes: an answer without them is about something else. */
  readonly names: readonly string[]
  /** The text whose dates and numbers an answer has to have: that of an earlier question if this one has none. */
  readonly given: string
  /** Search queries, the most specific first; at least one. */
  readonly queries: readonly string[]
}

const politeness =
  /^(?:(?:hi|hello|hey|ok|okay|well|so|thanks|thank you|please|sorry|excuse me)[\s,.!:-]+)+|\b(?:please|kindly)\b[\s,]*|^(?:(?:can|could|would|will) you (?:please )?(?:tell|explain|show|help|describe|give|remind)(?: me| us)?(?: understand)?(?: about)?|(?:do you know|i (?:want|need|would like|['’]d like) to (?:know|understand)|i was wondering|tell me(?! about| more)|explain(?: to me)?|show me(?! an?\b)|remind me))\s+(?=\S)/gi

/** English words that are common in questions but rare in their answers. */
const askingWords: ReadonlySet<string> = new Set(
  `comparison define definition describe detail details difference differences different enumerate exactly
  explain explanation find give get gets getting got happen happens help kind kinds know many mean meaning means much need often overview
  possible purpose question say summarise summarize summary tell thing things type types use used uses using
  want way ways work works command commands example examples`.split(/\s+/),
)

/** Matches whole words in any script; `\b` only supports ASCII letters. */
const words = (list: string): string => `(?<![\\p{L}\\p{M}])(?:${list})(?![\\p{L}\\p{M}])`

/** Asks for a number, a date or a time, in some twenty languages; answers seldom repeat it. */
const asksNumber = new RegExp(
  [
    '^(?:since |until |and )?when(?!\\p{L})',
    words(
      'numbers? (?:of|for)|how (?:many|much|long|often|old|far|big|large|high|fast|tall|wide|deep)|what (?:number|percent|percentage|amount|year|date|day|age)|(?:in )?which year|' +
        'wie ?viele?|wie (?:lange|hoch|oft|alt|groß|weit|schnell)|wann|jahr|prozent|' +
        'cuánt[oa]s?|cuándo|(?:qué|cuál) (?:año|porcentaje|fecha)|combien|quand|quel(?:le)? (?:année|date|pourcentage)|' +
        'quant[oaie]|quando|quantos|quantas|hoeveel|wanneer|hur (?:många|mycket|länge)|när|hvor (?:mange|meget)|hvornår|' +
        'kiedy|сколько|когда|скольк\\p{L}+|в каком году|kaç|ne zaman|ne kadar|hangi yıl|câți|câte|cât|când|' +
        'bao nhiêu|mấy|khi nào|năm nào|πόσ\\p{L}+|πότε|كم|متى|कितन\\p{L}\\p{M}*|कब',
    ),
    '多少|几|幾|何时|何時|哪一?年|什么时候|多久|多长|多大|比例|何人|何年|いつ|いくつ|몇|언제|얼마|กี่|เท่าไ|เมื่อไ|ปีใด',
  ].join('|'),
  'iu',
)

const asksForList =
  /^(?:list|enumerate|name (?:all|the)|show (?:me )?(?:all|the list))\b|\b(?:what|which) (?:kinds?|types?|sorts?|forms?|categories|options|steps|rules|ways) (?:of|are|do|to|exist)\b|^(?:what|which) (?:are|were) (?:all |the )|^which \p{L}+s (?:are|exist|can|do)\b|^(?:what|which) (?:\p{L}+ ){1,3}(?:do (?:we|you|they|i) (?:have|get|offer|sell)|are there|exist)\b/iu

const comparison =
  /\b(?:between|compare)\s{1,3}(?:the |an? )?(.{1,80}?)\s{1,3}(?:and|with|to|vs\.?|versus|or)\s{1,3}(?:the |an? )?(.{1,80}?)\s{0,3}[?.!]*$|^(?:the |an? )?(.{1,80}?)\s{1,3}(?:vs\.?|versus)\s{1,3}(?:the |an? )?(.{1,80}?)\s{0,3}[?.!]*$/i

const pointsBack =
  /\b(?:which one|it|its|they|them|their|theirs|these|those|ones|he|she|his|her|him|former|latter|the (?:same|other|first|second|last)(?: one| thing)?)\b|\bth(?:is|at)\b(?=\s*(?:is|was|does|do|work|mean|happen|one|instead|too|thing|[?.!,]|$))|\b(?:do|does|did|about|with|for|of|use|like|by|in) (?:this|that)\b/i
const carriesOn =
  /^(?:and|but|or|also|then|so|what about|how about|what if|why|how so|how come|since when|when|where|for what|in which)\b/i
const opening =
  /^(?:(?:and|but|or|so|then|also|what about|how about|und|aber|oder|was ist mit|et|mais|ou|y|pero|e|ma|mas|en|maar|och|men|og|i|a|и|а|но|ve|peki|و)[\s,]+(?=\S)|那么?|而|じゃあ|では)/iu
const asksForMore =
  /^(?:tell me more|more|go on|continue|elaborate|and\??$|(?:more|further) (?:details?|information|about (?:it|that|this))|what else|anything else)\b/i

/** Verbs that ask for a form of answer only here: how to sort a list is about sorting. */
const asksForForm = /^(?:list|compare|name)\b/i

/** Words of other languages that stand for what was said before. */
const pointsBackElsewhere =
  /(?<!\p{L})(?:davon|dafür|damit|daran|dazu|dabei|darüber|das(?=\s*(?:auch|noch|[?.!]|$))|ça|cela|eso|esto|questo|isso|dat(?=\s*[?.!])|det(?=\s*[?.!])|это|bu(?=\s))(?!\p{L})|它|这个|それ|これ/iu

/** A capitalized word that does not begin a sentence, or Latin letters among Han characters. */
const properName = /(?<=[^\s“"„¿¡.?!:]\s["“„(]?)\p{Lu}[\p{L}\p{M}\p{N}]*/gu
/** German capitalizes every noun, but seldom two in a row. */
const germanName = /(?<=[^\s.?!:] )\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)+/gu
const acronym = /(?<![\p{L}\p{N}])\p{Lu}[\p{Lu}\p{N}]+(?![\p{L}\p{N}])/gu

/** The words of a text that carry its topic, as written. */
function topicWords(text: string): string[] {
  const common = commonWordsOf(text)
  const frequent = common && common.language !== 'en' ? common.words : stopWords
  const words = text.match(wordPattern) ?? []
  const lower = (word: string): string => word.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')
  const said = words.filter((word) => spaceless.test(word) || !frequent.has(lower(word)))
  const about = said.filter((word) => !askingWords.has(word.toLowerCase()))
  return about.length > 0 ? about : said.length > 0 ? said : words
}

function properNames(text: string): ReadonlySet<string> {
  if (spaceless.test(text)) return new Set()
  const patterns = commonWordsOf(text)?.language === 'de' ? [acronym, germanName] : [properName]
  return new Set(patterns.flatMap((pattern) => text.match(pattern) ?? []).flatMap(keysOf))
}

const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim()
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]

/** Patterns read only this many characters: a question states early what it asks. */
const maxPatternLength = 1_000

/** Maximum number of words that a follow-up question takes from the previous one. */
const maxCarriedWords = 8

/** @param questions all of the conversation, oldest first; a follow-up includes the topic of the one before it */
export function understand(questions: readonly string[]): Question {
  const [last = '', ...before] = questions.toReversed()
  const polite = tidy(last.replace(politeness, ' '))
  const text = polite === '' ? tidy(last) : polite
  const head = text.slice(0, maxPatternLength)
  const own = distinct(topicWords(text.replace(asksForForm, '').replace(asksNumber, ' ').trim() || text))
  const isMore = asksForMore.test(head)
  const continues = own.length < 4 && (carriesOn.test(head) || opening.test(head))
  const leans = isMore || pointsBack.test(head) || pointsBackElsewhere.test(head) || continues
  const earlier = before.length > 0 && leans ? understand(before.toReversed()) : undefined
  if (earlier && isMore) return earlier

  const proper = properNames(text)
  // `And in Colorado?` asks the same of another place.
  const replaced = new Set(proper.size > 0 && opening.test(head) ? earlier?.names : [])
  const isCarried = (word: string): boolean => !own.includes(word) && !keysOf(word).some((key) => replaced.has(key))
  const carried = earlier ? topicWords(earlier.queries[0] ?? '').filter(isCarried) : []
  const context = carried.slice(0, maxCarriedWords)
  const main = tidy(`${text.replace(opening, '').replace(/(?<![?.!\s])[?.!\s]+$/, '')} ${context.join(' ')}`)
  const keywords = [...own, ...context].join(' ')
  const [, left, right, former, latter] = comparison.exec(head) ?? []
  const sides = [left ?? former, right ?? latter].filter((side) => side !== undefined)
  const further = sides.length > 0 ? sides : wordsOf(text).length > own.length + 3 ? [keywords] : []
  const topic = distinct([...own, ...context].flatMap(keysOf))
  return {
    text,
    isForList: asksForList.test(head),
    topic,
    names: topic.filter(
      (key) => proper.has(key) || /\p{N}/u.test(key) || (proper.size === 0 && earlier?.names.includes(key)),
    ),
    given: /\p{N}/u.test(text) || earlier === undefined ? text : earlier.given,
    queries: distinct([main, ...further]),
  }
}
