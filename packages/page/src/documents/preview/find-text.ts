import { hasQuote, rangeOf } from '../../sources/passage.ts'

/** Whether a text is long enough to be looked for. */
export const isFindable = (wanted: string): boolean => hasQuote(wanted, wanted)

/** Finds a text in an element, whatever elements it runs through. Compared as quotes are in passages. */
export function findText(root: Node, wanted: string): Range | undefined {
  const nodes: Text[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) if (node instanceof Text) nodes.push(node)
  const place = rangeOf(nodes.map(({ data }) => data).join(''), wanted)
  if (place === undefined) return undefined
  const [start, end] = place
  const range = document.createRange()
  let at = 0
  for (const node of nodes) {
    const next = at + node.data.length
    if (start >= at && start < next) range.setStart(node, start - at)
    if (end > at && end <= next) range.setEnd(node, end - at)
    at = next
  }
  return range
}
