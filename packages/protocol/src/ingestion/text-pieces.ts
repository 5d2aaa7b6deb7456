/**
 * The texts of sections that came in pieces of a bounded size, by section; that of any other is cheap to read as `text`.
 * No piece cuts a character.
 */
export const textPieces: WeakMap<object, readonly string[]> = new WeakMap()

/** Gives a section its text in pieces. Whoever reads `text` all the same gets the whole, which takes long to join. */
export function setTextPieces(section: object, pieces: readonly string[]): void {
  textPieces.set(section, pieces)
  Object.defineProperty(section, 'text', { enumerable: true, configurable: true, get: () => pieces.join('') })
}
