/** Length of the vectors. */
export const dimensions = 256

/**
 * A vector of words and their three-letter pieces, hashed: it needs no model, costs both sides the same, and finds
 * equal wording.
 * @param {string} text
 */
export function embed(text) {
  const vector = new Float32Array(dimensions)
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    add(vector, word, 1)
    for (let at = 0; at + 3 <= word.length; at++) add(vector, word.slice(at, at + 3), 0.3)
  }
  const norm = Math.hypot(...vector) || 1
  return vector.map((value) => value / norm)
}

/** @param {Float32Array} vector @param {string} piece @param {number} weight */
function add(vector, piece, weight) {
  let hash = 2166136261
  for (let at = 0; at < piece.length; at++) hash = Math.imul(hash ^ piece.charCodeAt(at), 16777619)
  vector[(hash >>> 8) % dimensions] += hash & 1 ? weight : -weight
}
