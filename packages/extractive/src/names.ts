const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const kindWords =
  'cmdlet|command|function|method|type|trait|keyword|operator|macro|parameter|statement|module|tool|system|feature|attribute|pattern|expression|alias|variable|provider|class|concept|rule|process|package|crate|library|service|team|game|file|option|flag|syntax|loop|term|word|data type|data structure|preference variable|automatic variable'
const opening = '^(?:(?:in [^,]{1,40}|simply put|basically|essentially|at its core|by definition),\\s+)?'
const general = `${opening}(?:(?:an?|every|each|all|any)\\s+)?`
const article = `${opening}(?:(?:the|an?|every|each|all|any)\\s+)?`
const says = '(?:is|are|was|were|means?|refers? to|describes?|represents?|denotes?|defines?|consists? of|stands? for)'
const does =
  '(?:lets?|allows?|enables?|provides?|creates?|gets?|sets?|returns?|makes?|removes?|deletes?|adds?|sends?|runs?|starts?|stops?|performs?|controls?|contains?|holds?|gives?|specif(?:y|ies)|stores?|tells?|helps?|changes?|determines?|gathers?|takes?)'
const adverb = '(?:(?:also|simply|just|basically|essentially|really|actually|usually|often)\\s+)?'
const someKind =
  '(?:an?|the|one of|any|some|another|how|when|what|where|anything|everything|used (?:to|for|as)|similar|like|short for|(?:[a-z-]+\\s+){1,2}(?:that|which|who|you|we)|[a-z-]+\\s+[a-z-]+s)\\b'

/**
 * A thing's name as it may stand in a text: any case unless the question used capitals, singular or plural, quoted or
 * not. What may stand around it is bounded, so that rows of quotes and signs cost a search nothing.
 */
export function namePattern(subject: string): string {
  const bare = subject
    .replace(/[`"“”'‘’*]/g, '')
    .trim()
    .replace(/^[$@&-]+(?=\w)/, '')
  const words = escape(bare.replace(/(?<=\w{3})(?:ies|e?s)$/i, '')).replace(/\s+/g, '[\\s`-]+')
  return `[\`"“_*]{0,4}(?<![\\w-])[$@&-]{0,4}(?<!\\w)${words}(?:e?s|ies|y)?(?:<[^>\`]{0,99}>)?(?![\\w-])[\`"”_*]{0,4}`
}

const follower = `(?:${kindWords})s?\\b|${says}\\b|${does}\\b|\\w+ly\\b|(?:[a-z]{1,3}|can|will|would|should|could|must|that|with|from|into|when|where|while|like|have|than|then|only|also|this|they|more|such|over|under|after|before|through|because|which|rather|instead|never|always|often|still|just|even|both)\\b`

/** A named thing by itself, not as the first half of the name of another (`trait` in `trait object`). */
export const standsAlone = (name: string): RegExp =>
  new RegExp(`${name}(?:[^\\s\\w]|$|\\s+[^\\w]|\\s+(?:${follower}))`, /[A-Z]/.test(name.replace(/\\./g, '')) ? '' : 'i')

/** Patterns of sentences that say what a thing is, with their worth, the surest first. */
export function definitionPatterns(subject: string): readonly (readonly [RegExp, number])[] {
  const name = namePattern(subject)
  const anyKind = `(?:\\s+(?:${kindWords})s?)?`
  const aside = '(?:\\s+\\([^)]{0,200}\\)|,\\s+(?!which)[^,.]{1,60},|,\\s+which [^,.]{1,120},)?'
  return [
    [new RegExp(`${general}${name}${anyKind}${aside}\\s+${says}\\s+${adverb}${someKind}`, 'i'), 0.65],
    [new RegExp(`${article}${name}\\s+(?:${kindWords})s?${aside}\\s+${says}\\s+${adverb}${someKind}`, 'i'), 0.65],
    [
      new RegExp(
        `${general}${name}${anyKind}${aside}\\s+(?:means?|refers? to|describes?|represents?|denotes?|defines?|consists? of|stands? for)\\s`,
        'i',
      ),
      0.6,
    ],
    [new RegExp(`${article}${name}\\s+(?:${kindWords})s?\\s+\\w+s\\b`, 'i'), 0.5],
    [new RegExp(`${general}${name}${anyKind}${aside}\\s+${adverb}${does}\\b`, 'i'), 0.45],
    [
      new RegExp(
        `${article}(?:(?!because|when|if|while|although|since|as\\b|after|before|once|until|where|how|that|to\\b|in\\b|with|for)[\\w’'-]+\\s+)?${name}${anyKind}${aside}\\s+${says}\\s+${adverb}${someKind}`,
        'i',
      ),
      0.4,
    ],
    [
      new RegExp(
        `\\b(?:called|known as|termed|referred to as|we call (?:it|this)?)\\s+(?:an?\\s+|the\\s+)?${name}`,
        'i',
      ),
      0.35,
    ],
    [new RegExp(`${general}${name}${anyKind}${aside}\\s+(?:is|are)\\s+(?!\\w+ed\\b)`, 'i'), 0.35],
    [new RegExp(`,\\s+which\\s+(?:is|are)\\s+(?:the\\s+|an?\\s+)?${name}`, 'i'), 0.15],
    [new RegExp(`${name}[^.]{0,30},\\s+which\\s+${says}\\s`, 'i'), 0.1],
  ]
}
