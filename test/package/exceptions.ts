/** Known exceptions to the rules of this folder, with reasons. The list may only shrink. */

/** Files and folders that import each other in a circle, by their folder. */
export const circles: Record<string, { readonly nodes: readonly string[]; readonly reason: string }> = {}

/** Remaining uses of a word of `words.ts`, by area. */
export const wordsLeft: Record<string, Record<string, number>> = {}
