/** Writes the tables of settings into the README and the settings page, between their markers. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describeSettings } from '../src/settings/setting-table.ts'

/** The pages that list settings, from the root of the repository: the first those to begin with, the second all. */
export const settingPages = ['README.md', 'docs/1.guide/8.settings.md'] as const

/** Path of a page that lists settings. */
export type SettingPage = (typeof settingPages)[number]

const cell = (text: string): string => text.replaceAll('|', '\\|')

function settingRows(page: SettingPage): string {
  const listed = describeSettings().filter(({ isAdvanced }) => page !== 'README.md' || !isAdvanced)
  const rows = listed.map(
    ({ name, meaning, allowed, without }) => `| \`${name}\` | ${cell(meaning)}: ${cell(allowed)} | ${cell(without)} |`,
  )
  return ['| variable | what it sets | default |', '|---|---|---|', ...rows].join('\n')
}

/** The text of a page with its table made anew. */
export function fillSettings(page: SettingPage, text: string): string {
  return text.replace(
    /(<!-- settings -->\n)[^]*?(<!-- \/settings -->)/,
    (_, start: string, end: string) => `${start}\n${settingRows(page)}\n\n${end}`,
  )
}

if (import.meta.main) {
  for (const page of settingPages) writeFileSync(page, fillSettings(page, readFileSync(page, 'utf8')))
}
