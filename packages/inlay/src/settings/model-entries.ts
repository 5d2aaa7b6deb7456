import { readFileSync } from 'node:fs'
import type { Grounding } from '@inlay/agent'
import { isJsonObject, readJson } from '@inlay/protocol'
import type { LanguageModelChoice } from '../options/inlay-options.ts'
import type { Environment } from './readers.ts'

/** A language model in `INLAY_MODELS`. */
export interface ModelEntry {
  readonly name: string
  readonly provider?: string
  readonly base_url?: string
  readonly api_key?: string
  /** Name of the environment variable with the key. */
  readonly api_key_env?: string
  readonly context_tokens?: number
  readonly images?: boolean
  readonly grounding?: Grounding
  readonly output_tokens?: number
  readonly first_token_seconds?: number
  readonly silence_seconds?: number
  readonly compared_citations?: boolean
  readonly display_name?: string
}

const types: Readonly<Record<keyof ModelEntry, 'string' | 'number' | 'boolean'>> = {
  name: 'string',
  provider: 'string',
  base_url: 'string',
  api_key: 'string',
  api_key_env: 'string',
  context_tokens: 'number',
  images: 'boolean',
  grounding: 'string',
  output_tokens: 'number',
  first_token_seconds: 'number',
  silence_seconds: 'number',
  compared_citations: 'boolean',
  display_name: 'string',
}

/** Reads a JSON list, or a file that contains one; undefined for anything else, including unknown fields. */
export function readModelEntries(text: string): readonly ModelEntry[] | undefined {
  const entries = parse(text.startsWith('[') ? text : contentOf(text))
  return Array.isArray(entries) && entries.length > 0 && entries.every(isModelEntry) ? entries : undefined
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function parse(text: string): unknown {
  return readJson(text)
}

function isModelEntry(value: unknown): value is ModelEntry {
  if (!isJsonObject(value) || typeof value['name'] !== 'string' || value['name'].trim() === '') return false
  if (!['auto', 'tools', 'search-first', undefined].includes(value['grounding'] as string | undefined)) return false
  return Object.entries(value).every(
    ([name, field]) => name in types && typeof field === types[name as keyof ModelEntry],
  )
}

/** Converts the entries to options; adds errors to `faults`. */
export function modelsOf(
  entries: readonly ModelEntry[],
  env: Environment,
  faults: string[],
): readonly Exclude<LanguageModelChoice, string>[] {
  return entries.map((entry) => {
    const apiKey = keyOf(entry, env, faults)
    return {
      name: entry.name,
      ...(entry.provider !== undefined && { provider: entry.provider }),
      ...(entry.base_url !== undefined && { baseUrl: entry.base_url }),
      ...(apiKey !== undefined && { apiKey }),
      ...(entry.context_tokens !== undefined && { contextTokens: entry.context_tokens }),
      ...(entry.images !== undefined && { takesImages: entry.images }),
      ...(entry.grounding !== undefined && { grounding: entry.grounding }),
      ...(entry.output_tokens !== undefined && { outputTokens: entry.output_tokens }),
      ...(entry.first_token_seconds !== undefined && { firstTokenMs: entry.first_token_seconds * 1000 }),
      ...(entry.silence_seconds !== undefined && { silenceMs: entry.silence_seconds * 1000 }),
      ...(entry.compared_citations !== undefined && { comparesCitations: entry.compared_citations }),
      ...(entry.display_name !== undefined && { displayName: entry.display_name }),
    }
  })
}

function keyOf(entry: ModelEntry, env: Environment, faults: string[]): string | undefined {
  const { name, base_url: baseUrl, api_key: given, api_key_env: variable } = entry
  if (variable !== undefined) {
    const value = env[variable]?.trim()
    if (!value) faults.push(`INLAY_MODELS: "${name}" names the variable ${variable} for its key, which is not set.`)
    return value || undefined
  }
  if (given !== undefined || name === 'extractive') return given
  const provider = /^(openai|anthropic)\//.exec(name)?.[1]
  if (baseUrl !== undefined) return undefined
  if (provider === undefined) {
    faults.push(`INLAY_MODELS: "${name}" needs a base_url, or openai/ or anthropic/ in front.`)
    return undefined
  }
  // Never sends a provider's key to another address.
  const usual = provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'
  const value = env[usual]?.trim()
  if (!value) faults.push(`INLAY_MODELS: "${name}" needs a key; give it api_key or api_key_env, or set ${usual}.`)
  return value || undefined
}
