/** A value at the beginning of a text, and the index after it. */
export type LiteralMatch = { readonly value: unknown; readonly end: number } | 'incomplete' | 'invalid'

const words: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  null: null,
  True: true,
  False: false,
  None: null,
}
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

// No tool arguments are nested deeper. Bounds the stack, and the work for brackets that begin no literal.
const deepest = 64

// Created once: a stack trace per bracket of a long text would take seconds.
const incomplete = new Error('incomplete')
const invalid = new Error('invalid')

/** JSON or Python: texts in either kind of quotes, numbers, lists, objects, `True`, `None`, trailing commas. */
export function readLiteral(text: string, start = 0): LiteralMatch {
  return readWith(new LiteralReader(text, start), (reader) => reader.value())
}

/** Reads `name=literal` pairs up to the closing parenthesis; `start` is the index behind the opening one. */
export function readKeywordArguments(text: string, start: number): LiteralMatch {
  return readWith(new LiteralReader(text, start), (reader) => reader.keywords())
}

function readWith(reader: LiteralReader, read: (reader: LiteralReader) => unknown): LiteralMatch {
  try {
    return { value: read(reader), end: reader.at }
  } catch (error) {
    if (error === incomplete) return 'incomplete'
    if (error === invalid) return 'invalid'
    throw error
  }
}

class LiteralReader {
  readonly #text: string
  at: number
  #depth = 0

  constructor(text: string, start: number) {
    this.#text = text
    this.at = start
  }

  value(): unknown {
    const char = this.#next()
    if (char === '{' || char === '[') return this.#nested(char)
    if (char === '"' || char === "'") return this.#quoted(char)
    const word = /[\w.+-]+/y
    word.lastIndex = this.at
    const [match] = word.exec(this.#text) ?? []
    if (match === undefined) throw invalid
    this.at += match.length
    if (Object.hasOwn(words, match)) return words[match]
    if (/^-?\d/.test(match) && Number.isFinite(Number(match))) return Number(match)
    // A word or number that may continue.
    if (this.at === this.#text.length && Object.keys(words).some((known) => known.startsWith(match))) throw incomplete
    throw invalid
  }

  keywords(): Record<string, unknown> {
    const values: Record<string, unknown> = {}
    while (this.#next() !== ')') {
      const name = /(\w+)\s*=\s*/y
      name.lastIndex = this.at
      const match = name.exec(this.#text)
      if (!match?.[1]) throw /^\w*\s*(?:=\s*)?$/.test(this.#text.slice(this.at)) ? incomplete : invalid
      this.at += match[0].length
      values[match[1]] = this.value()
      if (this.#next() === ',') this.at++
      else if (this.#next() !== ')') throw invalid
    }
    this.at++
    return values
  }

  #nested(char: '{' | '['): unknown {
    if (++this.#depth > deepest) throw invalid
    const value = char === '{' ? this.#object() : this.#list()
    this.#depth--
    return value
  }

  #object(): Record<string, unknown> {
    const values: Record<string, unknown> = {}
    this.at++
    while (this.#next() !== '}') {
      const quote = this.#next()
      const key = quote === '"' || quote === "'" ? this.#quoted(quote) : this.#bareKey()
      if (this.#next() !== ':') throw invalid
      this.at++
      values[key] = this.value()
      this.#separator('}')
    }
    this.at++
    return values
  }

  #bareKey(): string {
    const key = /[A-Za-z_]\w{0,63}/y
    key.lastIndex = this.at
    const [match] = key.exec(this.#text) ?? []
    if (match === undefined) throw invalid
    this.at += match.length
    return match
  }

  #list(): unknown[] {
    const values: unknown[] = []
    this.at++
    while (this.#next() !== ']') {
      values.push(this.value())
      this.#separator(']')
    }
    this.at++
    return values
  }

  #separator(close: string): void {
    const char = this.#next()
    if (char === ',') this.at++
    else if (char !== close) throw invalid
  }

  #quoted(quote: string): string {
    let value = ''
    for (this.at++; this.at < this.#text.length; this.at++) {
      const char = this.#text[this.at] ?? ''
      if (char === quote) {
        this.at++
        return value
      }
      value += char === '\\' ? this.#escape() : char
    }
    throw incomplete
  }

  #escape(): string {
    const char = this.#text[++this.at]
    if (char === undefined) throw incomplete
    if (char !== 'u') return escapes[char] ?? char
    const code = this.#text.slice(this.at + 1, this.at + 5)
    if (code.length < 4) throw incomplete
    this.at += 4
    return String.fromCharCode(Number.parseInt(code, 16) || 0)
  }

  /** The next character that is not whitespace. */
  #next(): string {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at++
    const char = this.#text[this.at]
    if (char === undefined) throw incomplete
    return char
  }
}
