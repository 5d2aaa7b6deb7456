import { InlayError, isJsonObject, type JsonObject } from '@inlay/protocol'

/** The error for a document that cannot be used; the message is for the administrator who gave it. */
export function unusable(message: string): InlayError {
  return new InlayError('VALIDATION_ERROR', { message: `This OpenAPI document cannot be used: ${message}` })
}

const maxHops = 20

/**
 * The value that a `$ref` of the document leads to.
 * @throws VALIDATION_ERROR for references to other documents, and for those that lead nowhere
 */
export function lookUp(document: JsonObject, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw unusable('it refers to another document by $ref; put everything into one.')
  }
  let value: unknown = document
  for (const step of reference.split('/').slice(1)) {
    const name = nameOf(step)
    const holder: unknown = value
    if (Array.isArray(holder)) value = holder[Number(name)]
    else value = isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
    if (value === undefined) throw unusable(`the $ref ${reference.slice(0, 100)} leads nowhere.`)
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
 * @throws VALIDATION_ERROR when it is no object, leads nowhere or round in circles
 */
export function dereferenced(document: JsonObject, value: unknown): JsonObject {
  let place = value
  for (let hops = 0; hops <= maxHops; hops++) {
    if (!isJsonObject(place)) throw unusable('an object is expected where something else stands.')
    const reference = place['$ref']
    if (typeof reference !== 'string') return place
    const { $ref: _, ...own } = place
    const target = lookUp(document, reference)
    place = isJsonObject(target) ? { ...target, ...own } : target
  }
  throw unusable('its references lead round in circles.')
}
