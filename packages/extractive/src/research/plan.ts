import { understand } from '../question.ts'
import { stopWords, wordsOf } from '@inlay/text'
import { askingWords } from '../phrases.ts'

const mostTasks = 12
const asking = '(?:what|how|why|when|which|who|whose|where)'
const startsAsking =
  /^(?:what|how|why|when|which|who|whose|where|is|are|was|were|does|do|did|can|could|should|must|may)\b/i
/** Where a request for several things can be taken apart. */
const partBorder = new RegExp(
  [
    '(?<=\\?)\\s+',
    '\\s*;\\s+',
    '\\s*\\n+\\s*',
    `:\\s+(?=${asking}\\b)`,
    `,?\\s+and\\s+(?=${asking}\\b)`,
    `,\\s+(?=${asking}\\b)`,
    '(?<=[a-z)]\\.)\\s+(?=\\p{Lu})',
  ].join('|'),
  'u',
)
const bullet = /^\s*(?:[-*•]|\d{1,2}[.)])\s+/
/** What asks for a text about something; behind it stands what the text is to be about. */
const request = new RegExp(
  [
    '^(?:please\\s+)?(?:(?:can|could|would|will) you\\s+)?(?:please\\s+)?',
    '(?:explain|describe|research|investigate|analy[sz]e|explore|examine|study|review|summari[sz]e|outline|report|look|',
    "find out|find|tell|teach|give|write|prepare|make|create|produce|show|i (?:want|need|would like)|i[’']d like)\\b",
    '(?:\\s+(?:to (?:know|understand|learn|have|see)|me|us|all|everything|more|in depth|in detail|into))*',
    '(?:\\s+(?:an?|the|some)?\\s*(?:[\\w-]+\\s+){0,2}(?:reports?|overview|summary|guide|introduction|analysis|explanation|description))?',
    '(?:\\s+(?:there is to know|about|on|of|to|into))*\\s+',
  ].join(''),
  'i',
)
const howTo =
  /^(?:how (?:to|(?:do|does|can|could|should|would|might) (?:i|we|you|one|people|someone|users))|what is the (?:best |right )?way to)\s+/i
const whatIs = /^(?:what|who)\s+(?:is|are|was|were)\s+/i
const ending = /\s+(?:works?|means?|does|used|use|happens?|matters?|looks? like)$/i
const preposition = /\s+(?:in|of|for|with|on|to|from|by|at|as|between|within|without|when|that|which|so|if|than)\s+/i

const tidy = (text: string): string =>
  text
    .replace(bullet, '')
    .replace(/\s+/g, ' ')
    .replace(/(?<![\s?.!,;:])[\s?.!,;:]+$/, '')
    .trim()

function asQuestion(text: string): string {
  const bare = tidy(text)
  const isQuestion = startsAsking.test(bare) && !/^(?:how|why|what|when|where) (?:to|the|an?|our|my|your)\b/i.test(bare)
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1)}${isQuestion ? '?' : ''}`
}

const foreign =
  /[^\p{ASCII}\p{P}\p{S}]|\b(?:der|die|das|und|ist|wie|wer|ein|eine|fur|mit|le|la|les|des|est|et|une?|comment|pour|el|los|las|como|que|para|il|gli|di|het|een|och)\b/iu
const endsEnglish = /^[a-z]{3,}(?:ing|ness|ship|ies|ed|ly)$/

/** Whether a text is English, as far as small words and endings tell: nothing else is understood well enough to be varied. */
const isEnglish = (text: string): boolean =>
  !foreign.test(text) &&
  wordsOf(text).some((word) => (word.length > 1 && stopWords.has(word)) || endsEnglish.test(word))

/** What is asked about any topic, and what sentences have in them that tell it. */
const aspects: Readonly<
  Record<'options' | 'limits' | 'problems', { readonly wording: string; readonly clue: RegExp }>
> = {
  options: {
    wording: 'What are the options and settings of',
    clue: /\b(?:options?|settings?|parameters?|configur\w+|defaults?|enabl\w+|disabl\w+|switch\w*|flags?|variables?|set)\b/i,
  },
  limits: {
    wording: 'What are the requirements and limits of',
    clue: /\b(?:must|ha(?:s|ve) to|needs?|needed|requir\w+|only|at (?:most|least)|up to|limit\w*|can(?:not|['’]t)|not|unless|except\w*|minim\w+|maxim\w+|within|until|more than|less than|fewer than|support\w*)\b/i,
  },
  problems: {
    wording: 'What problems and errors occur with',
    clue: /\b(?:errors?|fail\w*|problems?|issues?|warn\w*|can(?:not|['’]t)|unable|doesn['’]t|exceptions?|troubleshoot\w*|lost|laps\w+|break\w*|broken|crash\w*|wrong|denied|refused|times? out|timeouts?)\b/i,
  },
}

/** The topic of a task that asks for one of its aspects, and what sentences that tell it have in them. */
export function aspectOf(task: string): { readonly topic: string; readonly clue: RegExp } | undefined {
  for (const { wording, clue } of Object.values(aspects)) {
    if (task.startsWith(`${wording} `)) return { topic: tidy(task.slice(wording.length)), clue }
  }
  return undefined
}

/** What a question or task is about, as a noun phrase in its own words; "" when its form does not tell. */
export function topicPhrase(text: string): string {
  const aspect = aspectOf(text.trim())
  if (aspect) return aspect.topic
  const { kind, subjects } = understand([text])
  if (kind === 'definition' && subjects[0] !== undefined) return withoutArticle(tidy(subjects[0]))
  const rest = tidy(text).replace(request, '')
  const kinds = kindsOf.exec(rest)?.[1]
  if (kinds !== undefined) return withoutArticle(kinds)
  const isHowTo = howTo.test(rest)
  const phrase = isHowTo
    ? // Behind "how do I" stands a verb: what it is done to is the topic.
      rest.replace(howTo, '').replace(/^[a-z]+(?:\s+(?:up|out|off|on))?\s+(?=\S)/, '')
    : whatIs.test(rest)
      ? rest.replace(whatIs, '')
      : startsAsking.test(rest)
        ? (/^how\s+((?:the|an?|our|my|your)\s.+)$/i.exec(rest)?.[1] ?? '')
        : rest
  const topic = withoutArticle(tidy(phrase).replace(ending, ''))
  return topic.split(' ').length > 8 ? (topic.split(preposition)[0] ?? topic) : topic
}

const kindsOf =
  /^(?:what|which)\s+(?:kinds?|types?|sorts?|forms?)\s+of\s+(.+?)\s+(?:are|is|exist|do|does|can|should|must|may|there)\b/i

const withoutArticle = (phrase: string): string =>
  phrase.replace(
    /^(?:(?:for|to|about|of|on|in|with|at|from)\s+)?(?:(?:the|an?|my|our|your|its|their|this|that|these|those|all|any|some)\s+)?(?=\S)/i,
    '',
  )

/** Whether a phrase names several things: its head, before any preposition, ends as a plural does. */
function isPlural(phrase: string): boolean {
  const head = (phrase.split(preposition)[0] ?? phrase).split(' ').at(-1) ?? ''
  return /^\p{Ll}.*[^su]s$/u.test(head)
}

const whatIsIt = (topic: string): string => `What ${isPlural(topic) ? 'are' : 'is'} ${topic}?`

/** A name, or a thing that is set up: what has options. */
const isTechnical =
  /\p{Ll}\p{Lu}|[-_.`/]\w|\b(?:commands?|cmdlets?|servers?|services?|apis?|modules?|tools?|clients?|drivers?|index(?:es)?|packages?|apps?|pages?|files?)\b/u

/** The questions that a topic raises besides what it is and how it is used. */
const aspectsOf = (topic: string): string[] =>
  [
    ...(isTechnical.test(topic) ? [aspects.options] : []),
    ...(/\b(?:requirements?|limits?|rules?|conditions?)\b/i.test(topic) ? [] : [aspects.limits]),
    ...(/\b(?:problems?|errors?|failures?|faults?)\b/i.test(topic) ? [] : [aspects.problems]),
  ].map(({ wording }) => `${wording} ${topic}?`)

/** Puts a topic in the place of the first word that points back to it. */
function withName(part: string, topic: string): string {
  return part
    .replace(/\b(?:its|their)\b(?=\s+\w)/i, `${topic}'s`)
    .replace(/\b(?:it|they|them)\b|\b(?:this|that|these|those)$/i, topic)
}

/** A part of a request with the topic of the first, if it says too little without. */
function nameTopic(part: string, topic: string): string {
  const named = withName(part, topic)
  const own = new Set(wordsOf(named).filter((word) => !stopWords.has(word) && !askingWords.has(word)))
  return own.size > 1 || named !== part ? named : `${part} (${topic})`
}

/** Parts of a request that ask for different things; each can stand alone. */
function partsOf(text: string): string[] {
  const parts = text
    .split(partBorder)
    .map(tidy)
    .filter((part) => wordsOf(part).some((word) => !stopWords.has(word)))
  const first = topicPhrase(parts[0] ?? '')
  return parts.map((part, index) => (index > 0 && first !== '' ? nameTopic(part, first) : part))
}

/** A question that leans on the one before it, with the name of what it leans on. */
function standingAlone(questions: readonly string[]): string {
  const [last = '', before] = questions.toReversed()
  if (before === undefined || understand(questions).queries[0] === understand([last]).queries[0]) return last
  const topic = topicPhrase(before) || tidy(before)
  const named = withName(tidy(last), topic)
  return named === tidy(last) ? `${named} (${topic})` : named
}

/** The questions that a comparison rests on; [] for anything else. */
function sidesOf(part: string): string[] {
  const { kind, subjects } = understand([part])
  return kind === 'difference' && subjects.length === 2 ? subjects.map((side) => whatIsIt(tidy(side))) : []
}

const narrow = new Set(['number', 'when', 'who', 'where'])

/**
 * Plans a research: the questions to be looked into, most basic first; 1 to 12. Requests of several parts are taken
 * apart, comparisons rest on their sides, and a lone topic is taken for what is commonly asked about one. Other
 * languages than English are only taken apart.
 * @param questions all questions of the conversation, oldest first
 */
export function planResearch(questions: readonly string[]): readonly string[] {
  const text = standingAlone(questions)
  const parts = partsOf(text)
  const whole = parts.length > 0 ? parts : [text]
  const sides = whole.flatMap((part) => [...sidesOf(part), part])
  if (sides.length > whole.length) return distinct(sides)
  const [first = ''] = whole
  const { kind } = understand([first])
  const topic = isEnglish(text) && !narrow.has(kind) && !/^who\b/i.test(first) ? topicPhrase(first) : ''
  if (topic === '') return distinct(whole)
  // A request for a text, or a mere name, asks nothing that its topic does not.
  const isNamed = kind === 'definition' && !/^how\b/i.test(first)
  const isLabel = isNamed || !startsAsking.test(first.replace(request, ''))
  const further = aspectsOf(topic)
  const usage = `How ${isPlural(topic) ? 'are' : 'is'} ${topic} used?`
  const more = whole.length > 2 ? [] : isLabel && whole.length === 1 ? [usage, ...further] : further
  const basic = whatIs.test(first) && !isLabel ? [] : [whatIsIt(topic)]
  return distinct([...basic, ...(isLabel ? whole.slice(1) : whole), ...more])
}

/** Each question once, without the words that ask for an answer to it. */
function distinct(tasks: readonly string[]): string[] {
  const seen = new Set<string>()
  return tasks
    .map((task) => {
      const rest = tidy(task).replace(request, '')
      return asQuestion(startsAsking.test(rest) ? rest : task)
    })
    .filter((task) => {
      const key = wordsOf(task).join(' ')
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
    .slice(0, mostTasks)
}
