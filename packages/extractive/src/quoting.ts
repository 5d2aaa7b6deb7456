import { lengthInWords, spaceless } from '@inlay/text'
import type { ReadUnit } from './page.ts'

/** Inserts the citation before the punctuation mark that ends a sentence. */
export function cited(text: string, number: number | undefined): string {
  const clean = text.trim()
  if (number === undefined) return clean
  // After a closing quotation mark, a parenthesis or several marks such as `...`; otherwise before the full stop.
  const [, body = clean, mark = ''] = /^([\s\S]*[^.!?:;,…。！？：；，])([.!?:;,…。！？：；，])$/.exec(clean) ?? []
  return /["”’)」』）》]$|[.!?:;,]{2}$/.test(clean) || (mark === '' && spaceless.test(clean.slice(-1)))
    ? `${clean} [${number}]`
    : `${body} [${number}]${mark || '.'}`
}

/** A fenced code block; the fence is longer than any run of backticks in it. */
function fenced(code: string, language = 'text'): string {
  const mark = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${mark}${language}\n${code}\n${mark}`
}

/** A unit with its citation: an item with its code, code with the sentence that introduces it. */
function quoted({ unit, heading, passage: { source } }: ReadUnit): string {
  const code = unit.kind === 'code' ? unit : unit.code
  const name = heading === '' || /[?？]$/.test(heading) ? 'For example' : heading
  const words = unit.kind === 'code' ? (unit.lead ?? `${name}:`) : unit.text
  return cited(words, source.number) + (code ? `\n\n${fenced(code.text, code.language)}` : '')
}

/** Whether items are successive steps of one passage. Only then are they shown with their numbers, as one instruction. */
const areSteps = (items: readonly ReadUnit[]): boolean =>
  items.every(
    ({ unit, passage, at }, index) =>
      unit.number !== undefined &&
      passage === items[0]?.passage &&
      at === items[0].at + index &&
      unit.number === items[0].unit.number! + index,
  )

/**
 * Units as on their page, in order and with … for what is left out: paragraphs, lists and commands, both with the
 * sentence that introduces them. A list that is too long says how many items are left out.
 * @returns undefined if there is no room for what has to be whole
 */
export function written(units: readonly ReadUnit[], room: number): string | undefined {
  const isListed = ({ unit: { kind }, isCommand }: ReadUnit): boolean =>
    units.length > 1 && !isCommand && (kind === 'item' || kind === 'row')
  const items = units.filter(isListed)
  const isNumbered = areSteps(items)
  let text = ''
  let more = 0
  for (const [at, read] of units.entries()) {
    const [before, next] = [units[at - 1], units[at + 1]]
    const isItem = before !== undefined && isListed(before) && isListed(read)
    const isLead = next !== undefined && next.lead === read
    // Code is written together with the sentence that introduces it.
    if (isLead && next.unit.kind === 'code') continue
    const quote = isListed(read) ? `${isNumbered ? `${read.unit.number}.` : '-'} ${quoted(read)}` : quoted(read)
    const isNext = before === undefined || (before.passage === read.passage && read.at - before.at === 1)
    const isSame = isNext && before?.unit.block === read.unit.block
    const gap = isSame ? (spaceless.test(quote) ? '' : ' ') : isItem ? '\n' : isNext ? '\n\n' : '\n\n…\n\n'
    const longer = text + (text === '' ? '' : gap) + (isLead ? read.unit.text : quote)
    if (lengthInWords(longer.replace(/\s?\[\d+\]|^- |^…$|^```\w*$/gm, '')) <= room) text = longer
    else if (isListed(read) && text !== '') more++
    else return undefined
  }
  return more > 0 ? `${text}\n- … ${more} more` : text
}
