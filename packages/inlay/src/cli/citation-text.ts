/** Turns rendered citations `[[n]](link)` into `[n]` in a text that comes in pieces cut anywhere. */
export interface CitationText {
  push(piece: string): string
  /** Returns text held back as a possible citation. */
  end(): string
}

/** Beginnings of a citation: the brackets, its number, and the parenthesis of the link. */
const begun = /\[(\[(\d+(\]?(\](\(|$)|$)|$)|$)|$)/

/** For terminals, where a link is noise: the sources are listed under the answer. */
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

/** Position after the parenthesis that closes the link; undefined while it is still to come. */
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
