/** Writes the tables of settings into the README and the settings page, between their markers. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describeSettings, secretNames } from '../src/settings/setting-table.ts'

/** The pages that list settings, from the root of the repository: the first those to begin with, the second all. */
export const settingPages = ['README.md', 'docs/1.guide/8.settings.md'] as const

/** Path of a page that lists settings. */
export type SettingPage = (typeof settingPages)[number]

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** Headings of the settings page, by the first setting below each. */
const headings: Readonly<Record<string, string>> = {
  PORT: 'Server and page',
  INLAY_DATA: 'Data, keys and limits',
  INLAY_DATABASE_URL: 'Databases and other servers',
  INLAY_MODEL: 'Language model',
  INLAY_EMBEDDING_MODEL: 'Embedding model',
  INLAY_OPENAI_API: 'API of OpenAI',
  INLAY_LOCAL_MODELS: 'Help of the model, memories and names',
  INLAY_WEB_SEARCH: 'Web, images and tools',
  INLAY_RERANKER: 'Ranking, scans and local models',
  INLAY_WEBHOOK_URL: 'Webhooks',
}

function settingRows(page: SettingPage): string {
  const isShort = page === 'README.md'
  const head = '| variable | what it sets | default |\n|---|---|---|'
  const listed = describeSettings().filter(({ isAdvanced }) => !isShort || !isAdvanced)
  const rows = listed.map(({ name, meaning, allowed, without }) => {
    const heading = isShort ? undefined : headings[name]
    const row = `| \`${name}\` | ${cell(meaning)}: ${cell(allowed)} | ${cell(without)} |`
    return heading === undefined ? row : `\n## ${heading}\n\n${head}\n${row}`
  })
  const secrets = `These may be in files: ${secretNames.map((name) => `\`${name}\``).join(', ')}.`
  return (isShort ? [head, ...rows] : [secrets, ...rows]).join('\n').trim()
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
