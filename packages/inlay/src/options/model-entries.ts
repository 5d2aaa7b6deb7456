import type { ModelSpec } from '@inlay/drivers/model-providers'
import { isJsonObject, readJson } from '@inlay/protocol'
import type { ModelRow } from './rows.ts'

/** A language model of `INLAY_MODELS`. */
export interface ModelEntry {
  readonly spec: ModelSpec
  /** Name of the environment variable with the key. */
  readonly keyVariable?: string
}

type ModelRows = Readonly<Record<string, ModelRow<unknown>>>

/** Reads a JSON list; undefined for anything else, including unknown fields. */
export function readModelEntries(text: string, rows: ModelRows): readonly ModelEntry[] | undefined {
  const listed = readJson(text)
  if (!Array.isArray(listed) || listed.length === 0) return undefined
  const entries = listed.flatMap((item) => readEntry(item, rows) ?? [])
  return entries.length === listed.length ? entries : undefined
}

function readEntry(item: unknown, rows: ModelRows): ModelEntry | undefined {
  if (!isJsonObject(item)) return undefined
  const { api_key_env: keyVariable, ...fields } = item
  if (keyVariable !== undefined && typeof keyVariable !== 'string') return undefined
  const spec: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) {
    const [name, row] = Object.entries(rows).find(([, each]) => each.field === field) ?? []
    const read = row?.fromJson(value)
    if (name === undefined || read === undefined) return undefined
    spec[name] = read
  }
  if (typeof spec['name'] !== 'string' || spec['name'].trim() === '') return undefined
  // Each field was read by its row.
  return { spec: spec as unknown as ModelSpec, ...(keyVariable !== undefined && { keyVariable }) }
}
