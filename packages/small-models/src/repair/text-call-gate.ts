import { isJsonObject } from '@inlay/protocol'
import { CodeTracker } from './code-tracker.ts'
import { readKeywordArguments, readLiteral } from './lenient-json.ts'
import {
  argumentsOf,
  callMarkups,
  callsIn,
  endSigns,
  isMention,
  isMoreThanCall,
  markupEnd,
  mayBeMention,
  readPythonCalls,
  readTextCalls,
  startSigns,
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
const awaited = [...endSigns, ...Object.values(startOf)]
/** Behind markup or a call that a sentence is about. */
const sentence = /^[ \t]*[,.:)]|^[ \t]+\p{L}+[ \t]+\p{L}/u
const restOfSentence = /^(?:[ \t]*[,.:)]|[ \t]+\p{Ll})/u

/**
 * Finds calls written as text in the text of one step while it streams, and removes them. A call begins a line, is not
 * in code and names an offered tool; other text passes unchanged. Text behind a call is dropped, since models invent
 * the results of their calls there.
 */
export class TextGate {
  readonly #names: ReadonlySet<string>
  readonly #watches: boolean
  readonly #isQuoted: (text: string) => boolean
  readonly #calls: TextCall[] = []
  #held = ''
  /** Length of the held text that was judged last. */
  #judged = 0
  #isLineStart = true
  /** Whether nothing was shown yet. */
  #isEmpty = true
  readonly #code = new CodeTracker()
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
    return this.#hasBegun && !this.#isLineStart && this.#held === '' && this.#code.isPlain && this.#calls.length === 0
  }

  /** Takes a piece of text; returns the text that can be shown by now. */
  push(text: string): string {
    this.#held += text
    if (!this.#hasBegun && text.trim() === '') return ''
    // Judging a long text anew with each piece would take quadratic time.
    if (this.#held.length > maxCallLength && this.#held.length < this.#judged * 1.1) return ''
    const shown = this.#take(false)
    this.#judged = this.#held.length
    return shown
  }

  /** Ends the text: returns the rest to show, and the calls in it. */
  end(): { text: string; calls: readonly TextCall[] } {
    return { text: this.#take(true), calls: this.#calls.splice(0) }
  }

  #take(ended: boolean): string {
    let shown = ''
    if (!this.#hasBegun && !this.#begin(ended)) return ''
    const kept = this.#held.length - this.#plainEnd(ended)
    while (this.#held.length > 0) {
      const verdict = this.#judgeLine(ended)
      if (verdict?.kind === 'more') break
      if (verdict?.kind === 'calls' && !this.#isQuoted(this.#held.slice(0, verdict.length))) {
        this.#calls.push(...verdict.calls)
        this.#held = this.#held.slice(verdict.length)
        continue
      }
      const plain = Math.max(0, this.#held.length - kept)
      const lineEnd = this.#held.indexOf('\n') + 1
      const length = verdict?.length ?? (lineEnd > 0 && lineEnd < plain ? lineEnd : plain)
      shown += this.#show(length)
      if (length === plain && verdict === undefined) break
    }
    if (ended) this.#held = ''
    return shown
  }

  /** Removes a tag from the beginning; false while the beginning may still become one. */
  #begin(ended: boolean): boolean {
    const start = this.#held.trimStart()
    const signs = Object.keys(startSigns)
    if (!ended && (start === '' || signs.some((sign) => sign !== start && sign.startsWith(start)))) return false
    const sign = signs.find((known) => start.startsWith(known))
    const rest = start.slice(sign?.length)
    const isTag = sign?.startsWith('<|') === false
    if (sign !== undefined && !ended && (rest.trim() === '' || (isTag && mayBeMention(rest)))) return false
    this.#hasBegun = true
    if (sign === undefined || (isTag && isMention(sign, start)) || this.#isQuoted(sign)) return true
    this.#held = rest.trimStart()
    this.#dropped = startSigns[sign] ?? ''
    return true
  }

  /** Length of the held text without tokens at its end that end a turn, or may become such. */
  #plainEnd(ended: boolean): number {
    const text = this.#held
    const overlap = ended ? 0 : Math.max(...[...awaited, this.#dropped].map((sign) => overlapOf(text, sign)))
    const end = this.#endSignsAt(text.slice(0, text.length - overlap))
    return ended && end < text.length && this.#isQuoted(text.slice(end)) ? text.length : end
  }

  /** Position of trailing end tokens; the length of the text if there are none. */
  #endSignsAt(text: string): number {
    let rest = text.trimEnd()
    if (!rest.endsWith('>')) return text.length
    const signs = endSigns.filter((sign) => !this.#isShown(sign, text))
    let end = text.length
    for (;;) {
      const sign = signs.find((known) => rest.endsWith(known))
      if (sign === undefined) return end
      end = rest.length - sign.length
      rest = rest.slice(0, end).trimEnd()
    }
  }

  #isShown(sign: string, text: string): boolean {
    const start = startOf[sign]
    return start !== undefined && (this.#started.has(start) || text.includes(start))
  }

  #show(length: number): string {
    const text = this.#held.slice(0, length)
    if (text === '') return ''
    for (const start of Object.values(startOf)) if (text.includes(start)) this.#started.add(start)
    this.#held = this.#held.slice(length)
    this.#code.add(text)
    const line = text.slice(text.lastIndexOf('\n') + 1)
    this.#isLineStart = (text.includes('\n') || this.#isLineStart) && line.trim() === ''
    if (this.#calls.length > 0) return ''
    this.#isEmpty &&= text.trim() === ''
    if (this.#dropped === '' || this.#isShown(this.#dropped, text) || !text.includes(this.#dropped)) return text
    const answer = text.replace(this.#dropped, '')
    this.#dropped = ''
    return answer
  }

  /** What the held text is; undefined if no call begins it. */
  #judgeLine(ended: boolean): Verdict | undefined {
    if (!this.#watches || !this.#isLineStart || this.#code.isCode) return undefined
    // More spaces make it code.
    const [indent = ''] = /^ {0,3}/.exec(this.#held) ?? []
    const text = this.#held.slice(indent.length)
    const mayBeMarkup = callMarkups.some(({ opening }) => opening !== text && opening.startsWith(text))
    if (mayBeMarkup) return ended ? undefined : more
    const markup = callMarkups.find(({ opening }) => text.startsWith(opening))
    const verdict = markup ? this.#judgeMarkup(text, markup, ended) : this.#judgeBare(text, ended)
    return verdict && verdict.kind !== 'more' ? { ...verdict, length: indent.length + verdict.length } : verdict
  }

  #judgeMarkup(text: string, markup: CallMarkup, ended: boolean): Verdict {
    const mentioned: Verdict = { kind: 'text', length: markup.opening.length }
    if (sentence.test(text.slice(markup.opening.length, maxNameLength))) return mentioned
    const closed = markupEnd(text, markup)
    if ((closed ?? text.length) > maxNameLength && this.#isTooLate(text)) return mentioned
    if (closed === undefined && !ended) return more
    const end = closed ?? text.length
    const written = text.slice(0, end)
    const isWhole = markup.opening.startsWith('`')
    if (!isWhole && isMoreThanCall(written, closed !== undefined, this.#names)) return mentioned
    // Some models write calls between the tags in which a template shows them their tools.
    const isShownToModel =
      markup.opening === '<tools>' && !/"arguments"\s*:/.test(written.replace(/"parameters"[^]*/, ''))
    const calls = isShownToModel || (isWhole && !this.#isEmpty) ? [] : readTextCalls(written, this.#names)
    return accept(calls, text, end, ended, !isWhole)
  }

  #judgeBare(text: string, ended: boolean): Verdict | undefined {
    if (!this.#couldBeCall(text)) return undefined
    const verdict = this.#judge(text.slice(0, maxCallLength), ended)
    return verdict.kind === 'more' && text.length > maxCallLength ? { kind: 'text', length: 1 } : verdict
  }

  #couldBeCall(text: string): boolean {
    if (text.startsWith('{') || text.startsWith('[')) return true
    return this.#heads.some((head) => head.startsWith(text) || text.startsWith(head))
  }

  #judge(text: string, ended: boolean): Verdict {
    if (this.#namedHeads.some((head) => head.startsWith(text) || text.startsWith(head)))
      return this.#judgeNamed(text, ended)
    const isPython = /^(?:\[\s*)?[A-Za-z_]/.test(text)
    return isPython ? this.#judgePython(text, ended) : this.#judgeJson(text, ended)
  }

  #judgeNamed(text: string, ended: boolean): Verdict {
    const bracket = text.slice(0, maxNameLength).search(text.startsWith('functools[') ? /\[/ : /\{/)
    const head = this.#namedHeads.find((known) => text.startsWith(known)) ?? ''
    const between = text
      .slice(head.length, bracket)
      .replaceAll(/Action Input:|<\|constrain\|>|<\|message\|>|json|code/g, '')
    if (bracket !== -1 && between.trim() !== '') return { kind: 'text', length: 1 }
    const literal = bracket === -1 ? 'incomplete' : readLiteral(text, bracket)
    if (literal === 'incomplete' && !ended)
      return text.length > maxNameLength && bracket === -1 ? { kind: 'text', length: 1 } : more
    if (typeof literal !== 'object') return { kind: 'text', length: 1 }
    const calls = readTextCalls(text.slice(0, literal.end), this.#names)
    return calls.length > 0 ? accept(calls, text, literal.end, ended) : { kind: 'text', length: 1 }
  }

  #judgePython(text: string, ended: boolean): Verdict {
    const isList = text.startsWith('[')
    const plain: Verdict = { kind: 'text', length: 1 }
    if (!this.#couldBeCall(text.replace(/^\[\s*/, ''))) return plain
    for (let at = isList ? 1 : 0; ;) {
      const head = /[\s,;]*(print\()?[\w.]+\(/y
      head.lastIndex = at
      const match = head.exec(text)
      if (!match) return ended || !/^[\s,;]*[\w.]*$/.test(text.slice(at)) ? plain : more
      const literal = readKeywordArguments(text, at + match[0].length)
      if (typeof literal !== 'object') return literal === 'invalid' || ended ? plain : more
      const closing = isList ? /[\s,;]*\]/y : match[1] ? /\s*\)/y : /(?:)/y
      closing.lastIndex = at = literal.end
      if (!closing.test(text)) continue
      const calls = readPythonCalls(text.slice(0, closing.lastIndex), this.#names)
      return calls.length > 0 ? accept(calls, text, closing.lastIndex, ended) : plain
    }
  }

  #judgeJson(text: string, ended: boolean): Verdict {
    const literal = this.#isTooLate(text) ? 'invalid' : readLiteral(text)
    if (literal === 'invalid') return { kind: 'text', length: 1 }
    if (literal === 'incomplete') return ended ? { kind: 'text', length: text.length } : more
    const calls = callsIn(literal.value, this.#names)
    // Without arguments it is a call only if nothing follows.
    const { value } = literal
    const isSure = !isJsonObject(value) || argumentsOf(value) !== undefined || isJsonObject(value['function'])
    return accept(calls, text, literal.end, ended, isSure)
  }

  #isTooLate(text: string): boolean {
    const head = text.slice(0, maxNameLength)
    return text.length > maxNameLength && ![...this.#names].some((name) => head.includes(name))
  }
}

/** Unless a sentence goes on behind them, they are calls. @param isSure whether something else may follow */
function accept(calls: readonly TextCall[], text: string, length: number, ended: boolean, isSure = true): Verdict {
  const rest = text.slice(length)
  const isOpen = rest.trim() === '' && !(isSure && rest.includes('\n'))
  if (calls.length === 0 || (!isOpen && !isSure) || restOfSentence.test(rest)) return { kind: 'text', length }
  return isOpen && !ended ? more : { kind: 'calls', calls, length }
}
