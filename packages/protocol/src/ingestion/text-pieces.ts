const piecesOf = new WeakMap<object, readonly string[]>()

/**
 * The text of a section that came in pieces of a bounded size; undefined for any other, whose `text` is cheap to read.
 * No piece cuts a character.
 */
export function textPieces(section: object): readonly string[] | undefined {
  return piecesOf.get(section)
}

/** Gives a section its text in pieces. Whoever reads `text` all the same gets the whole, which takes long to join. */
export function setTextPieces(section: object, pieces: readonly string[]): void {
  piecesOf.set(section, pieces)
  Object.defineProperty(section, 'text', { enumerable: true, configurable: true, get: () => pieces.join('') })
}
