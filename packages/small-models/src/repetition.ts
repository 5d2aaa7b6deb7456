/** So much text of one repeated piece is no answer. */
const repeatedLength = 1_000
const maxPieceLength = 100
/** Text is looked at once in so many characters. */
const stride = 200

/** Notices that a text that streams by only repeats a short piece, as small models do until their context is full. */
export class RepetitionDetector {
  #tail = ''
  #unread = 0

  /** Takes text of any length. @returns whether the text only repeats itself by now */
  push(text: string): boolean {
    this.#tail = (this.#tail + text).slice(-repeatedLength)
    this.#unread += text.length
    if (this.#unread < stride || this.#tail.length < repeatedLength) return false
    this.#unread = 0
    return smallestPeriod(this.#tail) <= maxPieceLength
  }
}

/** The smallest distance at which a text equals itself: its length less its longest border (Knuth, Morris, Pratt). */
function smallestPeriod(text: string): number {
  const borders = [0]
  let border = 0
  for (let at = 1; at < text.length; at++) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1]!
    if (text[at] === text[border]) border++
    borders[at] = border
  }
  return text.length - border
}
