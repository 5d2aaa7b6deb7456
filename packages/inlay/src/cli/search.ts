import { misuse, textOption, wordsOf, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { noteEmptyFolder, readsOnly, withInlay } from './with-inlay.ts'
import { plain } from './terminal-markdown.ts'

/** Characters of a passage that are shown. */
const shownChars = 300

/** Searches without an answer. */
export const search: Command = {
  ...commandTable.search,
  words: [1, Number.POSITIVE_INFINITY],
  needs: 'words to search for',
  options: {
    limit: { type: 'string', value: 'number', meaning: 'most passages, 1 to 200 (default: 5)' },
  },
  async run(context) {
    const { output, signal } = context
    const text = wordsOf(context, 'search')
    const limit = limitOf(textOption(context, 'limit'))
    const passages = await withInlay(
      context,
      async (inlay) => {
        await noteEmptyFolder(context, inlay)
        return inlay.knowledge.search({ text, limit, signal })
      },
      readsOnly,
    )
    if (output.isJson) {
      output.json(
        passages.map(({ document, content, headings }) => ({
          document_id: document.document_id,
          title: document.semantic_identifier,
          link: document.link,
          score: document.score,
          headings,
          content,
        })),
      )
      return 0
    }
    if (passages.length === 0) output.note('Nothing was found.')
    for (const [index, { document, content, headings }] of passages.entries()) {
      output.line(`${index + 1}. ${output.styled('bold', plain(document.semantic_identifier))}`)
      const place = [document.link ?? document.document_id, ...headings].join(' › ')
      output.line(`   ${output.styled('dim', plain(place))}`)
      output.line(`   ${plain(shortened(content))}`)
      output.line()
    }
    return 0
  },
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return 5
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > 200) throw misuse('--limit needs a number from 1 to 200.')
  return limit
}

function shortened(content: string): string {
  const line = content.replace(/\s+/g, ' ').trim()
  return line.length <= shownChars ? line : `${line.slice(0, shownChars).trimEnd()}…`
}
