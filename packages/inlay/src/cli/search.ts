import { misuse, textOption, argumentText, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { withService, type Service } from './service.ts'
import { noteEmptyFolder } from './with-inlay.ts'
import { plain } from './terminal-markdown.ts'
import { option } from './shared-options.ts'

const shownChars = 300

export const search: Command = {
  ...commandTable.search,
  words: [1, Number.POSITIVE_INFINITY],
  needs: 'words to search for',
  options: {
    limit: option('number', 'maximum number of passages, 1 to 200 (default: 5)'),
  },
  async run(context) {
    const { output, signal } = context
    const text = argumentText(context, 'search')
    const limit = limitOf(textOption(context, 'limit'))
    const passages = await withService(context, async (service) => {
      if (service.inlay) await noteEmptyFolder(context, service.inlay)
      return passagesOf(service, { text, limit, signal })
    })
    if (output.isJson) {
      output.json(passages)
      return 0
    }
    if (passages.length === 0) output.note('Nothing was found.')
    for (const [index, { title, link, document_id: id, headings = [], content }] of passages.entries()) {
      output.line(`${index + 1}. ${output.styled('bold', plain(title))}`)
      const place = [link ?? id ?? '', ...headings].filter((part) => part !== '').join(' › ')
      if (place !== '') output.line(`   ${output.styled('dim', plain(place))}`)
      output.line(`   ${plain(shortened(content))}`)
      output.line()
    }
    return 0
  },
}

/** A passage as displayed; a server does not return id, score and headings. */
interface Passage {
  readonly document_id?: string
  readonly title: string
  readonly link: string | null
  readonly score?: number | null
  readonly headings?: readonly string[]
  readonly content: string
}

async function passagesOf(
  { inlay, client }: Service,
  { text, limit, signal }: { readonly text: string; readonly limit: number; readonly signal: AbortSignal },
): Promise<readonly Passage[]> {
  if (inlay === undefined) {
    const { results } = await client.search(text, { signal })
    return results.slice(0, limit).map(({ title, link, content }) => ({ title, link, content }))
  }
  const passages = await inlay.knowledge.search({ text, limit, signal })
  return passages.map(({ document, content, headings }) => ({
    document_id: document.document_id,
    title: document.semantic_identifier,
    link: document.link,
    score: document.score,
    headings,
    content,
  }))
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
