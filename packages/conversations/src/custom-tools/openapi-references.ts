import { InlayError, isJsonObject, type JsonObject } from '@inlay/protocol'

/** The error for a document or operation that cannot be used; the message is for the administrator who gave it. */
export function unusable(message: string): InlayError {
  return new InlayError('VALIDATION_ERROR', { message: `This OpenAPI document cannot be used: ${message}` })
}

/** Why one operation of a document cannot be called. */
export class NotCallable extends Error {}

const maxHops = 20

/** @throws NotCallable for references to other documents, and for those that lead nowhere */
export function lookUp(document: JsonObject, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new NotCallable(`refers to another document by $ref (${reference.slice(0, 100)}): put everything into one`)
  }
  let value: unknown = document
  for (const step of reference.split('/').slice(1)) {
    const name = nameOf(step)
    const holder: unknown = value
    if (Array.isArray(holder)) value = holder[Number(name)]
    else value = isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
    if (value === undefined) throw new NotCallable(`its $ref ${reference.slice(0, 100)} leads nowhere`)
  }
  return value
}

/** A step of a JSON pointer in a fragment, decoded. */
function nameOf(step: string): string {
  let text = step
  try {
    text = decodeURIComponent(step)
  } catch {
    // A percent sign that stands for itself.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * A parameter, request body or path item with its `$ref` followed; its own fields win.
 * @throws NotCallable when it is no object, leads nowhere or round in circles
 */
export function dereferenced(document: JsonObject, value: unknown): JsonObject {
  let place = value
  for (let hops = 0; hops <= maxHops; hops++) {
    if (!isJsonObject(place)) throw new NotCallable('holds something else where an object is expected')
    const reference = place['$ref']
    if (typeof reference !== 'string') return place
    const { $ref: _, ...own } = place
    const target = lookUp(document, reference)
    place = isJsonObject(target) ? { ...target, ...own } : target
  }
  throw new NotCallable('its references lead round in circles')
}
