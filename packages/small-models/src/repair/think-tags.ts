import { CodeTracker } from './code-tracker.ts'

export interface ThinkPiece {
  readonly kind: 'reasoning' | 'text'
  readonly text: string
}

const tags: readonly (readonly [opening: string, closing: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
  ['<|channel>thought', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
  ['<|start|>assistant<|channel|>analysis<|message|>', '<|end|>'],
  ['Here is my thought process:', 'Here is my response:'],
]
/** An ordinary answer may begin like this, without the closing words. */
const wordOpening = 'Here is my thought process:'
const openings = tags.map(([opening]) => opening)
// The last two are remains of the harmony format when servers drop its tokens.
const closings = [...tags.map(([, closing]) => closing), 'assistantfinal', 'assistantcommentary']
/** A closing tag ends a thought that nothing opened only behind a sentence or a line; elsewhere it is mentioned. */
const endOfSentence = /[\n.!?。！？]$/
/** What the text may not have before a closing tag of a model that is known to begin in a thought. */
const mention = /[ \t"'(]$/
/** How a sentence goes on behind an opening tag that it is about. */
const continuation = /^[ \t]+\p{Ll}/u
/** Remainder of an opening token whose markup was stripped. */
const bareAnalysis = /^analysis(?=[A-Z])/

// Typical beginnings of thoughts whose opening tag is part of the prompt. Such a text is held until a closing tag, or
// up to this length.
const thoughtful =
  /^(?:(?:okay|ok|alright|hmm)[,.]? (?:so|the user|let me|let's|i need|i should|first|we)\b|hmm\b|the user (?:is|asks|asked|wants|says|said|has|needs)\b|(?:we|i) need to (?:answer|find|figure|determine|look)\b|first, (?:i|let me|let's)\b|let me (?:think|analyze|break)\b)/i
const beginnings = [
  'analysis',
  'okay',
  'ok',
  'alright',
  'hmm',
  'the user ',
  'we need to ',
  'i need to ',
  'first, ',
  'let me ',
]
const maxBeginningLength = 24
const maxHeld = 6_000

function mayBeThought(start: string): boolean {
  const text = start.toLowerCase()
  return beginnings.some((beginning) =>
    text.length < beginning.length
      ? beginning.startsWith(text)
      : text.startsWith(beginning) && text.length < maxBeginningLength,
  )
}

/** Separates reasoning between tags from the text of one step. */
export class ThinkSplitter {
  #held = ''
  #state: 'start' | 'held' | 'thought' | 'text'
  /** Code in a thought that is only assumed. */
  readonly #code = new CodeTracker()
  /** The last character of the thought that was released. */
  #last = ''
  #hasThought = false
  #closings: readonly string[] = closings
  /** Reasoning of a text that is assumed to begin inside a thought. */
  #supposed: string | undefined
  /** Whitespace behind a closing tag is dropped. */
  #trims = false

  /** @param startsInThought whether the model is known to begin so: text up to the closing tag is reasoning */
  constructor(startsInThought: boolean) {
    this.#state = startsInThought ? 'thought' : 'start'
    if (startsInThought) this.#supposed = ''
  }

  /** Whether text without `<` passes unchanged. */
  get isPlain(): boolean {
    return this.#state === 'text' && this.#held === '' && !this.#trims && this.#supposed === undefined
  }

  /** Adds a piece of text. @returns the pieces that are final by now, in order */
  push(text: string): ThinkPiece[] {
    this.#held += text
    // White space alone may be endless: read anew with each piece, it would take quadratic time.
    return this.#state === 'start' && text.trim() === '' ? [] : this.#read(false)
  }

  end(): ThinkPiece[] {
    const pieces = this.#read(true)
    const supposed = this.#supposed
    this.#supposed = undefined
    // The text did not begin inside a thought, so this is the answer.
    return supposed === undefined ? pieces : [...pieces, { kind: 'text', text: supposed }]
  }

  #read(ended: boolean): ThinkPiece[] {
    const pieces: ThinkPiece[] = []
    for (;;) {
      const before = this.#held.length
      const state = this.#state
      if (state === 'start') this.#decide(ended)
      else if (state === 'held') pieces.push(...this.#readHeld(ended))
      else if (state === 'thought') pieces.push(...this.#readThought(ended))
      else pieces.push(...this.#release('text', []))
      if (this.#state === state && this.#held.length === before) return pieces.filter(({ text }) => text !== '')
      if (this.#held === '') return pieces.filter(({ text }) => text !== '')
    }
  }

  /** A thought begins at the start of the text, or directly behind another one. */
  #decide(ended: boolean): void {
    const start = this.#held.trimStart()
    const opening = openings.find((tag) => start.startsWith(tag))
    const rest = start.slice(opening?.length)
    if (opening && opening !== wordOpening && continuation.test(rest)) this.#state = 'text'
    else if (opening && (ended || rest.trim() !== '' || rest.includes('\n')))
      this.#enterThought(opening, this.#held.indexOf(opening))
    else if (!ended && (start === '' || opening || openings.some((tag) => tag.startsWith(start)))) return
    else if (!this.#hasThought && (thoughtful.test(start) || bareAnalysis.test(start))) this.#state = 'held'
    else if (!this.#hasThought && !ended && mayBeThought(start)) return
    else this.#state = 'text'
  }

  #enterThought(opening: string, at: number): void {
    this.#held = this.#held.slice(at + opening.length)
    this.#closings = [closings[openings.indexOf(opening)] ?? '']
    if (opening === wordOpening) this.#supposed = opening
    this.#state = 'thought'
  }

  #readHeld(ended: boolean): ThinkPiece[] {
    const close = firstOf(this.#held, closings)
    if (close && isLoneClosing(this.#held.slice(0, close.at))) return this.#close(close)
    if (close || ended || this.#held.length > maxHeld) this.#state = 'text'
    return []
  }

  #readThought(ended: boolean): ThinkPiece[] {
    const close = firstOf(this.#held, this.#closings)
    if (!close)
      return this.#release('reasoning', ended ? [] : [...this.#closings, ...(this.#supposed === '' ? openings : [])])
    const before = this.#held.slice(0, close.at)
    const isOpened = this.#closings.length === 1
    const last = this.#last + before
    const next = this.#held.charAt(before.length + close.tag.length)
    if (isOpened && last.endsWith('`') && next === '' && !ended) return []
    this.#code.add(before)
    const isMentioned = isOpened ? last.endsWith('`') && next === '`' : this.#code.isCode || mention.test(last)
    if (!isMentioned) return this.#close(close)
    this.#code.add(close.tag)
    this.#last = close.tag.slice(-1)
    const text = before + close.tag
    this.#held = this.#held.slice(text.length)
    if (this.#supposed !== undefined) this.#supposed += text
    return [{ kind: 'reasoning', text }]
  }

  /** Ends a stretch at a closing tag. */
  #close({ at, tag }: { readonly at: number; readonly tag: string }): ThinkPiece[] {
    const text = this.#withoutOpening(this.#held.slice(0, at)).replace(bareAnalysis, '')
    this.#held = this.#held.slice(at + tag.length)
    this.#state = 'start'
    this.#hasThought = true
    this.#supposed = undefined
    this.#trims = true
    return [{ kind: 'reasoning', text }]
  }

  /** Releases everything that cannot be the beginning of a tag. */
  #release(kind: ThinkPiece['kind'], awaited: readonly string[]): ThinkPiece[] {
    const overlap = Math.max(0, ...awaited.map((tag) => overlapOf(this.#held, tag)))
    let text = this.#withoutOpening(this.#held.slice(0, this.#held.length - overlap))
    this.#held = this.#held.slice(this.#held.length - overlap)
    if (kind === 'text' && this.#trims) text = text.trimStart()
    if (kind === 'text' && text !== '') this.#trims = false
    if (kind === 'reasoning') {
      this.#last = text.slice(-1) || this.#last
      this.#code.add(text)
    }
    if (this.#supposed !== undefined) this.#supposed += text
    return [{ kind, text }]
  }

  /** A text assumed to begin inside a thought may still have the opening tag. */
  #withoutOpening(text: string): string {
    const opening = this.#supposed === '' ? openings.find((tag) => text.trimStart().startsWith(tag)) : undefined
    return opening ? text.trimStart().slice(opening.length) : text
  }
}

/** Whether a closing tag behind this text ends a thought that was not opened. */
const isLoneClosing = (before: string): boolean => {
  const code = new CodeTracker()
  code.add(before)
  return endOfSentence.test(before) && !code.isCode
}

/** Whether the text began inside a thought, so that only the closing tag is there. */
export function beganInThought(text: string): boolean {
  const before = text.slice(0, text.indexOf('</think>'))
  return text.includes('</think>') && !before.includes('<think>') && isLoneClosing(before)
}

/** One pattern for all tags: a search for each would read to the end for those that do not follow, behind every mention. */
const patternOf = (tags: readonly string[]): RegExp =>
  new RegExp(tags.map((tag) => tag.replaceAll(/[[\]|]/g, String.raw`\$&`)).join('|'))
const anyClosing = patternOf(closings)

function firstOf(text: string, wanted: readonly string[]): { readonly at: number; readonly tag: string } | undefined {
  const match = (wanted === closings ? anyClosing : patternOf(wanted)).exec(text)
  return match ? { at: match.index, tag: match[0] } : undefined
}

/** Number of characters at the end of the text that could be the beginning of the word. */
export function overlapOf(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (word.startsWith(text.slice(text.length - length))) return length
  }
  return 0
}
