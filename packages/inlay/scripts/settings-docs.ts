/** Writes the table of settings into the README, between its markers. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describeSettings } from '../src/setting-table.ts'

/** The README of the repository, from its root. */
export const readme = 'README.md'

const cell = (text: string): string => text.replaceAll('|', '\\|')

function settingRows(): string {
  const rows = describeSettings().map(
    ({ name, meaning, allowed, without }) => `| \`${name}\` | ${cell(meaning)}: ${cell(allowed)} | ${cell(without)} |`,
  )
  return ['| variable | what it is | without it |', '|---|---|---|', ...rows].join('\n')
}

/** The page with the table made anew. */
export function fillSettings(page: string): string {
  return page.replace(
    /(<!-- settings -->\n)[^]*?(<!-- \/settings -->)/,
    (_, start: string, end: string) => `${start}\n${settingRows()}\n\n${end}`,
  )
}

if (import.meta.main) writeFileSync(readme, fillSettings(readFileSync(readme, 'utf8')))
