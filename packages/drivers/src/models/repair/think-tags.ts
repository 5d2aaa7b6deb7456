/** A piece of a model's output: reasoning or text. */
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
// These also begin a thought in the middle of a text.
const openingsAnywhere = ['<think>', '<|channel|>analysis<|message|>']
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
  /** Whether the text began inside a thought, so that only the closing tag was there. */
  beganInThought = false
  #held = ''
  #state: 'start' | 'held' | 'thought' | 'text'
  #closings: readonly string[] = closings
  /** Reasoning of a text that is assumed to begin inside a thought. */
  #supposed: string | undefined
  /** Whitespace behind a closing tag is dropped. */
  #trims = false

  /**
   * @param startsInThought whether the model is known to begin inside a thought: text up to the closing tag is
   * reasoning
   */
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
    return this.#read(false)
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
      else pieces.push(...this.#readText(ended))
      if (this.#state === state && this.#held.length === before) return pieces.filter(({ text }) => text !== '')
      if (this.#held === '') return pieces.filter(({ text }) => text !== '')
    }
  }

  #decide(ended: boolean): void {
    const start = this.#held.trimStart()
    const opening = openings.find((tag) => start.startsWith(tag))
    if (opening) this.#enterThought(opening, this.#held.indexOf(opening))
    else if (!ended && (start === '' || openings.some((tag) => tag.startsWith(start)))) return
    else if (thoughtful.test(start) || bareAnalysis.test(start)) this.#state = 'held'
    else if (!ended && mayBeThought(start)) return
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
    if (close) {
      this.beganInThought = true
      return this.#close('reasoning', close)
    }
    if (ended || this.#held.length > maxHeld) this.#state = 'text'
    return []
  }

  #readThought(ended: boolean): ThinkPiece[] {
    const close = firstOf(this.#held, this.#closings)
    if (close) {
      if (this.#supposed !== undefined && !this.#supposed.startsWith(wordOpening)) this.beganInThought = true
      return this.#close('reasoning', close)
    }
    return this.#release('reasoning', ended ? [] : [...this.#closings, ...(this.#supposed === '' ? openings : [])])
  }

  #readText(ended: boolean): ThinkPiece[] {
    const close = firstOf(this.#held, closings.slice(0, 1))
    const opening = firstOf(this.#held, openingsAnywhere)
    if (opening && (!close || opening.at < close.at)) {
      const text = this.#held.slice(0, opening.at)
      this.#enterThought(opening.tag, opening.at)
      return [{ kind: 'text', text }]
    }
    if (close) {
      this.beganInThought = true
      return this.#close('text', close)
    }
    return this.#release('text', ended ? [] : [...closings.slice(0, 1), ...openingsAnywhere])
  }

  /** Ends a stretch at a closing tag. */
  #close(kind: ThinkPiece['kind'], { at, tag }: { readonly at: number; readonly tag: string }): ThinkPiece[] {
    const text = this.#withoutOpening(this.#held.slice(0, at)).replace(bareAnalysis, '')
    this.#held = this.#held.slice(at + tag.length)
    this.#state = 'text'
    this.#supposed = undefined
    this.#trims = true
    return [{ kind, text }]
  }

  /** Releases everything that cannot be the beginning of a tag. */
  #release(kind: ThinkPiece['kind'], awaited: readonly string[]): ThinkPiece[] {
    const overlap = Math.max(0, ...awaited.map((tag) => overlapOf(this.#held, tag)))
    let text = this.#withoutOpening(this.#held.slice(0, this.#held.length - overlap))
    this.#held = this.#held.slice(this.#held.length - overlap)
    if (kind === 'text' && this.#trims) text = text.trimStart()
    if (kind === 'text' && text !== '') this.#trims = false
    if (this.#supposed !== undefined) this.#supposed += text
    return [{ kind, text }]
  }

  /** A text assumed to begin inside a thought may still have the opening tag. */
  #withoutOpening(text: string): string {
    const opening = this.#supposed === '' ? openings.find((tag) => text.trimStart().startsWith(tag)) : undefined
    return opening ? text.trimStart().slice(opening.length) : text
  }
}

function firstOf(text: string, wanted: readonly string[]): { readonly at: number; readonly tag: string } | undefined {
  return wanted
    .map((tag) => ({ at: text.indexOf(tag), tag }))
    .filter(({ at }) => at !== -1)
    .toSorted((a, b) => a.at - b.at)[0]
}

/** Number of characters at the end of the text that could be the beginning of the word. */
export function overlapOf(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (word.startsWith(text.slice(text.length - length))) return length
  }
  return 0
}
