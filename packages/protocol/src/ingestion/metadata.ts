import * as v from 'valibot'
import { fault, isStorable, rule, storable, type WireSchema } from '../fields.ts'

/** Metadata as a client may send it: any JSON object. */
export type MetadataInput = Readonly<Record<string, unknown>>

/** Metadata as it is kept: strings and lists of strings. */
export type Metadata = Readonly<Record<string, string | readonly string[]>>

const isKept = (value: unknown): value is string => typeof value === 'string' && isStorable(value)

function isMetadata(input: MetadataInput): input is Metadata {
  for (const key in input) {
    const value = input[key]
    if (key === '__proto__' || !isStorable(key)) return false
    if (!(Array.isArray(value) ? value.every(isKept) : isKept(value))) return false
  }
  return true
}

/** Nobody filters by more; each further one makes the object slower to read. */
const mostKeys = 20_000

/** Text of one metadata value; undefined for null, which is dropped. Throws RangeError when nested too deeply. */
function toText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return storable(typeof value === 'string' ? value : JSON.stringify(value))
}

function toMetadata(input: MetadataInput): Metadata {
  // Most is kept as it comes, and an object of many thousand keys takes long to make.
  if (isMetadata(input)) return input
  const entries: [string, string | string[]][] = []
  for (const [key, value] of Object.entries(input)) {
    // Nothing is called so on purpose, and somebody's `target[key] = …` would change a prototype.
    if (key === '__proto__') continue
    const kept = Array.isArray(value) ? value.map(toText).filter((item) => item !== undefined) : toText(value)
    if (kept !== undefined) entries.push([storable(key), kept])
  }
  return Object.fromEntries(entries)
}

const isObject = (value: unknown): value is MetadataInput =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Metadata of a document. Numbers, booleans and objects become their JSON text, null values are dropped; the items of
 * a list likewise. What is no object is refused.
 */
export const metadataSchema: WireSchema<Metadata, MetadataInput> = v.pipe(
  // Not `record`: it drops keys such as `constructor`.
  v.custom<MetadataInput>(isObject, fault('dict_type', 'must be an object')),
  v.metadata({ type: 'object', additionalProperties: true }),
  rule('too_long', `must not have more than ${mostKeys} keys`, (value) => Object.keys(value).length <= mostKeys),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    try {
      return toMetadata(dataset.value)
    } catch {
      // JSON.stringify recurses; only absurd nesting exhausts the stack.
      addIssue({ message: fault('recursion_loop', 'holds values that are nested too deeply') })
      return NEVER
    }
  }),
)
