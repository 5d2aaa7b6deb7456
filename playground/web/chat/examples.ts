/** How many example questions are offered, and of how many documents the best are chosen. */
const offered = 4
const read = 10

/** What an example question is made of. */
export interface ExampleSource {
  readonly title: string
  /** Markdown of the document, or of parts of it. */
  readonly content: string
}

/** Titles of up to ten documents, spread over the whole list; those that cannot stand in a question are left out. */
export function exampleTitles(titles: readonly string[]): readonly string[] {
  const usable = [...new Set(titles)].filter((title) => title.length >= 3 && title.length <= 60)
  if (usable.length <= read) return usable
  return Array.from({ length: read }, (_, at) => usable[Math.floor((at * usable.length) / read)]!)
}

/**
 * Up to four questions that the documents can answer, made without a model: from a heading that asks or tells how to
 * do something, from a sentence that says what something is, and only then from a title alone.
 */
export function exampleQuestions(sources: readonly ExampleSource[]): readonly string[] {
  const created = sources.map(({ title, content }, at) => {
    const questions = [fromHeadings(content), fromDefinition(content)].filter((question) => question !== undefined)
    // In turns, so that not all sound alike.
    return { title, questions: at % 2 === 0 ? questions : questions.toReversed() }
  })
  const good = [0, 1].flatMap((choice) => created.flatMap(({ questions }) => questions[choice] ?? []))
  const isAskedAbout = (title: string): boolean => good.some((question) => question.includes(title))
  const plainest = created
    .filter(({ title, questions }) => questions.length === 0 && !isAskedAbout(title))
    .map(({ title }) => fromTitle(title))
  return [...new Set([...good, ...plainest])].slice(0, offered)
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

/** Words after which something is missing when a heading ends with them. */
const particles = new Set([
  'also',
  'ahead',
  'back',
  'down',
  'further',
  'here',
  'in',
  'it',
  'more',
  'next',
  'off',
  'on',
  'out',
  'this',
  'up',
])

function fromHeading(heading: string): string | undefined {
  if (/^(what|why|how|when|where|who|which|can|do|does|is|are|may|should)\b.*\?$/i.test(heading)) return heading
  const [first = '', ...rest] = heading.split(' ')
  if (/^how$/i.test(first) && rest[0] === 'to') return `How do I ${rest.slice(1).join(' ')}?`
  if (imperatives.has(first.toLowerCase()) && rest.length > 0 && !particles.has(rest.at(-1) ?? ''))
    return `How do I ${inSentence(heading)}?`
  return undefined
}

/** What a sentence can be about without its being clear from the sentence alone. */
const pointing =
  /^(it|this|that|these|those|there|here|they|he|she|you|we|one|each|all|what|which|who|everything|nothing|the (?:following|same|other|latter|former|first|second|last|next|result|answer))\b/i

const definition =
  /(?:^|[.!?] )((?:(?:An?|The) )?[\p{L}\p{N}'’-]+(?: [\p{Ll}\p{N}'’-]+){0,2}) (is|are) (?:an?|the|what|how) /gu

function fromDefinition(content: string): string | undefined {
  const prose = content.replaceAll(/```[^]*?```/g, '').replaceAll(/^(#|\||>|\s*([-*+]|\d+[.)])\s).*$/gm, '')
  for (const paragraph of prose.split(/\n\s*\n/)) {
    // Only at the beginning of a sentence: what stands before "is" elsewhere need not be its subject.
    for (const [, subject = '', verb = ''] of plain(paragraph).replaceAll(/\s+/g, ' ').matchAll(definition))
      if (!pointing.test(subject)) return `What ${verb} ${inSentence(subject)}?`
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
