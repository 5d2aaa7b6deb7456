import { Marked } from '../controls/marked.tsx'
import type { ListedChat } from '../service/service.ts'

/** The text around the words that were searched, below the name of a chat; nothing where only the name has them. */
export function ChatHit({ chat: { match }, words }: { chat: ListedChat; words: string }) {
  if (match === undefined) return null
  return (
    <span class="chat-hit u-note u-anywhere" dir="auto">
      <Marked text={hitText(match.text)} query={words} />
    </span>
  )
}

/** A piece of Markdown as one line of plain text. Keeps signs that are not markup, as in 5 - 3. */
export function hitText(markdown: string): string {
  return markdown
    .replaceAll(/(?<! ) *\[{2}(\d+)\]{2}\([^()\s]*\)/g, '')
    .replaceAll(/!?\[([^[\]]*)\]\([^()\s]*\)/g, '$1')
    .replaceAll(/\|(?:\s*:?-+:?\s*\|)+/g, '|')
    .replaceAll(/(?<!\s)(?:\s*\|)+\s*/g, ' · ')
    .replaceAll(/^(…?[ \t]*)(?:[-*+>]\s+)+/gm, '$1')
    .replaceAll(/(^|\s)(?:#{1,6}|`{3,}\w*)(?=\s)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^(…?) · | · $/g, '$1')
    .trim()
}
