import { isJsonObject } from '@inlay/protocol'
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
  type TextCall,
} from './text-call-formats.ts'
import { overlapOf } from './think-tags.ts'

export interface TextGateOptions {
  /** Names of the tools offered in this step. */
  readonly names: ReadonlySet<string>
  /** Whether calls written as text become calls. */
  readonly mayRecover: boolean
  /** Whether a text that looks like a call is quoted from the prompt. Default: it never is. */
  readonly isQuoted?: (text: string) => boolean
}

// A whole call is short; longer text is an answer that only looks like a call.
const maxCallLength = 8_192
// A call names its tool early.
const maxNameLength = 300

/** Classification of text at the beginning of a line. */
type Verdict =
  | { readonly kind: 'more' }
  | { readonly kind: 'text'; readonly length: number }
  | { readonly kind: 'calls'; readonly calls: readonly TextCall[]; readonly length: number }

const more: Verdict = { kind: 'more' }

/** Opening tags of closing ones, for texts that contain both. */
const startOf: Readonly<Record<string, string>> = {
  '</s>': '<s>',
  '</answer>': '<answer>',
  '</response>': '<response>',
}
const anyOpening = new RegExp(callMarkups.map(({ opening }) => opening.replace(/[[|\]]/g, '\\$&')).join('|'))
const awaited = [...callMarkups.map(({ opening }) => opening), ...endSigns, ...Object.values(startOf)]
const anyName = { has: () => true }

/**
 * Removes call markup from the text of one step while it streams, and finds calls written as text. Text behind a call
 * is dropped, since models invent the results of their calls there.
 */
export class TextGate {
  readonly #names: ReadonlySet<string>
  readonly #watches: boolean
  readonly #isQuoted: (text: string) => boolean
  readonly #calls: TextCall[] = []
  #held = ''
  /** Position up to which every closing bracket of the held text was tried as the end of a Python call. */
  #tried = 0
  #markup: CallMarkup | undefined
  #isLineStart = true
  #isInFence = false
  #hasBegun = false
  /** End tag of the tag that was removed from the beginning. */
  #dropped = ''
  /** Opening tags that were shown, so that their end tags are shown too. */
  readonly #started = new Set<string>()
  /** Beginnings of calls without markup; `#namedHeads` are those whose arguments are JSON. */
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

  /** Whether text without `<`, `[`, backticks and line ends passes unchanged. */
  get isPlain(): boolean {
    return this.#hasBegun && !this.#isLineStart && this.#held === '' && !this.#markup && this.#calls.length === 0
  }

  /** Takes a piece of text; returns the text that can be shown by now. */
  push(text: string): string {
    this.#held += text
    return this.#take(false)
  }

  /** Ends the text: returns the rest to show, and the calls in it. */
  end(): { text: string; calls: readonly TextCall[] } {
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

  /** Removes a tag from the beginning; false while the beginning may still become one. */
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

  /** Moves text from the held to the shown part. */
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
    // Some models write calls between the tags in which a template shows them their tools.
    const isShownToModel = markup.opening === '<tools>' && !/"arguments"\s*:/.test(text.replace(/"parameters"[^]*/, ''))
    if (this.#watches && !isShownToModel && !this.#isQuoted(text)) {
      const calls = readTextCalls(text, this.#names)
      const mayBeStrange = this.#isLineStart && !this.#isInFence && markup.opening !== '<tools>'
      // Calls of unknown tools are kept, so that the model receives an error.
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
    // All markers begin with these; most text contains neither.
    if (!/[<[]/.test(this.#held)) return { at: this.#held.length, kind: 'wait' }
    const overlap = Math.max(...awaited.map((sign) => overlapOf(this.#held, sign)))
    const clear = this.#held.slice(0, this.#held.length - overlap)
    return { at: this.#endSignsAt(clear), kind: 'wait' }
  }

  /** Index of the first line in the held text that begins in `part` and could be a call; -1 when none could. */
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
    if (text.length > maxCallLength) return { kind: 'text', length: 1 }
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
      return text.length > maxNameLength && bracket === -1 ? { kind: 'text', length: 1 } : more
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
    // Without arguments it is a call only if nothing follows.
    const { value } = literal
    const isSure = !isJsonObject(value) || argumentsOf(value) !== undefined || isJsonObject(value['function'])
    const rest = text.slice(literal.end).trim()
    if (isSure || (ended && rest === '')) return { kind: 'calls', calls, length: literal.end }
    return rest === '' ? more : { kind: 'text', length: literal.end }
  }

  #isTooLate(text: string): boolean {
    const head = text.slice(0, maxNameLength)
    return text.length > maxNameLength && ![...this.#names].some((name) => head.includes(name))
  }
}
