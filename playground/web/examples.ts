/** How many example questions are offered. */
const offered = 4

/** What an example question is made of. */
export interface ExampleSource {
  readonly title: string
  /** Markdown of the document, or of parts of it. */
  readonly content: string
}

/** Titles of up to four documents, spread over the whole list; those that cannot stand in a question are left out. */
export function exampleTitles(titles: readonly string[]): readonly string[] {
  const usable = [...new Set(titles)].filter((title) => title.length >= 3 && title.length <= 60)
  if (usable.length <= offered) return usable
  return Array.from({ length: offered }, (_, at) => usable[Math.floor((at * usable.length) / offered)]!)
}

/**
 * Questions that the documents can answer, one for each, made without a model: from a heading that asks or tells how
 * to do something, from a sentence that says what something is, or at least about the title.
 */
export function exampleQuestions(sources: readonly ExampleSource[]): readonly string[] {
  const questions = sources.map(({ title, content }, at) => {
    const makers = [fromHeadings, fromDefinition]
    // In turns, so that not all sound alike.
    const found = (at % 2 === 0 ? makers : makers.reverse())
      .map((make) => make(content))
      .find((made) => made !== undefined)
    return found ?? fromTitle(title)
  })
  return [...new Set(questions)]
}

function fromTitle(title: string): string {
  return fromHeading(title) ?? `What do the documents say about ${inSentence(title)}?`
}

function fromHeadings(content: string): string | undefined {
  const headings = [...content.matchAll(/^#{2,4}[ \t]+(.{5,60}?)[ \t#]*$/gm)].map((match) => plain(match[1] ?? ''))
  return headings.map(fromHeading).find((question) => question !== undefined)
}

/** Words that begin a heading which tells how to do something. */
const imperatives = new Set(
  (
    'add ask begin build change check choose configure connect convert copy create debug define delete deploy disable ' +
    'download edit enable export find fix generate get go handle import install join list log make manage migrate mount ' +
    'move narrow open organise organize publish read remove rename replace report request reset restore return run save ' +
    'search see select send set share show sign start stop store switch test update upgrade upload use verify view write'
  ).split(' '),
)

function fromHeading(heading: string): string | undefined {
  if (/^(what|why|how|when|where|who|which|can|do|does|is|are|may|should)\b.*\?$/i.test(heading)) return heading
  const [first = '', ...rest] = heading.split(' ')
  if (/^how$/i.test(first) && rest[0] === 'to') return `How do I ${rest.slice(1).join(' ')}?`
  if (imperatives.has(first.toLowerCase()) && rest.length > 0 && rest[0] !== 'also')
    return `How do I ${inSentence(heading)}?`
  return undefined
}

/** What a sentence can be about without its being clear from the sentence alone. */
const pointing =
  /^(it|this|that|these|those|there|here|they|he|she|you|we|one|each|all|what|which|who|everything|nothing|the (?:following|same|other|latter|former|first|second|last|next|result|answer))\b/i

function fromDefinition(content: string): string | undefined {
  const prose = content.replaceAll(/```[^]*?```/g, '').replaceAll(/^(#|\||>|\s*[-*+\d]).*$/gm, '')
  for (const paragraph of prose.split(/\n\s*\n/)) {
    const match =
      /^((?:(?:an?|the) )?[\p{L}\p{N}'’-]+(?: [\p{L}\p{N}'’-]+){0,2}) (is|are) (?:an?|the|what|how) /iu.exec(
        plain(paragraph).trim(),
      )
    const [, subject = '', verb = ''] = match ?? []
    if (subject !== '' && !pointing.test(subject)) return `What ${verb} ${inSentence(subject)}?`
  }
  return undefined
}

/** Words as they stand inside a sentence: a capital at the beginning is the sentence's, unless it is a name's. */
function inSentence(words: string): string {
  const [first = '', ...rest] = words.split(' ')
  if (/^(an?|the)$/i.test(first) || imperatives.has(first.toLowerCase())) return lowered(words)
  // A second capital, or a lone word that is no ordinary plural or noun of doing, makes a name.
  if (/[A-Z0-9]/.test(words.slice(1))) return words
  return rest.length > 0 || /(s|ing|tion|ment|ity|ance|ence)$/.test(first) ? lowered(words) : words
}

const lowered = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1)

const plain = (markdown: string): string =>
  markdown
    .replaceAll(/[*_`]/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
