import { seededRandom } from './typos.ts'

const syllables =
  'ka lo mi tre sun par vel dor qui ash ben gra fo lin mor tas wen zu bri cho der fla gon hil jar kel nim oth pra ras'.split(
    ' ',
  )

/** Made-up text whose words are as frequent as in a natural language: the n-th word comes about 1/n as often. */
export interface ZipfText {
  /** A word of at least so many letters. */
  word(letters?: number): string
  /** Words joined by spaces. */
  text(words: number): string
}

/** The same seed gives the same text. @param size number of different words */
export function zipfText(seed: number, size = 150_000): ZipfText {
  const random = seededRandom(seed)
  const words = Array.from({ length: size }, () => {
    const length = 2 + Math.floor(random() * 4)
    return Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join('')
  })
  const any = (): string => words[Math.min(size, Math.floor(Math.exp(random() * Math.log(size)))) - 1] ?? words[0]!
  const word = (letters = 0): string => {
    for (;;) {
      const results = any()
      if (results.length >= letters) return results
    }
  }
  return { word, text: (count) => Array.from({ length: count }, any).join(' ') }
}
