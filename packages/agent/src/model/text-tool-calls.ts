import { isJsonObject } from '@inlay/protocol'
import type { RequestedCall } from './tool-loop.ts'
import { readLiteral } from './lenient-json.ts'
import {
  argumentsOf,
  callMarkups,
  callsIn,
  endSigns,
  isMention,
  markupEnd,
  mayBeMention,
  readPythonCalls,
  readTextCalls,
  startSigns,
  withoutFence,
  type CallMarkup,
} from './text-call-formats.ts'
import { overlapOf } from './think-tags.ts'

export interface TextGateOptions {
  /** Names of the actions offered in this step. */
  readonly names: ReadonlySet<string>
  /** Whether calls written as text become calls. */
  readonly mayRecover: boolean
  /** Whether a text that looks like a call is quoted from what the model read. Default: it never is. */
  readonly isQuoted?: (text: string) => boolean
}

// A whole call is short; text that goes on longer is an answer that happens to look like one.
const callLimit = 8_192
// A call names its tool early.
const nameLimit = 300

// Text that goes on longer is an answer, whatever it is made of.
const wordlessLimit = 300

/** Whether a text says anything besides numbers and what stands in square brackets. */
export const hasWord = (text: string): boolean =>
  text.length > wordlessLimit || /\p{L}/u.test(text.replace(/[[【［][^\]】］]*[\]】］]?/g, ''))

/** Classification of text at the beginning of a line. */
type Verdict =
  | { readonly kind: 'more' }
  | { readonly kind: 'text'; readonly length: number }
  | { readonly kind: 'calls'; readonly calls: readonly RequestedCall[]; readonly length: number }

const more: Verdict = { kind: 'more' }

/** Opening counterparts of closing markers, where a text shows them too. */
const startOf: Readonly<Record<string, string>> = {
  '</s>': '<s>',
  '</answer>': '<answer>',
  '</response>': '<response>',
}
const anyOpening = new RegExp(callMarkups.map(({ opening }) => opening.replace(/[[|\]]/g, '\\$&')).join('|'))
const awaited = [...callMarkups.map(({ opening }) => opening), ...endSigns, ...Object.values(startOf)]
const anyName = { has: () => true }

/**
 * Keeps call markup out of the text of one step while it streams, and finds calls that a model wrote as text. Text behind
 * a call is dropped: models invent the results of their calls there.
 */
export class TextGate {
  readonly #names: ReadonlySet<string>
  readonly #watches: boolean
  readonly #isQuoted: (text: string) => boolean
  readonly #calls: RequestedCall[] = []
  #held = ''
  /** Up to here every closing bracket of the held text was tried as the end of a Python call. */
  #tried = 0
  #markup: CallMarkup | undefined
  #isLineStart = true
  #isInFence = false
  #hasBegun = false
  /** End of a tag that was taken off the beginning. */
  #dropped = ''
  /** Start tags that were shown: their end tags are shown too. */
  readonly #started = new Set<string>()
  /** Prefixes of calls outside of markup and JSON, with whether their arguments are JSON. */
  readonly #heads: readonly string[]
  readonly #namedHeads: readonly string[]

  constructor({ names, mayRecover, isQuoted = () => false }: TextGateOptions) {
    this.#isQuoted = isQuoted
    this.#names = names
    this.#watches = mayRecover && names.size > 0
    this.#namedHeads = [
      'functools[',
      ...[...names].flatMap((name) => [`${name}\n{`, `>>>${name}\n{`, `Action: ${name}\n`, `to=functions.${name}`]),
    ]
    this.#heads = [...this.#namedHeads, ...[...names].flatMap((name) => [`${name}(`, `print(${name}(`])]
  }

  /** Takes a piece of text; returns what may be shown by now. */
  push(text: string): string {
    this.#held += text
    return this.#take(false)
  }

  /** Ends the text: returns the rest that may be shown, and the calls that stood in it. */
  end(): { text: string; calls: readonly RequestedCall[] } {
    return { text: this.#take(true), calls: this.#calls.splice(0) }
  }

  #take(ended: boolean): string {
    let shown = ''
    if (!this.#hasBegun && !this.#begin(ended)) return ''
    const end = ended && !this.#markup ? this.#endSignsAt(this.#held) : this.#held.length
    if (end < this.#held.length && !this.#isQuoted(this.#held.slice(end))) this.#held = this.#held.slice(0, end)
    while (this.#held !== '') {
      if (this.#markup) {
        if (!this.#takeMarkup(this.#markup, ended)) break
        continue
      }
      const stop = this.#nextStop(ended)
      shown += this.#show(stop.at)
      if (stop.kind === 'wait') break
      if (stop.kind === 'markup') this.#markup = stop.markup
      else if (stop.kind === 'candidate') {
        const verdict = this.#judge(ended)
        if (verdict.kind === 'more') break
        const isQuoted = verdict.kind === 'calls' && this.#isQuoted(this.#held.slice(0, verdict.length))
        if (verdict.kind === 'text' || isQuoted) shown += this.#show(verdict.length)
        else {
          this.#calls.push(...verdict.calls)
          this.#held = this.#held.slice(verdict.length)
          this.#tried = 0
        }
      }
    }
    return shown
  }

  /** Takes a sign off the beginning; false while it may still become one. */
  #begin(ended: boolean): boolean {
    const start = this.#held.trimStart()
    if (!ended && (start === '' || startSigns.some((sign) => sign !== start && sign.startsWith(start)))) return false
    const sign = startSigns.find((known) => start.startsWith(known))
    if (sign !== undefined && !ended && mayBeMention(start.slice(sign.length))) return false
    this.#hasBegun = true
    if (sign === undefined || isMention(sign, start) || this.#isQuoted(sign)) return true
    this.#held = start.slice(sign.length).trimStart()
    this.#dropped = sign.replace('<', '</')
    return true
  }

  /** Position of trailing end tokens; the length of the text if there are none. */
  #endSignsAt(text: string): number {
    let rest = text.trimEnd()
    if (!rest.endsWith('>')) return text.length
    const signs = endSigns.filter((sign) => !this.#isShown(sign, text))
    const last = (): string | undefined => signs.find((sign) => rest.endsWith(sign))
    let sign = last()
    if (sign === undefined) return text.length
    for (; sign !== undefined; sign = last()) rest = rest.slice(0, -sign.length).trimEnd()
    return rest.length
  }

  #isShown(sign: string, text: string): boolean {
    const start = startOf[sign]
    return start !== undefined && (this.#started.has(start) || text.includes(start))
  }

  /** Moves text from what is held to what is shown. */
  #show(length: number): string {
    const text = this.#held.slice(0, length)
    if (text === '') return ''
    for (const start of Object.values(startOf)) if (text.includes(start)) this.#started.add(start)
    this.#held = this.#held.slice(length)
    this.#tried = 0
    for (const [fence] of text.matchAll(/(?<=^|\n)[ \t]*```/g)) if (fence) this.#isInFence = !this.#isInFence
    const line = text.slice(text.lastIndexOf('\n') + 1)
    this.#isLineStart = (text.includes('\n') || this.#isLineStart) && line.trim() === ''
    if (this.#calls.length > 0) return ''
    return this.#isShown(this.#dropped, text) ? text : text.replace(this.#dropped, '')
  }

  #takeMarkup(markup: CallMarkup, ended: boolean): boolean {
    const end = markupEnd(this.#held, markup, ended)
    if (end === undefined) return false
    const text = this.#held.slice(0, end)
    // Some models call between the tags in which a template shows them their tools.
    const isShownToModel = markup.opening === '<tools>' && !/"arguments"\s*:/.test(text.replace(/"parameters"[^]*/, ''))
    if (this.#watches && !isShownToModel && !this.#isQuoted(text)) {
      const calls = readTextCalls(text, this.#names)
      const mayBeStrange = this.#isLineStart && !this.#isInFence && markup.opening !== '<tools>'
      // The model is told of a name that is not offered.
      this.#calls.push(...(calls.length > 0 || !mayBeStrange ? calls : readTextCalls(text, anyName)))
    }
    this.#held = this.#held.slice(end)
    this.#tried = 0
    this.#markup = undefined
    return true
  }

  /** End of the text known to be plain, and what follows it. */
  #nextStop(
    ended: boolean,
  ):
    | { readonly at: number; readonly kind: 'wait' | 'candidate' }
    | { readonly at: number; readonly kind: 'markup'; readonly markup: CallMarkup } {
    const first = anyOpening.exec(this.#held)
    const markup = callMarkups.find(({ opening }) => opening === first?.[0])
    const candidate = this.#candidateAt(first ? this.#held.slice(0, first.index) : this.#held)
    if (first && markup && candidate === -1) return { at: first.index, markup, kind: 'markup' }
    if (candidate !== -1) return { at: candidate, kind: 'candidate' }
    if (ended) return { at: this.#held.length, kind: 'wait' }
    // All of them begin so; most text has no such character.
    if (!/[<[]/.test(this.#held)) return { at: this.#held.length, kind: 'wait' }
    const overlap = Math.max(...awaited.map((sign) => overlapOf(this.#held, sign)))
    const clear = this.#held.slice(0, this.#held.length - overlap)
    return { at: this.#endSignsAt(clear), kind: 'wait' }
  }

  /** Index of the first line of what is held that could be a call and begins in this part; -1 when none could. */
  #candidateAt(part: string): number {
    if (!this.#watches || this.#isInFence) return -1
    const starts = /(?<=^|\n)[ \t]*(?=[[{`>A-Za-z_])/g
    for (const match of part.matchAll(starts)) {
      if (match.index === 0 && !this.#isLineStart) continue
      const at = match.index + match[0].length
      if (this.#couldBeCall(this.#held.slice(at))) return at
    }
    return -1
  }

  #couldBeCall(text: string): boolean {
    if (callMarkups.some(({ opening }) => opening.startsWith(text) || text.startsWith(opening))) return false
    if (text.startsWith('{') || text.startsWith('[')) return true
    if (text.startsWith('`')) return '```'.startsWith(text.slice(0, 3))
    return this.#heads.some((head) => head.startsWith(text) || text.startsWith(head))
  }

  #judge(ended: boolean): Verdict {
    const text = this.#held
    if (text.length > callLimit) return { kind: 'text', length: 1 }
    if (text.startsWith('`')) return this.#judgeFence(text, ended)
    if (this.#namedHeads.some((head) => head.startsWith(text) || text.startsWith(head)))
      return this.#judgeNamed(text, ended)
    const isPython = /^(?:\[\s*)?[A-Za-z_]/.test(text)
    return isPython ? this.#judgePython(text, ended) : this.#judgeJson(text, ended)
  }

  #judgeFence(text: string, ended: boolean): Verdict {
    const head = /^```[\w-]*[ \t]*\n?/.exec(text)
    if (!head) return ended || text.length >= 3 ? { kind: 'text', length: text.length } : more
    const body = text.slice(head[0].length)
    if (body.trim() === '' && !ended) return more
    const isCall = this.#couldBeCall(body.trimStart()) && !body.startsWith('`') && !this.#isTooLate(body)
    if (!isCall) return { kind: 'text', length: head[0].length }
    const close = body.indexOf('```')
    if (close === -1 && !ended) return more
    const length = close === -1 ? text.length : head[0].length + close + 3
    const calls = readTextCalls(withoutFence(text.slice(0, length)), this.#names)
    return calls.length > 0 ? { kind: 'calls', calls, length } : { kind: 'text', length }
  }

  #judgeNamed(text: string, ended: boolean): Verdict {
    const bracket = text.search(text.startsWith('functools[') ? /\[/ : /\{/)
    const literal = bracket === -1 ? 'incomplete' : readLiteral(text, bracket)
    if (literal === 'incomplete' && !ended)
      return text.length > nameLimit && bracket === -1 ? { kind: 'text', length: 1 } : more
    if (typeof literal !== 'object') return { kind: 'text', length: 1 }
    const calls = readTextCalls(text.slice(0, literal.end), this.#names)
    return calls.length > 0 ? { kind: 'calls', calls, length: literal.end } : { kind: 'text', length: 1 }
  }

  #judgePython(text: string, ended: boolean): Verdict {
    const close = text.startsWith('[') ? ']' : ')'
    if (!this.#couldBeCall(text.replace(/^\[\s*/, ''))) return { kind: 'text', length: 1 }
    for (let at = text.indexOf(close, this.#tried); at !== -1; at = text.indexOf(close, at + 1)) {
      const calls = readPythonCalls(text.slice(0, at + 1), this.#names)
      if (calls.length > 0) return { kind: 'calls', calls, length: at + 1 }
      this.#tried = at + 1
    }
    return ended ? { kind: 'text', length: 1 } : more
  }

  #judgeJson(text: string, ended: boolean): Verdict {
    const literal = this.#isTooLate(text) ? 'invalid' : readLiteral(text)
    if (literal === 'invalid') return { kind: 'text', length: 1 }
    if (literal === 'incomplete') return ended ? { kind: 'text', length: text.length } : more
    const calls = callsIn(literal.value, this.#names)
    if (calls.length === 0) return { kind: 'text', length: literal.end }
    // Without arguments it is a call only where nothing follows.
    const { value } = literal
    const isSure = !isJsonObject(value) || argumentsOf(value) !== undefined || isJsonObject(value['function'])
    const rest = text.slice(literal.end).trim()
    if (isSure || (ended && rest === '')) return { kind: 'calls', calls, length: literal.end }
    return rest === '' ? more : { kind: 'text', length: literal.end }
  }

  #isTooLate(text: string): boolean {
    const head = text.slice(0, nameLimit)
    return text.length > nameLimit && ![...this.#names].some((name) => head.includes(name))
  }
}
