import { spaceless } from '@inlay/text'
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
export function quoted({ unit, heading, passage: { source } }: ReadUnit): string {
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

const maxListed = 15

/**
 * Units as on their page, in order and with … for what is left out: paragraphs, lists and commands, both with the
 * sentence that introduces them.
 */
export function written(units: readonly ReadUnit[]): string {
  const isListed = ({ unit: { kind }, isCommand }: ReadUnit): boolean =>
    units.length > 1 && !isCommand && (kind === 'item' || kind === 'row')
  let text = ''
  let listed = 0
  let isNumbered = false
  for (const [at, read] of units.entries()) {
    const [before, next] = [units[at - 1], units[at + 1]]
    const isItem = before !== undefined && isListed(before) && isListed(read)
    if (isListed(read) && !isItem) {
      const end = units.findIndex((later, index) => index > at && !isListed(later))
      isNumbered = areSteps(units.slice(at, end === -1 ? undefined : end))
    }
    const isLead = next !== undefined && next.lead === read
    // Code is written together with the sentence that introduces it.
    if ((isLead && next.unit.kind === 'code') || (isListed(read) && ++listed > maxListed)) continue
    const quote = isListed(read) ? `${isNumbered ? `${read.unit.number}.` : '-'} ${quoted(read)}` : quoted(read)
    const isNext = before === undefined || (before.passage === read.passage && read.at - before.at === 1)
    const isSame = isNext && before?.unit.block === read.unit.block
    const gap = isSame ? (spaceless.test(quote) ? '' : ' ') : isItem ? '\n' : isNext ? '\n\n' : '\n\n…\n\n'
    text += (text === '' ? '' : gap) + (isLead ? read.unit.text : quote)
  }
  return listed > maxListed ? `${text}\n- … ${listed - maxListed} more` : text
}

/** Title and heading of a unit, and what replaces its page. */
export function placeOf({ heading, passage: { source } }: ReadUnit): string {
  const place = [...new Set([source.title, heading])].filter((name) => name !== '').join(' › ')
  return source.replacedBy ? `${place} (older version of ${source.replacedBy})` : place
}
