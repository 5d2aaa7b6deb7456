import { parse } from 'yaml'
import { toTimestamp } from '../timestamps.ts'
import { factsOf, type Reading } from '../sections.ts'

export interface FrontMatter extends Pick<Reading, 'createdAt' | 'updatedAt'> {
  readonly title: string | null
  readonly facts: Record<string, string | string[]>
  readonly body: string
}

const maxFrontMatterLength = 100_000
const yamlBlock = /^---[ \t]*\n(?<block>[\s\S]*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/
const tomlBlock = /^\+\+\+[ \t]*\n(?<block>[\s\S]*?)(?:^|\n)\+\+\+[ \t]*(?:\n|$)/

/**
 * Parts front matter (YAML between `---`, or plain `key = value` TOML between `+++`) from a text. A block that does not
 * read as fields is text: a page may well begin with a ruler.
 * @param text with `\n` line ends and no byte order mark
 */
export function partFrontMatter(text: string): FrontMatter {
  const start = text.slice(0, maxFrontMatterLength)
  const yaml = yamlBlock.exec(start)
  const toml = yaml ? null : tomlBlock.exec(start)
  const fields = yaml
    ? yamlFields(yaml.groups?.['block'] ?? '')
    : toml
      ? tomlFields(toml.groups?.['block'] ?? '')
      : undefined
  if (!fields) return { title: null, facts: {}, body: text }
  const facts = new Map<string, string[]>()
  flatten(fields, '', facts)
  const timestampOf = (...keys: string[]): number | undefined =>
    toTimestamp(keys.map((key) => facts.get(key)?.[0]).find(Boolean) ?? '')
  const title = facts.get('title')?.[0] ?? null
  facts.delete('title')
  return {
    title,
    facts: factsOf(Object.fromEntries(facts)),
    createdAt: timestampOf('created', 'createdAt', 'created_at', 'date', 'published', 'publishDate', 'pubDate'),
    updatedAt: timestampOf(
      'updated',
      'updatedAt',
      'updated_at',
      'lastmod',
      'last_modified',
      'modified',
      'lastUpdated',
      'ms.date',
    ),
    body: text.slice((yaml ?? toml)![0].length),
  }
}

function yamlFields(block: string): Record<string, unknown> | undefined {
  try {
    // Dates stay as written (`core` has no dates); the number of aliases is limited, against "billion laughs" attacks.
    const value: unknown = parse(block, { schema: 'core', maxAliasCount: 50, logLevel: 'error', uniqueKeys: false })
    return isMapping(value) ? value : undefined
  } catch {
    // Invalid YAML is not front matter, so it stays in the text.
    return undefined
  }
}

const tomlKey = /^[\w.-]+$/

/** The part of TOML used in front matter: strings, lists of strings on one line, dates and numbers as written. */
function tomlFields(block: string): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {}
  let prefix = ''
  for (const written of block.split('\n')) {
    const line = written.trim()
    const table = line.startsWith('[') && line.endsWith(']') ? line.slice(1, -1) : ''
    if (tomlKey.test(table)) prefix = `${table}.`
    const equals = line.indexOf('=')
    const key = line.slice(0, Math.max(equals, 0)).trim()
    const value = line.slice(equals + 1).trim()
    if (value === '' || !tomlKey.test(key)) continue
    const strings = tomlStrings(value)
    fields[prefix + key] = strings.length > 0 ? strings : value
  }
  return Object.keys(fields).length > 0 ? fields : undefined
}

/** Quoted strings, read in one pass: a pattern would start over at each quotation mark. */
function tomlStrings(text: string): string[] {
  const strings: string[] = []
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (mark !== '"' && mark !== "'") continue
    let end = at + 1
    while (end < text.length && text[end] !== mark) end += mark === '"' && text[end] === '\\' ? 2 : 1
    if (end >= text.length) break
    strings.push(text.slice(at + 1, end))
    at = end
  }
  return strings
}

// Not the guard of the protocol: threads start without the conditions that lead to a package's sources.
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Fields within fields are named `outer.inner`; lists keep their plain values. */
function flatten(value: unknown, key: string, facts: Map<string, string[]>, depth = 0): void {
  if (depth > 4 || facts.size >= 200) return
  if (isMapping(value)) {
    for (const [name, inner] of Object.entries(value))
      flatten(inner, key === '' ? name : `${key}.${name}`, facts, depth + 1)
  } else if (Array.isArray(value)) {
    const plain = value.filter((each) => typeof each === 'string' || typeof each === 'number').map(String)
    if (plain.length > 0) facts.set(key, plain)
    else for (const each of value.slice(0, 50)) flatten(each, key, facts, depth + 1)
  } else if (value !== null && value !== undefined && key !== '') {
    facts.set(key, [...(facts.get(key) ?? []), String(value)])
  }
}
