/** A line that begins or ends code. An excerpt of one line has its code behind the fence, and is no such line. */
const fence = /^[ \t]*(?:```|~~~)[^\s`]*(?:[ \t]+[^\s`={]*[={].*|[ \t]*)$\n?/m

/**
 * Markdown as a person would write it without: a passage is shown as text, so that its quotes can be marked. Lines of a
 * paragraph are joined, those of code, tables and lists stay.
 */
export function withoutMarkup(markdown: string): string {
  return markdown
    .split(fence)
    .map((part, at) => (at % 2 === 0 ? proseOf(part) : part.trimEnd()))
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

function proseOf(markdown: string): string {
  return (
    markdown
      .replaceAll(/^\|?[ \t]*:?-{3}[-| :\t]*$\n?/gm, '')
      .replaceAll(/^\|(.*)\|[ \t]*$/gm, (_, row: string) => `· ${cellsOf(row).join(' · ')}`)
      .replaceAll(/(^|\s)#{1,6} +/g, '$1')
      .replaceAll(/(?:```|~~~)\w*/g, '')
      .replaceAll(/^([ \t]*)[-*+] +/gm, '$1• ')
      .replaceAll(/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, '$1')
      .replaceAll(/\*\*|`/g, '')
      // Not before items, table rows and numbers, which need their own lines.
      .replaceAll(/(\S)[ \t]*\n[ \t]*(?=[^\s•·|>\d])/g, '$1 ')
  )
}

const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
