import type { Budget } from '../budget.ts'
import { cleanText } from '../encodings.ts'
import { isMapping } from './front-matter.ts'
import { fenceFor } from './code-fence.ts'
import { sectionsOf, type Reading } from '../sections.ts'
import { readMarkdown } from './plain-text.ts'

/** Characters kept of one output: logs and printed tables may be long. */
const maxOutputCharacters = 2_000

/** Reads a Jupyter notebook: its texts, its code and the text of its outputs. Undefined when it is none. */
export function readNotebook(text: string, budget: Budget): Reading | undefined {
  const notebook = parsed(text)
  const cells = listOf(notebook?.['cells'])
  if (!notebook || !('nbformat' in notebook) || cells.length === 0) return undefined
  const language = languageOf(notebook)
  const blocks: string[] = []
  for (const cell of cells) {
    const source = textOf(cell['source']).trim()
    if (cell['cell_type'] !== 'code') blocks.push(source)
    else if (source !== '') blocks.push(fenced(source, language))
    for (const output of listOf(cell['outputs'])) {
      const data = isMapping(output['data']) ? output['data'] : {}
      const shown = textOf(output['text'] ?? data['text/plain']).trim()
      const isPicture = /^<(?:Figure|matplotlib|Axes)\b/.test(shown)
      if (shown !== '' && !isPicture) blocks.push(`Output:\n\n${fenced(shown.slice(0, maxOutputCharacters), 'text')}`)
    }
  }
  const markdown = blocks.filter(Boolean).join('\n\n')
  const { title } = readMarkdown(markdown.slice(0, 20_000), { ...budget, takeText: () => undefined })
  return { title: title ?? null, sections: sectionsOf(cleanText(markdown), budget) }
}

type Fields = Readonly<Record<string, unknown>>

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isMapping) : [])

/** A text or a list of its lines. */
const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.filter((line) => typeof line === 'string').join('')
    : typeof value === 'string'
      ? value
      : ''

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMapping(value) ? value : undefined
  } catch {
    return undefined
  }
}

function languageOf({ metadata }: Fields): string {
  const { language_info: info, kernelspec } = isMapping(metadata) ? metadata : {}
  const name = (isMapping(info) && info['name']) || (isMapping(kernelspec) && kernelspec['language'])
  return typeof name === 'string' && /^[\w+#.-]+$/.test(name) ? name : 'text'
}

function fenced(code: string, language: string): string {
  const fence = fenceFor(code, 3)
  return `${fence}${language}\n${code}\n${fence}`
}
