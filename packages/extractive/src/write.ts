import type { Candidate } from './passages.ts'
import type { Group } from './select.ts'

const connective =
  /^(?:(?:however|also|so|but|and|therefore|thus|hence|additionally|moreover|furthermore|instead|similarly|finally|for example|for instance|in addition|in other words|in fact|note(?: that)?|rather|again|still|then|next|luckily|fortunately|unfortunately|now)[,:]?|as (?:already |we )?(?:discussed|mentioned|noted|described|shown|seen|saw)(?: earlier| above| before| previously| in [^,]{1,60})?,)\s+(?=\S)/i

/** A sentence that can open a paragraph: a first word that only ties it to what is not quoted is dropped. */
function asOpening(text: string): string {
  const bare = text.replace(connective, '')
  return bare === text ? text : bare.replace(/^[a-z]/, (letter) => letter.toUpperCase())
}

/** Puts the citation before the mark that ends a sentence. */
export function cited(text: string, number: number | undefined): string {
  const clean = text.trim()
  if (number === undefined) return clean
  // Behind a closing quotation mark or parenthesis; else before the full stop.
  const [, body = clean, mark = ''] = /^([\s\S]*[^.!?:;,…])([.!?:;,…]+)$/.exec(clean) ?? []
  return /["”’)]$/.test(clean) ? `${clean} [${number}]` : `${body} [${number}]${mark || '.'}`
}

const fenceFor = (code: string): string =>
  '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)))

function writeCode({ text, language, lead, passage, headings }: Candidate, said: string): string {
  const heading = /^(?:example|beispiel)\s*[\dA-Z]*\s*[:.–—-]\s*(\S.*)$/i.exec(headings.at(-1) ?? '')?.[1]
  const named = heading === undefined ? 'For example:' : `From the example “${heading.replace(/[.:]$/, '')}”:`
  const leading = lead !== undefined && !said.includes(lead.slice(0, -1)) ? lead : named
  return `${cited(leading, passage.number)}\n\n${fenced(text, language)}`
}

function fenced(code: string, language = 'text'): string {
  const mark = fenceFor(code)
  return `${mark}${language}\n${code}\n${mark}`
}

function writeGroup(units: readonly Candidate[], said: string): string {
  const [first] = units
  if (!first) return ''
  const number = first.passage.number
  if (first.kind === 'code') return writeCode(first, said)
  if (units.some(({ code }) => code !== undefined))
    return units
      .map(({ text, code }) =>
        code ? `${cited(text, number)}\n\n${fenced(code.text, code.language)}` : cited(text, number),
      )
      .join('\n\n')
  if (first.kind !== 'sentence' && (units.length > 1 || first.lead !== undefined)) {
    const lead =
      first.lead !== undefined && !said.includes(first.lead.slice(0, -1)) ? `${asOpening(first.lead)}\n\n` : ''
    return lead + units.map((unit) => `- ${cited(unit.text, number)}`).join('\n')
  }
  return units.map((unit, index) => cited(index === 0 ? asOpening(unit.text) : unit.text, number)).join(' ')
}

/** Writes what was selected as Markdown: sentences of one place in a paragraph, lists and code as such. */
export function write(groups: readonly Group[]): string {
  const parts: string[] = []
  for (const { units } of groups) parts.push(writeGroup(units, parts.join('\n')))
  return parts.filter((part) => part !== '').join('\n\n')
}
