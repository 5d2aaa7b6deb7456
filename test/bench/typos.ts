/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Misspells every second word of more than four letters, on average: one letter left out, added, replaced, or exchanged
 * with its neighbour, each as likely.
 */
export function misspell(text: string, random: () => number): string {
  return text.replace(/\p{L}{5,}/gu, (word) => (random() < 0.5 ? slip(word, random) : word))
}

function slip(word: string, random: () => number): string {
  const at = Math.floor(random() * word.length)
  const letter = String.fromCharCode(97 + Math.floor(random() * 26))
  const [before, after] = [word.slice(0, at), word.slice(at)]
  switch (Math.floor(random() * 4)) {
    case 0:
      return before + after.slice(1)
    case 1:
      return before + letter + after
    case 2:
      return before + letter + after.slice(1)
    default:
      return at + 1 < word.length ? before + after[1] + after[0] + after.slice(2) : slip(word, random)
  }
}
