import { readMarkdown, type Block, type Inline } from '@inlay/text/markdown'
import { plainText } from '../markdown/markdown.tsx'

/** Markdown for the clipboard: `[[1]](https://…)` becomes `[1](https://…)`, which every other program shows as a link. */
export function withPlainCitations(answer: string): string {
  return answer.replaceAll(/\[\[(\d+)\]\](?:\(\)|(?=\())/g, '[$1]')
}

type PlainWords = (pieces: readonly Inline[]) => string

/**
 * An answer as plain text: lists keep their markers, tables become tab-separated.
 * @param words the text of inline pieces; by default with the numbers of citations
 */
export function plainAnswer(answer: string, words: PlainWords = numberedText): string {
  const { blocks, footnotes } = readMarkdown(answer)
  const notes = footnotes.map(({ number, blocks: note }) => `${number}. ${plainBlocks(note, words)}`)
  return [plainBlocks(blocks, words), ...notes].filter(Boolean).join('\n\n')
}

const plainBlocks = (blocks: readonly Block[], words: PlainWords, between = '\n\n'): string =>
  blocks
    .map((block) => plainBlock(block, words))
    .filter(Boolean)
    .join(between)

function plainBlock(block: Block, words: PlainWords): string {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return words(block.inlines)
    case 'code':
    case 'math':
      return block.text.replace(/\n$/, '')
    case 'list':
      return block.items
        .map(({ isChecked, blocks }, at) => {
          const mark = block.start === undefined ? '- ' : `${block.start + at}. `
          const box = isChecked === null ? '' : isChecked ? '[x] ' : '[ ] '
          return mark + box + plainBlocks(blocks, words, '\n').replaceAll('\n', `\n${' '.repeat(mark.length)}`)
        })
        .join('\n')
    case 'table':
      return [block.header, ...block.rows].map((row) => row.map((cell) => words(cell)).join('\t')).join('\n')
    case 'details':
      return [words(block.summary), plainBlocks(block.blocks, words)].filter(Boolean).join('\n')
    case 'rule':
      return ''
    default:
      return plainBlocks(block.blocks, words)
  }
}

const numberedText: PlainWords = (pieces) =>
  pieces.map((piece) => (piece.kind === 'citation' ? `[${piece.number}]` : plainText([piece]))).join('')

export function wasCut(answer: string): boolean {
  return /\*The answer ends here because the model reached its output limit[^*]*\*$/.test(answer.trimEnd())
}

export function questionParts(question: string): { readonly quote: string; readonly words: string } {
  const lines = question.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('>'))
  const count = end < 0 ? lines.length : end
  return {
    quote: lines
      .slice(0, count)
      .map((line) => line.replace(/^> ?/, ''))
      .join('\n'),
    words: lines.slice(count).join('\n').trim(),
  }
}

export const quoted = (text: string): string =>
  `${text
    .trim()
    .split(/\n+/)
    .map((line) => `> ${line.trim()}`)
    .join('\n')}\n\n`
