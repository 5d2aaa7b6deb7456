import type * as v from 'valibot'
import { nextSlice } from './concurrency.ts'
import { InlayError, validationFailed } from './errors/errors.ts'
import { parseWith } from './errors/validation.ts'

/** Shorter bodies are read at once, and without counting their values first. */
const harmlessCharacters = 200_000
/** Most values in one body: each is read in a fraction of a microsecond, and all of them without a pause. */
const mostValues = 100_000

/** Whether a JSON text has more values than a process should hold; whatever stands in strings counts nothing. */
function holdsTooMuch(json: string): boolean {
  let values = 0
  for (let at = 0; at < json.length && values <= mostValues; at++) {
    const unit = json.charCodeAt(at)
    if (unit === 0x22) at = endOfString(json, at)
    // A comma, an opening bracket or brace: each begins a value.
    else if (unit === 0x2c || unit === 0x5b || unit === 0x7b) values++
  }
  return values > mostValues
}

/** Position of the quote that closes the string opened at `start`. */
function endOfString(json: string, start: number): number {
  const end = json.indexOf('"', start + 1)
  if (end === -1) return json.length
  if (json.charCodeAt(end - 1) !== 0x5c) return end
  // Texts with one escaped quote have many: unit by unit is then faster than a search for each.
  for (let at = start + 1; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === 0x5c) at++
    else if (unit === 0x22) return at
  }
  return json.length
}

/**
 * Reads a JSON text by its schema; a leading byte order mark is skipped. The event loop gets its turn between the steps
 * of a long one.
 * @throws VALIDATION_FAILED, also for an empty or malformed text; PAYLOAD_TOO_LARGE for a long text of more than
 * 100,000 values
 */
export async function parseJsonBody<Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text
  const isLong = json.length > harmlessCharacters
  if (isLong && holdsTooMuch(json))
    throw new InlayError('PAYLOAD_TOO_LARGE', {
      message: 'The body holds more than 100,000 values: send fewer at once.',
    })
  if (isLong) await nextSlice()
  let value: unknown
  try {
    value = json.trim() === '' ? undefined : JSON.parse(json)
  } catch {
    throw validationFailed([{ loc: ['body'], msg: 'is not valid JSON', type: 'json_invalid' }])
  }
  if (isLong) await nextSlice()
  const read = parseWith(schema, value, 'body')
  if (isLong) await nextSlice()
  return read
}
