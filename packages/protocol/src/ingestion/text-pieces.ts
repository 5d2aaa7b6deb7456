/**
 * Texts of sections received in bounded pieces, by section; other sections are cheap to read as `text`.
 * No piece splits a character.
 */
export const textPieces: WeakMap<object, readonly string[]> = new WeakMap()

/** Sets the text of a section as pieces. Reading `text` still returns the whole text, but joining it is slow. */
export function setTextPieces(section: object, pieces: readonly string[]): void {
  textPieces.set(section, pieces)
  Object.defineProperty(section, 'text', { enumerable: true, configurable: true, get: () => pieces.join('') })
}
