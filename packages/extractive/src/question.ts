import { isNear, stopWords, stem, wordsOf } from '@inlay/text'
import { askingWords, lightWords, type QuestionKind } from './phrases.ts'

/** A question, understood as far as it goes. */
export interface Question {
  /** As it was asked, without greetings and politeness. */
  readonly text: string
  readonly kind: QuestionKind
  /** Stems that matter with their weight: 1 for what is asked about, less for words of earlier turns and asking words. */
  readonly terms: ReadonlyMap<string, number>
  /** The word each term was made of, in lower case; only of the question itself. */
  readonly words: ReadonlyMap<string, string>
  /** Signs the question asks about, as in `the ? operator`; they are terms too. */
  readonly symbols: readonly string[]
  /** Neighbouring words of the question, as stems. */
  readonly pairs: readonly (readonly [string, string])[]
  /** What a definition is wanted of, or the two things to be told apart, in the words of the question. */
  readonly subjects: readonly string[]
  /** Whether several things are asked for, as in `what are the rules`. */
  readonly isPlural: boolean
  /** Whether commands or code would help. */
  readonly wantsCode: boolean
  /** What to search for, the most telling first; at least one. */
  readonly queries: readonly string[]
}

const politeness =
  /^(?:(?:hi|hello|hey|ok|okay|well|so|thanks|thank you|please|sorry|excuse me)[\s,.!:-]+)+|\b(?:please|kindly)\b[\s,]*|^(?:(?:can|could|would|will) you (?:please )?(?:tell|explain|show|help|describe|give|remind)(?: me| us)?(?: understand)?(?: about)?|(?:do you know|i (?:want|need|would like|['’]d like) to (?:know|understand)|i was wondering|tell me|explain(?: to me)?|show me|remind me))\s+(?=\S)/gi

const subject = '(?:the |an? )?(.+?)'
const end = '\\s*[?.!]*$'
const sidePatterns: readonly RegExp[] = [
  new RegExp(
    `\\b(?:differences?|distinction|distinguish|differ|differentiate)\\b.*?\\b(?:between|of)\\s+${subject}\\s+(?:and|vs\\.?|versus|or)\\s+${subject}${end}`,
    'i',
  ),
  new RegExp(
    `^(?:how|in what way|what makes)\\s+(?:is|are|do|does)?\\s*${subject}\\s+(?:differ(?:s|ent)?|distinct)\\s+(?:from|to|than)\\s+${subject}${end}`,
    'i',
  ),
  new RegExp(`\\bcompare\\s+${subject}\\s+(?:and|with|to|against|vs\\.?|versus)\\s+${subject}${end}`, 'i'),
  new RegExp(`(?:^|\\s)${subject}\\s+(?:vs\\.?|versus)\\s+${subject}${end}`, 'i'),
  new RegExp(
    `\\b(?:when|should i|should we|why)\\b.*?\\b(?:use|choose|prefer|pick)\\s+${subject}\\s+(?:instead of|rather than|over|or)\\s+${subject}${end}`,
    'i',
  ),
]
const definition = new RegExp(
  `^(?:what\\s+(?:is|are|was|were)|(?:and |but |or )?(?:what|how) about|and|what['’]s|who\\s+(?:is|was)|define|describe|explain|meaning of|definition of|what (?:does|do)(?=.*\\b(?:mean|stand for|do)${end}))\\s+(?:the (?:meaning|definition|purpose|concept|idea) of\\s+)?${subject}(?:\\s+(?:mean|stand for|do|for|used for|all about))?${end}`,
  'i',
)
const working = new RegExp(
  `^how\\s+(?:do|does|did)\\s+${subject}\\s+(?:work|function|operate)(?:\\s+in\\s+\\w+)?${end}`,
  'i',
)
const notAThing =
  /\b(?:of|for|to|when|that|which|if|between|from|by|with|at|happens?|differences?|best|default|and|or|you|i|we|called|known|named|titled|originally|formerly|currently)\b/i

const kinds: readonly (readonly [RegExp, QuestionKind])[] = [
  [
    /^(?:tell me more|more|go on|continue|elaborate|and\??$|(?:more|further) (?:details?|information|about (?:it|that|this))|expand on (?:it|that|this)|what else|anything else)\b/i,
    'more',
  ],
  [
    /^(?:summari[sz]e|give (?:me |us )?an? (?:overview|summary)|overview|summary|tldr|(?:tell me )?about(?! (?:what|which|who|whom|how|when|where))\b)\b|\b(?:overview|summary) of\b/i,
    'overview',
  ],
  [
    /^how (?:many|much|long|often|old|far|big|large|high|fast|deep|wide|tall)\b|\bwhat (?:number|percentage|percent|size|amount)\b/i,
    'number',
  ],
  [
    /^(?:how|in what way|what(?:['’]s| is) the (?:best |right |easiest |proper )?way)\b|\b(?:how (?:to|do|does|can|should|would)|steps? to|commands? (?:to|for)|examples? of)\b/i,
    'how',
  ],
  [/\bwhy\b|\bwhat (?:is |are |was )?the reasons?\b|^for what reason/i, 'why'],
  [
    /^(?:when|since when|until when|(?:in|on|by) (?:what|which) (?:year|date|day|month|century|version))\b|^what (?:year|date|day|time|month|century)\b/i,
    'when',
  ],
  [
    /^(?:who|whose|whom|by whom)\b|^(?:what|which) (?:person|people|team|company|author|player|organi[sz]ation)\b/i,
    'who',
  ],
  [
    /^(?:where|in (?:what|which) (?:country|city|place|folder|file|directory))\b|^(?:what|which) (?:country|city|place|location|folder|directory)\b/i,
    'where',
  ],
]

const wantsCode =
  /^(?:how|which command|what command)\b|\b(?:how (?:do|can|to|would|should)|commands?|cmdlet|examples?|syntax|code|snippet|write|run|install|create|configure|set ?up|script|query|call|usage)\b/i

const plural =
  /\b(?:what|which|who) (?:are|were|\w+s (?:are|were|do|does|can|exist))\b|\b(?:list|types|kinds|ways|steps|rules|options|all (?:the )?\w+s)\b/i

// Words by which the kind of a question is known; slips in them are mended first, but "compares" is none of "compare".
const kindWords = [
  'difference',
  'differences',
  'between',
  'explain',
  'example',
  'compare',
  'definition',
  'describe',
  'summarize',
  'overview',
  'versus',
  'purpose',
]

function kindOf(text: string): { kind: QuestionKind; subjects: string[] } {
  for (const pattern of sidePatterns) {
    const [, left, right] = pattern.exec(text) ?? []
    if (left && right && left.split(' ').length < 9 && right.split(' ').length < 9)
      return { kind: 'difference', subjects: [left, right] }
  }
  const worker = working.exec(text)?.[1]
  if (worker && worker.split(' ').length < 5 && !/\b(?:the|an?|my|your|his|her|its|our|their)$/i.test(worker))
    return { kind: 'definition', subjects: [worker] }
  const kind = kinds.find(([pattern]) => pattern.test(text))?.[1]
  const thing = (
    definition.exec(text)?.[1] ??
    /^(?:please )?(?:list|show|name|give me) (?:all |the |all the )*(.+?)[?.!]*$/i.exec(text)?.[1]
  )?.replace(/\s+in\s+[\w#+.]+$/i, '')
  if ((!kind || kind === 'who') && thing && thing.split(' ').length < 5 && !notAThing.test(thing))
    return { kind: 'definition', subjects: [thing] }
  // A word or two without any verb are a wish to learn about them.
  const isLabel =
    !kind && text.split(/\s+/).length < 4 && !/^(?:can|could|is|are|do|does|did|will|should|which|what)\b/i.test(text)
  if (isLabel) return { kind: 'definition', subjects: [text.replace(/(?<![?.!])[?.!]+$/, '')] }
  return { kind: kind ?? 'other', subjects: [] }
}

const pointsBack =
  /\b(?:which one|which of|it|its|they|them|their|theirs|these|those|ones|he|she|his|her|him|former|latter|the (?:same|other|first|second|last) (?:one|thing)?)\b|\bth(?:is|at)\b(?=\s*(?:is|was|does|do|work|mean|happen|one|instead|too|thing|[?.!,]|$))|\b(?:do|does|did|about|with|for|of|use|like|by|in) (?:this|that)\b/i
const carriesOn =
  /^(?:and|but|or|also|then|so|what about|how about|what if|why|how so|how come|since when|where|when|for what|in which)\b/i

const carrying = /^(?:and|but|or|so|then|also|what about|how about)\s+(?=\S)/i

const constructs = /^(?:loops?|statements?|keywords?|operators?|blocks?|clauses?|expressions?|commands?)$/

/** Words that matter in a text, in order, each once: the topic first of all, asking words only where nothing else is. */
function topicOf(text: string): string[] {
  const every = wordsOf(text)
  // The "for" of "for loop" is a name.
  const named = every.filter((word, at) => !stopWords.has(word) || constructs.test(every[at + 1] ?? ''))
  const all = [...new Set(named)].filter(
    (word) => !/^(?:a|an|the|this|that|these|those|any|some|each|every|which|what|and|or|of|my|your|its)$/.test(word),
  )
  const topic = all.filter((word) => !askingWords.has(word))
  return topic.length > 0 ? topic : all
}

const longestAsking = 1_000

const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim()

/**
 * Understands the last of several questions. One that leans on the earlier ones (`and for slices?`, `how does it work?`)
 * takes their topic along.
 * @param questions all questions of the conversation, oldest first; at least one
 */
export function understand(questions: readonly string[]): Question {
  const [last = '', ...before] = questions.toReversed()
  const mended = last.replace(/\b[a-z]{6,12}\b/g, (word) =>
    kindWords.some((known) => word.startsWith(known)) ? word : (kindWords.find((known) => isNear(word, known)) ?? word),
  )
  const cleaned = tidy(mended.replace(politeness, ' '))
  const text = cleaned === '' ? tidy(last) : cleaned
  // Its patterns take the square of the length, and what asks for something says so early.
  const { kind, subjects } = kindOf(text.slice(0, longestAsking))
  const own = [
    ...new Set([
      ...topicOf(text),
      ...(kind === 'definition' ? subjects.flatMap(wordsOf).filter((word) => !stopWords.has(word)) : []),
    ]),
  ]

  const leans =
    before.length > 0 &&
    (kind === 'more' || own.length === 0 || pointsBack.test(text) || (carriesOn.test(text) && own.length < 4))
  const earlier = leans ? understand(before.toReversed()) : undefined
  const isMore = kind === 'more' && earlier !== undefined

  const terms = new Map<string, number>()
  const add = (word: string, weight: number): void =>
    void terms.set(stem(word), Math.max(weight, terms.get(stem(word)) ?? 0))
  if (!isMore) for (const word of own) add(word, lightWords.has(word) && own.length > 1 ? 0.5 : 1)
  for (const word of wordsOf(text)) if (!isMore && askingWords.has(word) && own.length > 0) add(word, 0.15)
  for (const [term, weight] of earlier?.terms ?? []) add(term, weight * (isMore ? 1 : 0.7))

  const symbols = text.match(/(?<=\s|`|^)[^\s\p{L}\p{N}`"'“”,;()-]{1,3}(?=`|\s+\S)/gu) ?? []
  for (const symbol of symbols) terms.set(symbol, 1)
  const stems = wordsOf(text).map(stem)
  const pairs = stems.slice(1).flatMap((next, at): [string, string][] => {
    const first = stems[at] ?? ''
    return (terms.get(first) ?? 0) >= 0.5 && (terms.get(next) ?? 0) >= 0.5 ? [[first, next]] : []
  })

  const context = earlier ? topicOf(earlier.queries[0] ?? '').filter((word) => !own.includes(word)) : []
  const main = isMore
    ? (earlier.queries[0] ?? text)
    : tidy(`${text.replace(carrying, '').replace(/(?<![?.!\s])[?.!\s]+$/, '')} ${context.slice(0, 8).join(' ')}`)
  const keywords =
    own.length > 1 && wordsOf(text).length > own.length + 3 && !isMore
      ? [[...own, ...context.slice(0, 8)].join(' ')]
      : []
  return {
    text,
    kind: isMore ? earlier.kind : kind,
    terms,
    words: new Map(wordsOf(text).map((word) => [stem(word), word])),
    symbols,
    pairs,
    subjects: isMore ? earlier.subjects : subjects,
    isPlural: plural.test(text) || (isMore && earlier.isPlural),
    wantsCode: wantsCode.test(text) || (isMore && earlier.wantsCode),
    queries: [...new Set([main, ...(kind === 'difference' ? subjects : keywords)])],
  }
}

const about =
  'I am the built-in extractive model of Inlay. I search the documents for your question and answer with the sentences that fit best, word for word and each with its source; I make nothing up, and I do not reason or write text of my own. A language model takes my place as soon as one is configured.'

const again = 'Is there anything else you want to know from the documents?'

const small: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:hi|hello|hey|heya|hiya|yo|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|hola|bonjour|salut|ciao|hej)(?: (?:there|all|you|everyone|inlay|bot|assistant))?$/,
    'Hello! Ask me a question, and I will look for the answer in the documents.',
  ],
  [
    /^(?:how are you|how(?:['’]s| is) it going|what(?:['’]s| is) up|how do you do)(?: (?:today|doing))?$/,
    'Ready to search. What would you like to know from the documents?',
  ],
  [
    /^(?:(?:many )?thanks|thank you|thx|ty|cheers|much appreciated)(?: (?:a lot|a ton|so much|very much|again|for (?:the|your) (?:help|answer)))?$/,
    `You are welcome. ${again}`,
  ],
  [
    /^(?:ok|okay|k|great|good|nice|cool|perfect|awesome|excellent|got it|i see|makes sense|alright|all right|fine|understood|wow|yes|no|sure|right)(?: (?:thanks|thank you))?$/,
    again,
  ],
  [
    /^(?:bye|goodbye|good bye|see you|see ya|ciao|good night|later|that(?:['’]s| is) all)(?: (?:later|soon|then))?$/,
    'Goodbye!',
  ],
  [
    /^(?:who|what) are you(?: exactly)?$|^what is your name$|^what(?:['’]s| is) (?:this (?:assistant|bot|chat|model|thing))$|^(?:are|is) (?:you|this) (?:an? )?(?:ai|bot|robot|human|person|real|chat ?gpt|gpt|claude|llm|language model|chatbot|machine|real person)$|^(?:which|what) (?:language )?(?:model|llm|ai)(?: (?:are you|is this|do you use|are you using|version))?(?: (?:are you|version))?$|^introduce yourself$/,
    about,
  ],
  [
    /^(?:help|help me|what (?:can|do) you do|what (?:can|could|should|do) i (?:ask|do)(?: (?:you|here))?|how (?:can|could) you help(?: me)?|how do (?:you|i use (?:you|this)|you work|does this work)(?: work)?|how does this work|what (?:are|is) your (?:capabilities|features|purpose)|what do you know(?: about)?|can you help(?: me)?|menu|commands|test|ping)$/,
    about,
  ],
]

/** The answer to a message that asks nothing of the documents: a greeting, thanks, a question about the model. */
export function smallTalk(message: string): string | undefined {
  const bare = message
    .toLowerCase()
    .replace(/[\s!?.,:;)(]+|[\p{Emoji_Presentation}\p{Extended_Pictographic}\uFE0F]/gu, ' ')
    .trim()
  if (bare === '') return 'Ask me a question, and I will look for the answer in the documents.'
  const said = small.find(([pattern]) => pattern.test(bare))?.[1]
  if (said !== undefined) return said
  // "hi, who are you" is two of them.
  const rest = bare.replace(/^(?:hi|hello|hey|ok|okay|thanks|thank you|so|well|great|cool)(?: there)? /, '')
  return rest === bare ? undefined : small.find(([pattern]) => pattern.test(rest))?.[1]
}

/** What is said when no search can be made and nothing at hand answers. */
export const withoutDocuments: string =
  'I can only answer from documents, and searching them is not available for this message. I am the built-in extractive model: I quote the sentences that answer best, and know nothing by myself.'
