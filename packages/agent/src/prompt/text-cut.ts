import { estimateTokens } from './context-window.ts'

/**
 * The beginning of a text that takes at most so many tokens where it stands in JSON, which writes some characters as two
 * or more. Well-formed; the text itself when it fits.
 */
export function cutToTokens(text: string, limitTokens: number): string {
  // No character takes less than a quarter of a token.
  let cut = text.slice(0, Math.max(0, limitTokens * 4))
  for (;;) {
    const tokens = estimateTokens(JSON.stringify(cut))
    if (tokens <= limitTokens || cut === '') return cut.toWellFormed()
    cut = cut.slice(0, Math.floor((cut.length * limitTokens * 0.95) / tokens))
  }
}
