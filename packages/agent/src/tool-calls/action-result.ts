import { InlayError, isJsonObject } from '@inlay/protocol'
import type { ActionResult } from '../contracts/action.ts'

/** Whether a value is an `ActionResult`: an object with a text. Its other fields are not for the model. */
const isResult = (value: unknown): value is ActionResult => isJsonObject(value) && typeof value['text'] === 'string'

/**
 * Converts the return value of an action: text stays, any other value becomes JSON.
 * @throws VALIDATION_ERROR for a value that has no JSON form
 */
export function toActionResult(value: unknown, name: string): ActionResult {
  if (typeof value === 'string') return { text: value }
  if (isResult(value)) return value
  if (value === undefined) return { text: 'The tool has run and returned nothing.' }
  return { text: toJson(value, name) }
}

function toJson(value: unknown, name: string): string {
  const hidden = new Set<string>()
  let json: string | undefined
  try {
    json = JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner === 'bigint') return inner.toString()
      if (isOpaque(inner)) hidden.add(inner.constructor.name)
      return inner
    })
  } catch (error) {
    throw notJson(name, 'refers to itself or cannot be written as JSON', error)
  }
  if (json === undefined) throw notJson(name, `is a ${typeof value}`)
  const [kind] = hidden
  if (kind !== undefined) throw notJson(name, `holds a ${kind}, which has no JSON form`)
  return json
}

/** Whether an object has content that JSON would show as `{}`: a Map, a Response, a Promise, an Error. */
function isOpaque(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && prototype !== Object.prototype && Object.keys(value).length === 0
}

function notJson(name: string, fault: string, cause?: unknown): InlayError {
  const message = `The result of the action ${name} ${fault}. An action returns text, JSON or an ActionResult.`
  return new InlayError('VALIDATION_ERROR', { message, cause })
}
