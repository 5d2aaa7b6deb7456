const opening = /\[\[\d+\]\]\(/g

/** Position after the parenthesis that closes the one before `start`; -1 if it is not closed. */
function closeOf(answer: string, start: number): number {
  let depth = 1
  for (let at = start; at < answer.length; at++) {
    const character = answer[at]
    if (character === '\\') at++
    else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return at + 1
  }
  return -1
}

/**
 * Removes citation links `[[n]](…)` and the white space before each. Parentheses inside a link can be nested, and a
 * backslash escapes the next character. An unclosed link and everything after it stay.
 */
export function stripCitations(answer: string): string {
  let kept = ''
  let from = 0
  opening.lastIndex = 0
  for (let match = opening.exec(answer); match; match = opening.exec(answer)) {
    const end = closeOf(answer, opening.lastIndex)
    if (end === -1) break
    kept += answer.slice(from, match.index).trimEnd()
    from = end
    opening.lastIndex = end
  }
  return kept + answer.slice(from)
}
