/** Wraps text at words. The text may arrive in arbitrary pieces, with styles of `styleText`. */
export interface WordWrap {
  /** Returns what can be shown; the last word waits until it is complete; of wide letters only the last. */
  push(piece: string): string
  /** Adds text whose lines stay as they are, such as code. */
  raw(text: string): string
  end(): string
}

const segmenter = new Intl.Segmenter()

/** Letters as wide as two others: those of East Asia, and emoji. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f)/u
const invisible = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u
// oxlint-disable-next-line no-control-regex -- styles begin with this character
const style = /\u001b\[[\d;]*m/g
// oxlint-disable-next-line no-control-regex -- as above
const styleOrText = /(\u001b\[[\d;]*m)/

/** Punctuation that may not begin a line. */
const closing = /^[、。，．・：；？！）」』】〕》〉”’ー]/u

/** The share of a line that a column may leave free before it. */
export const widestColumn = 0.6

/** Number of columns a text takes on a terminal. */
export function widthOf(text: string): number {
  const shown = text.replace(style, '')
  if (/^[ -~]*$/.test(shown)) return shown.length
  let width = 0
  for (const { segment } of segmenter.segment(shown)) width += invisible.test(segment) ? 0 : wide.test(segment) ? 2 : 1
  return width
}

/** Wraps a whole text. After two spaces a column begins: further lines of its text stand in it. */
export function wrapped(text: string, columns: number): string {
  const wrap = createWordWrap(() => columns, { hasColumns: true })
  return wrap.push(text) + wrap.end()
}

/** Cuts a line into pieces of a width, also in the middle of words. */
export function clipped(line: string, width: number): readonly string[] {
  const pieces = ['']
  for (const { segment } of segmenter.segment(line))
    if (widthOf(pieces.at(-1)! + segment) <= width || pieces.at(-1) === '') pieces[pieces.length - 1] += segment
    else pieces.push(segment)
  return pieces
}

/** Begins a line of a list, of a quotation, of sources. */
const marker = /^(?:[-*+•>]|\d{1,3}[.)]|\[\d+\])$/

/**
 * Words wider than a line, such as URLs, are not broken: the terminal does that, and they can still be copied. Further
 * lines of a list item begin below its text.
 * @param columns width of the terminal; may change while text arrives
 */
export function createWordWrap(columns: () => number, { hasColumns = false } = {}): WordWrap {
  let held = ''
  /** The last letter shown of a word that `held` continues, as it is wider than a line; else empty. */
  let before = ''
  let column = 0
  let gap = ''
  let indent = ''
  let isIndented = true
  let mayBeginColumn = hasColumns

  function breakLine(): string {
    column = 0
    gap = indent = ''
    isIndented = true
    mayBeginColumn = hasColumns
    return '\n'
  }

  function place(part: string): string {
    const width = widthOf(part)
    if (isIndented) {
      const start = gap
      const below = part === '>' ? '> ' : ' '.repeat(marker.test(part) ? width + 1 : 0)
      // The space after the mark of a quotation is part of it.
      indent += start.slice(indent === '' ? 0 : 1) + below
      if (indent.length > columns() / 2) indent = ''
      if (below !== '') mayBeginColumn = false
      // A quotation may begin with a list.
      isIndented = part === '>'
      gap = ''
      column += start.length + width
      return start + part
    }
    if (mayBeginColumn && gap.length > 1 && column + gap.length <= columns() * widestColumn) {
      indent = ' '.repeat(column + gap.length)
      mayBeginColumn = false
    }
    if (column + gap.length + width > columns() && column > indent.length) {
      gap = ''
      column = indent.length + width
      return `\n${indent}${part}`
    }
    const shown = gap + part
    column += gap.length + width
    gap = ''
    return shown
  }

  function goOn(part: string): string {
    column += widthOf(part)
    return part
  }

  function take(isEnd: boolean): string {
    let shown = ''
    let at = 0
    for (const { 0: token, index } of held.matchAll(/\n|[^\S\n]+|\S+/g)) {
      at = index
      if (token.trim() === '') {
        if (token === '\n') shown += breakLine()
        else gap += token.replaceAll('\t', '    ')
      } else {
        const parts = partsOf(before + token)
        const isWhole = isEnd || index + token.length < held.length
        let next = ''
        let rest = ''
        if (!isWhole) {
          rest = parts.pop()!
          const letters = lettersOf(rest)
          const ready = letters.slice(0, -1).join('')
          // What comes next cannot move a word that is wider than a line, but may change its last letter.
          if ((before !== '' && parts.length === 0) || widthOf(ready) > columns()) {
            const done = ready === '' ? before : ready
            parts.push(done)
            rest = rest.slice(done.length)
            next = (letters.at(-2) ?? before).replace(style, '')
          }
        }
        for (const [nth, part] of parts.entries())
          shown += nth === 0 && before !== '' ? goOn(part.slice(before.length)) : place(part)
        before = next
        if (!isWhole) {
          at += token.length - rest.length
          break
        }
      }
      at = index + token.length
    }
    held = held.slice(at)
    return shown
  }

  return {
    push(piece) {
      held += piece
      return take(false)
    },
    raw(text) {
      const shown = take(true) + gap + text
      if (text.includes('\n')) breakLine()
      gap = ''
      column = widthOf(text.slice(text.lastIndexOf('\n') + 1))
      if (column > 0) isIndented = false
      return shown
    },
    end: () => take(true),
  }
}

/** A word, cut where a line may break inside of it: beside wide letters. */
function partsOf(word: string): string[] {
  if (/^[ -~]*$/.test(word.replace(style, ''))) return [word]
  const parts: string[] = []
  let isAfterWide = true
  for (const letter of lettersOf(word)) {
    const shown = letter.replace(style, '')
    const isWide = wide.test(shown)
    const isJoined = closing.test(shown) || invisible.test(shown) || !(isWide || isAfterWide)
    if (isJoined && parts.length > 0) parts[parts.length - 1] += letter
    else parts.push(letter)
    isAfterWide = isWide
  }
  return parts
}

/** The letters of a word, each with the styles before it; the last one also with those after it. */
function lettersOf(word: string): string[] {
  const letters: string[] = []
  let codes = ''
  for (const piece of word.split(styleOrText)) {
    if (piece.startsWith('\u001b')) {
      codes += piece
      continue
    }
    for (const { segment } of segmenter.segment(piece)) {
      letters.push(codes + segment)
      codes = ''
    }
  }
  letters.push((letters.pop() ?? '') + codes)
  return letters
}
