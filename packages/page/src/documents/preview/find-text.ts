/** Shortest text worth marking, in letters and digits: fewer are found anywhere. */
const shortestText = 12

/** Whether a text is long enough to be looked for. */
export const isFindable = (wanted: string): boolean => lettersOf(wanted).length >= shortestText

/**
 * Finds a text in an element, whatever elements it runs through. Compared by letters and digits alone, since an answer
 * loses line breaks and Markdown of its source.
 */
export function findText(root: Node, wanted: string): Range | undefined {
  if (!isFindable(wanted)) return undefined
  const letters = lettersOf(wanted)
  const nodes: Text[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) if (node instanceof Text) nodes.push(node)
  let plain = ''
  const places: (readonly [node: Text, offset: number])[] = []
  for (const node of nodes)
    for (let at = 0; at < node.data.length; at++) {
      const letter = lettersOf(node.data.charAt(at))
      plain += letter
      for (let unit = 0; unit < letter.length; unit++) places.push([node, at])
    }
  const from = plain.indexOf(letters)
  const [start, end] = [places[from], places[from + letters.length - 1]]
  if (from < 0 || start === undefined || end === undefined) return undefined
  const range = document.createRange()
  range.setStart(start[0], start[1])
  range.setEnd(end[0], end[1] + 1)
  return range
}

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
