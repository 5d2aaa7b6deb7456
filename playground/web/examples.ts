/** How many example questions are offered. */
const offered = 4

/**
 * Questions to begin with, made from titles of indexed documents: a title that is a question stays one, others are
 * asked about. Takes titles spread over the whole list, so that not all come from its beginning. [] without titles.
 */
export function exampleQuestions(titles: readonly string[]): readonly string[] {
  const usable = [...new Set(titles.map((title) => title.trim()))].filter(
    (title) => title.length >= 3 && title.length <= 60,
  )
  const step = Math.max(1, usable.length / offered)
  const chosen: string[] = []
  for (let at = 0; at < usable.length && chosen.length < offered; at += step) {
    const title = usable[Math.floor(at)]
    if (title !== undefined) chosen.push(questionOf(title))
  }
  return chosen
}

function questionOf(title: string): string {
  if (title.endsWith('?')) return title
  const [first = '', ...rest] = title.split(' ')
  const remainder = rest.join(' ')
  if (/^how to$/i.test(`${first} ${rest[0] ?? ''}`)) return `How do I ${rest.slice(1).join(' ')}?`
  // A lone capital at the beginning is the sentence's; more of them make a name, which keeps them.
  const isName = /[A-Z]/.test(title.slice(1))
  const inSentence = isName ? title : title.charAt(0).toLowerCase() + title.slice(1)
  if (/^\w{3,}ing$/i.test(first) && remainder !== '') return `How does ${inSentence} work?`
  return `What should I know about ${inSentence}?`
}
