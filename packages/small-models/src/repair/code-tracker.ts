import { createCodeTracker } from '@inlay/text'

/** What may stand before a fence: indentation, and the signs of quotes and list items. */
const beforeFence = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?$/
const maxHeadLength = 40

/** Follows a Markdown text and knows whether its end lies in code. */
export class CodeTracker {
  readonly #tracker = createCodeTracker()
  /** The run of backticks or tildes at the end of the text, which may become longer. */
  #run = ''
  /** Its character: to look into a growing run would copy it with each piece. */
  #sign = ''
  /** The beginning of the line, without runs. */
  #head = ''

  /** Whether a text that follows is in code; a run of backticks or tildes that follows may change that. */
  get isCode(): boolean {
    this.#endRun()
    return this.#tracker.covers('', false) !== false
  }

  /** Whether text without backticks, tildes and line ends changes nothing. */
  get isPlain(): boolean {
    return this.#run === '' && !beforeFence.test(this.#head)
  }

  add(text: string): void {
    for (const [token] of text.matchAll(/`+|~+|\n|[^`~\n]+/g)) {
      if (this.#run !== '' && token.startsWith(this.#sign)) {
        this.#run += token
        continue
      }
      this.#endRun(token.charAt(0))
      if (token === '\n') {
        this.#tracker.passLineEnd('')
        this.#head = ''
      } else if (token.startsWith('`') || token.startsWith('~')) [this.#run, this.#sign] = [token, token.charAt(0)]
      else if (this.#head.length < maxHeadLength) this.#head += token.slice(0, maxHeadLength)
    }
  }

  #endRun(next?: string): void {
    if (this.#run === '') return
    const startsLine = beforeFence.test(this.#head)
    this.#tracker.passRun({ char: this.#sign, length: this.#run.length, startsLine, next })
    this.#run = ''
    // A run is no beginning of a fence any more, however the line began: its length would grow with each run.
    this.#head = 'x'
  }
}
