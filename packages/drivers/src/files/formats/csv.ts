import type { Budget } from '../budget.ts'
import { markdownTable } from './markdown-table.ts'
import { sectionsOf, type Reading } from '../sections.ts'

/** As one Markdown table. The delimiter is detected, or named by a first line `sep=;`, as Excel writes it. */
export async function readCsv(text: string, budget: Budget): Promise<Reading> {
  const { default: papaparse } = await import('papaparse')
  const separatorLine = /^\ufeff?sep=(.)\r?\n/i.exec(text)
  const { data } = papaparse.parse<string[]>(separatorLine ? text.slice(separatorLine[0].length) : text, {
    delimiter: separatorLine?.[1],
    skipEmptyLines: 'greedy',
  })
  return { sections: sectionsOf(markdownTable(data), budget) }
}
