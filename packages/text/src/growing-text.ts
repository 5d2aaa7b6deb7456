const maxPieces = 256

/** Text built from many pieces. A string appended to keeps each of them in memory, at ten times the size of a word. */
export class GrowingText {
  #text = ''
  #pieces: string[] = []

  add(piece: string): void {
    if (this.#pieces.push(piece) >= maxPieces) this.#join()
  }

  read(): string {
    if (this.#pieces.length > 0) this.#join()
    return this.#text
  }

  #join(): void {
    this.#text += this.#pieces.join('')
    this.#pieces = []
  }
}
