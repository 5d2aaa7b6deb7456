import * as v from 'valibot'
import { fault, storable, type WireSchema } from '../fields.ts'

/** Metadata as a client may send it: any JSON object. */
export type MetadataInput = Readonly<Record<string, unknown>>

/** Metadata as it is kept: strings and lists of strings. */
export type Metadata = Readonly<Record<string, string | readonly string[]>>

/** Text of one metadata value; undefined for null, which is dropped. Throws RangeError when nested too deeply. */
function toText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return storable(typeof value === 'string' ? value : JSON.stringify(value))
}

function toMetadata(input: MetadataInput): Metadata {
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
