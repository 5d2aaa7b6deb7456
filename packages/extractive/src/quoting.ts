import { lengthInWords, spaceless, wordPattern } from '@inlay/text'
import { headingOf, type ReadUnit, type SourcePassage } from './evidence.ts'

/** Inserts the citation before the punctuation mark that ends a sentence. */
export function cited(text: string, number: number | undefined): string {
  const clean = text.trim()
  if (number === undefined) return clean
  // After a closing quotation mark or parenthesis; otherwise before the full stop.
  const [, body = clean, mark = ''] = /^([\s\S]*[^.!?:;,…。！？：；，])([.!?:;,…。！？：；，]+)$/.exec(clean) ?? []
  return / …$|["”’)」』）》]$/.test(clean) || (mark === '' && spaceless.test(clean.slice(-1)))
    ? `${clean} [${number}]`
    : `${body} [${number}]${mark || '.'}`
}

/** A fenced code block; the fence is longer than any run of backticks in it. */
export function fenced(code: string, language = 'text'): string {
  const mark = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${mark}${language}\n${code}\n${mark}`
}

/** A unit with its citation: an item with its code, code with the sentence that introduces it. */
export function quoted({ unit, passage: { source } }: ReadUnit, text: string = unit.text): string {
  if (unit.kind === 'code') {
    const lead = unit.lead ?? `${unit.headings.at(-1) || source.title || 'For example'}:`
    return `${cited(lead, source.number)}\n\n${fenced(unit.text, unit.language)}`
  }
  const words = cited(text, source.number)
  return unit.code ? `${words}\n\n${fenced(unit.code.text, unit.code.language)}` : words
}

/** Units as a list, with the sentence that introduces it. */
export function quotedList(units: readonly ReadUnit[], leading: string | undefined = units[0]?.unit.lead): string {
  const lead = leading === undefined ? '' : `${leading}\n\n`
  const items = units.map((read) =>
    read.unit.code || read.unit.kind === 'code' ? `- ${quoted(read).replaceAll('\n', '\n  ')}` : `- ${quoted(read)}`,
  )
  return lead + items.join('\n')
}

/** Title and heading of a unit. */
export function placeOf(read: ReadUnit): string {
  const { title } = read.passage.source
  const heading = headingOf(read)
  return heading === '' || heading === title ? title : title === '' ? heading : `${title} › ${heading}`
}

/** Clause boundaries, at which a long sentence can be cut. */
const clauseEnd = /(?<=[,;:—，；：])\s*|(?<=\s)(?=[–(])/u

/**
 * A sentence with at most this many words; a longer one is cut to the consecutive clauses that answer best, with … at
 * the cuts.
 * @param worthOf how well a text answers, comparable among parts of one sentence
 */
export function shortened(text: string, maxWords: number, worthOf: (text: string) => number): string {
  if (lengthInWords(text) <= maxWords) return text
  const clauses = text.split(clauseEnd)
  const gap = spaceless.test(text) ? '' : ' '
  let best = { text: '', worth: -1, from: 0, to: 0 }
  for (let from = 0; from < clauses.length; from++)
    for (let to = from + 1; to <= clauses.length; to++) {
      const part = clauses
        .slice(from, to)
        .map((clause) => clause.trim())
        .join(gap)
      if (to > from + 1 && lengthInWords(part) > maxWords) break
      const worth = worthOf(part)
      if (worth > best.worth) best = { text: part, worth, from, to }
    }
  const isEnd = best.to === clauses.length
  return `${best.from > 0 ? '… ' : ''}${isEnd ? best.text : `${best.text.replace(/[,;:—–(，；：\s]+$/u, '')} …`}`
}

/** Only parts of longer texts are used, since ranking reads every word several times. */
const maxWholeCharacters = 4000
const maxCharacters = 60_000
const maxPatternWords = 50
const [partCharacters, maxPartCharacters] = [1000, 2000]

/** The passages, of which long ones are reduced to the parts that share a word with the question. */
export function relevantParts(question: string, passages: readonly SourcePassage[]): readonly SourcePassage[] {
  if (passages.every(({ content }) => content.length <= maxWholeCharacters)) return passages
  const words = [...new Set(question.match(wordPattern))].slice(0, maxPatternWords)
  const pattern = new RegExp(words.map((word) => word.replace(/[.+]/g, '\\$&')).join('|') || '(?!)', 'iu')
  let room = maxCharacters
  return passages.map((passage) => {
    if (passage.content.length <= maxWholeCharacters) return passage
    const content = thinned(passage.content, pattern, room)
    room -= content.length
    return { ...passage, content }
  })
}

function thinned(text: string, pattern: RegExp, room: number): string {
  if (text.length <= room) return text
  let kept = ''
  for (let start = 0; start < text.length && kept.length < room;) {
    const end = endOfPart(text, start)
    const part = text.slice(start, end)
    if (pattern.test(part)) kept += kept === '' || kept.endsWith('\n') ? part : `\n\n${part}`
    start = end
  }
  return (kept || text).slice(0, Math.max(room, 0))
}

/** After a paragraph if possible, otherwise after a line, otherwise after a space. */
function endOfPart(text: string, start: number): number {
  const within = text.slice(start + partCharacters, start + maxPartCharacters)
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = within.indexOf(mark)
    if (at !== -1) return start + partCharacters + at + mark.length
  }
  return Math.min(start + maxPartCharacters, text.length)
}
