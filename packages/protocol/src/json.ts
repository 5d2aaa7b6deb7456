export type JsonObject = { readonly [key: string]: unknown }

/** Whether a value is an object and not a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text; undefined when the text is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON without halves of surrogate pairs, which some readers refuse or fail to print: they become U+FFFD. */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value)
  // Only such halves are escaped like this; a text that says so itself is just encoded twice.
  if (!json.includes('\\ud')) return json
  return JSON.stringify(value, (_, held: unknown) => (typeof held === 'string' ? held.toWellFormed() : held))
}
