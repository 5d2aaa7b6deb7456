/** What may stand before a fence: indentation, and the signs of quotes and list items. */
const beforeFence = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?$/
const maxHeadLength = 40

/** Follows a Markdown text and knows whether its end lies in code. */
export class CodeTracker {
  /** The run of backticks or tildes that opened the fence. */
  #fence = ''
  /** The run that opened inline code on this line. */
  #inline = ''
  /** The run at the end of the text, which may become longer. */
  #run = ''
  /** Its character: to look into a growing run would copy it with each piece. */
  #sign = ''
  /** The beginning of the line, without runs. */
  #head = ''
  /** The run that began this line, while only white space follows it; it closes a fence that it fits. */
  #closing = ''

  /** Whether a text that follows is in code; a run of backticks or tildes that follows may change that. */
  get isCode(): boolean {
    this.#endRun()
    return this.#fence !== '' || this.#inline !== ''
  }

  /** Whether text without backticks, tildes and line ends changes nothing. */
  get isPlain(): boolean {
    return this.#run === '' && this.#closing === '' && !beforeFence.test(this.#head)
  }

  add(text: string): void {
    for (const [token] of text.matchAll(/`+|~+|\n|[^`~\n]+/g)) {
      if (this.#run !== '' && token.startsWith(this.#sign)) {
        this.#run += token
        continue
      }
      this.#endRun()
      if (token === '\n') this.#endLine()
      else if (token.startsWith('`') || token.startsWith('~')) [this.#run, this.#sign] = [token, token.charAt(0)]
      else {
        if (token.trim() !== '') this.#closing = ''
        if (this.#head.length < maxHeadLength) this.#head += token.slice(0, maxHeadLength)
      }
    }
  }

  #endRun(): void {
    const run = this.#run
    if (run === '') return
    this.#run = ''
    const isFirst = beforeFence.test(this.#head)
    const isBacktick = run.startsWith('`')
    // A run is no beginning of a fence any more, however the line began: its length would grow with each run.
    this.#head = 'x'
    if (this.#fence !== '') {
      this.#closing = isFirst && run.startsWith(this.#fence) ? run : ''
    } else if (this.#inline !== '') {
      if (run === this.#inline) this.#inline = ''
    } else if (isFirst && run.length >= 3 && !isBacktick) this.#fence = run
    else if (isBacktick) {
      this.#inline = run
      // Backticks that follow on the line make it inline code.
      this.#opensFence = isFirst && run.length >= 3
      return
    }
    this.#opensFence = false
  }

  #opensFence = false

  #endLine(): void {
    if (this.#closing !== '') this.#fence = ''
    else if (this.#opensFence) this.#fence = this.#inline
    this.#inline = ''
    this.#closing = ''
    this.#opensFence = false
    this.#head = ''
  }
}
