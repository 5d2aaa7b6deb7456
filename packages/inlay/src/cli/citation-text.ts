/** Converts rendered citations `[[n]](link)` to `[n]` in a text that arrives in arbitrary pieces. */
export interface CitationText {
  push(piece: string): string
  /** Returns text held back as a possible citation. */
  end(): string
}

/** The beginning of a citation at the end of the text, at most up to the parenthesis of its link. */
const begun = /\[(\[(\d+(\]?(\](\(|$)|$)|$)|$)|$)/

/** For terminals: links would clutter the text, and the sources are listed below the answer. */
export function createCitationText(): CitationText {
  let held = ''
  return {
    push(piece) {
      held += piece
      let shown = ''
      for (let at = held.search(begun); at !== -1; at = held.search(begun)) {
        const end = endOfCitation(held, at)
        if (end === undefined) {
          shown += held.slice(0, at)
          held = held.slice(at)
          return shown
        }
        shown += `${held.slice(0, at)}[${/\d+/.exec(held.slice(at))![0]}]`
        held = held.slice(end)
      }
      shown += held
      held = ''
      return shown
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** Position after the parenthesis that closes the link; undefined if it has not arrived yet. */
function endOfCitation(text: string, start: number): number | undefined {
  const open = text.indexOf('(', start)
  if (open === -1) return undefined
  let depth = 0
  for (let at = open; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return at + 1
  }
  return undefined
}
