const anchor = /<a (?:id|name)="[^"]*">\s*<\/a>/g
/** Directives of site generators, lines that are only tags, and reference definitions of links. */
const hiddenLine =
  /^\s*(?:\{\{.*\}\}|<\/?[A-Za-z][\w-]*(?:\s[^<>]*|\/)?>|\[(?!\^)[^\]]+\]:\s+(?:<[^<>]*>|\S+)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?)\s*$/
/** Code, which is kept, or a link whose text is its address, which small models mistake for a source. */
// oxlint-disable-next-line regexp/no-super-linear-move -- six marks in a row match, so it starts anew at five of them at most
const codeOrLink = /`{3,}[^]*?`{3,}|`[^`\n]*`|(?<![\w\]])\[((?:[^[\]\n]|\n(?!\n))+)\]\[(?:[A-Za-z][\w.-]*)?\]/g
const inclusion = /^\s*\{\{#\w*include\b.*\}\}\s*$/
const fence = /^\s*(`{3,}|~{3,})/

/** Removes what readers of the rendered page do not see, and code blocks that only include a file. */
export function withoutHiddenMarkup(markdown: string): string {
  const lines: string[] = []
  let mark = ''
  let opening = 0
  for (const line of withoutComments(markdown).replaceAll(anchor, '').split('\n')) {
    const run = fence.exec(line)?.[1]
    if (mark === '') {
      if (run === undefined && hiddenLine.test(line)) continue
      if (run !== undefined) [mark, opening] = [run, lines.length]
    } else if (run?.startsWith(mark)) {
      mark = ''
      if (opening === lines.length - 1) {
        lines.pop()
        continue
      }
    } else if (inclusion.test(line)) continue
    lines.push(line)
  }
  return lines
    .join('\n')
    .replaceAll(codeOrLink, (whole, text?: string) => text ?? whole)
    .replaceAll(/\n\s*\n\s*\n/g, '\n\n')
    .trim()
}

/** Not a regular expression: it would scan to the end from each comment that is never closed. */
function withoutComments(markdown: string): string {
  let kept = ''
  let from = 0
  for (;;) {
    const start = markdown.indexOf('<!--', from)
    const end = start < 0 ? -1 : markdown.indexOf('-->', start + 4)
    if (end < 0) return kept + markdown.slice(from)
    kept += markdown.slice(from, start)
    from = end + 3
  }
}
