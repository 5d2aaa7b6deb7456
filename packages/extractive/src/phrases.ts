/** What kind of answer a question wants. */
export type QuestionKind =
  | 'definition'
  | 'difference'
  | 'how'
  | 'why'
  | 'when'
  | 'who'
  | 'where'
  | 'number'
  | 'overview'
  | 'more'
  | 'other'

/** Words that say what kind of answer is wanted, not what it is about. */
export const askingWords: ReadonlySet<string> = new Set(
  `answer best compare comparison compared define definition describe detail details differ difference differences different
  distinguish example examples exactly explain explanation find general give get got happen happens help know list look
  many mean meaning means need overview please possible purpose question say see show simple simply sort sum summarise
  summarize summary tell thing things think try understand use used useful uses using usually versus vs want way ways word
  words work works`.split(/\s+/),
)

/** Words that add little to a topic. */
export const lightWords: ReadonlySet<string> = new Set(
  `able according against ago allow allows along alongside already although always among another anyone anything
  around become becomes behind beside best better beyond big certain common correct current deep despite easily easy
  enough entire even everyone everything except far fast first full good hence herself high himself important inside
  item large last later least less little long main make makes making multiple name near never new number often old
  one ones onto ourselves outside part particular per quick quickly real regarding second several short similar
  simple since single small someone something special specific still take takes tall themselves things though three
  throughout thus time times total toward towards two type types unless via whereas whole wide within without yet
  yourself`.split(/\s+/),
)

const narration =
  /^(?:let(?:['’]s| us| me)\b|in this (?:chapter|section|example|case|article|topic|listing|code)|in (?:the )?(?:next|previous|following) |as (?:we|you|i|mentioned|discussed|shown|noted|described)\b|(?:next|first|now|finally|again|recall|remember|consider|suppose|imagine|notice|say)\b|we['’](?:ll|ve|re|d)\b|we (?:will|now|can see|could|also|saw|have)\b|i\b|you['’]ll (?:see|learn)|see\b|for more (?:information|details?)|figure \d|listing \d|table \d|note(?: that)?\b|here\b|the (?:chapter|section|article|page|book) (?:will|concludes|ends|begins)\b|(?:second|third|fourth|fifth|lastly)\b|the (?:last|first|second|third|fourth|next|final) (?:thing|change|step|command|line|example)\b|if you were\b|(?:it|this example|this command) (?:uses|shows|demonstrates)\b|be warned|this (?:chapter|section|article|topic|page|guide|document|tutorial)\b|luckily|unfortunately|with that|at this point|back in)/i
const pointsElsewhere =
  /\b(?:listing|figure|chapter|appendix) [\dA-Z][-\d]*\b|\b(?:shown|described|listed|discussed|mentioned) (?:in|above|below|here|earlier)\b|\b(?:following|preceding|previous|above|below|next) (?:example|section|code|command|listing|chapter|output|table|line)s?\b|\bthis (?:code|example|line|listing|program|error|function|command|output)\b|\bthe (?:command|example|code|script|output) \w+s\b/i
const dangling =
  /^(?:this|that|these|those|it|its|it['’]s|they|their|them|he|she|his|her|here|there(?=['’]s|fore)|then|otherwise|so|but|and|or|however|also|instead|such|both|thus|hence|therefore|additionally|moreover|furthermore|nevertheless|still|yet|similarly|likewise|in (?:other words|contrast|addition|fact|particular|this case|that case|both cases)|for (?:example|instance|this reason|that reason)|on the other hand|as a result|because of (?:this|that)|the (?:same|former|latter|other|second|third|first|result|code|example|program|output)|another|again|finally|next|note|to do (?:so|this|that)|doing (?:so|this)|by doing|if so|when (?:this|that|it)|even so|that['’]s|rather|unlike (?:this|that)|what['’]s more|as (?:such|before))\b/i

const contrast =
  /\b(?:while|whereas|unlike|instead|rather than|in contrast|but|differ\w*|compared|both|either|on the other hand|only|however|not)\b/i
/** What sentences that answer a kind of question have in them. */
const clues: Partial<Record<QuestionKind, RegExp>> = {
  why: /\b(?:because|so that|reasons?|since|in order to|therefore|thus|that['’]s why|to (?:prevent|avoid|ensure|make sure|allow)|prevents?|avoids?|ensures?|otherwise|due to|leads? to|caus\w+|result\w*)\b/i,
  how: /^(?:to \w+|use|run|call|type|add|set|create|open|click|install|you can|we can|by \w+ing|if you want)\b|\b(?:you can|use the|by using|by calling|using the|run the|run `|call `|method|cmdlet|command|parameter|function)\b/i,
  when: /\b(?:1\d{3}|20\d{2})\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|century|when|after|before|during|if you|whenever|version)\b/i,
  who: /(?<=[\p{L},] )\p{Lu}[\p{Ll}’'-]+(?:\s+\p{Lu}[\p{L}’'-]+)*/u,
  where: /\b(?:in|at|on|under|near|from|inside|within) (?:the )?(?:\p{Lu}|`)/u,
  number:
    /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half|twice|once|percent)\b/i,
  difference: contrast,
}

/** Whether a sentence has what sentences that answer this kind of question have: a reason, a date, a contrast. */
export const hasClue = (kind: QuestionKind, text: string): boolean => clues[kind]?.test(text) ?? false

/** Whether a sentence is about something that stands elsewhere on its page. */
export const isPointing = (text: string): boolean => pointsElsewhere.test(text)

// Without the flag `i`, with which a capital letter is any letter: "see what was searched" refers to nothing.
const referral =
  /^[Ff]or (?:more |additional |further )?(?:information|details|help|examples?)\b|\b[Ss]ee (?:also )?(?:the )?(?:`|about_|\p{Lu})|^.{1,60}: (?:[Dd]escribes|[Ee]xplains|[Dd]iscusses|[Ll]ists|[Ii]ntroduces|[Pp]rovides information)\b/u

/** Whether a sentence only tells where to read on. */
export const isReferral = (text: string): boolean => referral.test(text)

/** Whether a sentence guides through its page instead of saying something. */
export const isNarration = (text: string): boolean => narration.test(text)

/** Whether a text has what an answer to this kind of question needs: a date, a number. */
export function hasKind(question: { readonly kind: QuestionKind; readonly text: string }, text: string): boolean {
  if (
    question.kind === 'when' &&
    /^(?:when (?:was|were|did)|since when|(?:in |on )?(?:what|which) (?:year|date|day|month|century))\b/i.test(
      question.text,
    )
  )
    return /\d|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|[Cc]entury|War)\b/.test(
      text,
    )
  return question.kind !== 'number' || (clues.number?.test(text) ?? true)
}

/** Whether a sentence leans on the one before it. */
export const isDangling = (text: string): boolean => dangling.test(text)
