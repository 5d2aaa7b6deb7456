import { wordPattern } from '@inlay/text'
import type { SourcePassage } from './passages.ts'

/** Ranking reads every word several times: longer texts are thinned out first, or an answer would take seconds. */
const longestText = 4000
/** Of all long texts together. */
const mostCharacters = 60_000
const mostWords = 50
const [partCharacters, longestPart] = [1000, 2000]

/** The passages as they are, but of long ones only the parts that share a word with the question. */
export function relevantParts(question: string, passages: readonly SourcePassage[]): readonly SourcePassage[] {
  if (passages.every(({ content }) => content.length <= longestText)) return passages
  const words = new Set((question.match(wordPattern) ?? []).slice(0, mostWords))
  const pattern = new RegExp([...words].map((word) => word.replace(/[.+]/g, '\\$&')).join('|') || '(?!)', 'iu')
  let room = mostCharacters
  return passages.map((passage) => {
    if (passage.content.length <= longestText) return passage
    const content = thinned(passage.content, pattern, room)
    room -= content.length
    return { ...passage, content }
  })
}

function thinned(text: string, pattern: RegExp, room: number): string {
  if (text.length <= room) return text
  let kept = ''
  for (let start = 0; start < text.length && kept.length < room;) {
    const end = endOfPart(text, start)
    const part = text.slice(start, end)
    if (pattern.test(part)) kept += kept === '' || kept.endsWith('\n') ? part : `\n\n${part}`
    start = end
  }
  return (kept || text).slice(0, Math.max(room, 0))
}

/** Behind a paragraph if possible, else a line, else a space. */
function endOfPart(text: string, start: number): number {
  const within = text.slice(start + partCharacters, start + longestPart)
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = within.indexOf(mark)
    if (at !== -1) return start + partCharacters + at + mark.length
  }
  return Math.min(start + longestPart, text.length)
}
