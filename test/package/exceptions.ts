/** Known exceptions to the rules of this folder, with reasons. The list may only shrink. */

/** Files and folders that import each other in a circle, by the folder they lie in. */
export const circles: Record<string, { readonly nodes: readonly string[]; readonly reason: string }> = {}

/** How often a word of `words.ts` still stands, by area. */
export const wordsLeft: Record<string, Record<string, number>> = {}
