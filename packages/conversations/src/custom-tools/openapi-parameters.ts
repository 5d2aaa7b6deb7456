import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { dereferenced, unusable } from './openapi-references.ts'
import { toJsonSchema } from './openapi-schema.ts'
import { isReservedHeader } from './request-headers.ts'

/** Location of a parameter in the request. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'

/** A parameter of an operation. */
export interface OpenApiParameter {
  /** Its name among the arguments: letters, digits, `_`, `-` and `.`, 64 at most; unique there. */
  readonly argument: string
  /** Its name in the request. */
  readonly name: string
  readonly place: ParameterPlace
  readonly isRequired: boolean
  /** Serialisation of lists and objects: `simple`, `form`, `spaceDelimited`, `pipeDelimited` or `deepObject`. */
  readonly style: string
  /** Whether each item of a list or field of an object is a parameter of its own (`explode`). */
  readonly explodes: boolean
  /** Whether the value is serialised as JSON. */
  readonly isJson: boolean
  readonly schema: JsonObject
}

// Limit of the model providers.
const maxArgumentLength = 64

/** Name of the argument that is sent as the body. */
export const bodyArgument = 'requestBody'

const places: Readonly<Record<ParameterPlace, readonly string[]>> = {
  path: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/**
 * Reads the parameters of an operation and of its path; those of the operation replace the path's of the same name and
 * place.
 * @throws VALIDATION_ERROR for a path whose parameters are not all described, and for styles that are not known
 */
export function readParameters(
  document: JsonObject,
  { place, path, lists }: { readonly place: string; readonly path: string; readonly lists: readonly unknown[] },
): OpenApiParameter[] {
  const byPlace = new Map<string, OpenApiParameter>()
  for (const value of lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))) {
    const parameter = readParameter(document, value, place)
    if (parameter.place === 'header' && isReservedHeader(parameter.name)) continue
    byPlace.set(`${parameter.place} ${parameter.name}`, parameter)
  }
  const named = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name ?? '')
  const missing = named.find((name) => !byPlace.has(`path ${name}`))
  if (missing !== undefined) throw unusable(`${place} does not describe its path parameter ${missing.slice(0, 60)}.`)
  const used = [...byPlace.values()].filter((given) => given.place !== 'path' || named.includes(given.name))
  return withOwnArguments(used)
}

function readParameter(document: JsonObject, value: unknown, place: string): OpenApiParameter {
  const fields = dereferenced(document, value)
  const { name, in: where, content, description } = fields
  if (typeof name !== 'string' || name === '' || !isPlace(where)) {
    throw unusable(`a parameter of ${place} needs a name, and a place: path, query, header or cookie.`)
  }
  const style = typeof fields['style'] === 'string' ? fields['style'] : (places[where][0] ?? '')
  if (!places[where].includes(style)) throw unusable(`${place} has a parameter in the style ${style.slice(0, 30)}.`)
  const media = isJsonObject(content) ? Object.values(content)[0] : undefined
  const schema = toJsonSchema(document, isJsonObject(media) ? media['schema'] : (fields['schema'] ?? {}))
  return {
    argument: name,
    name,
    place: where,
    isRequired: where === 'path' || fields['required'] === true,
    style,
    explodes: typeof fields['explode'] === 'boolean' ? fields['explode'] : style === 'form',
    isJson: isJsonObject(media),
    schema: typeof description === 'string' ? { ...schema, description } : schema,
  }
}

function isPlace(value: unknown): value is ParameterPlace {
  return typeof value === 'string' && Object.hasOwn(places, value)
}

/**
 * Gives parameters names that models take, each its own: of one name in different places the path keeps the plain one.
 */
function withOwnArguments(parameters: readonly OpenApiParameter[]): OpenApiParameter[] {
  const order = Object.keys(places)
  const used = new Set([bodyArgument])
  return parameters
    .toSorted((a, b) => order.indexOf(a.place) - order.indexOf(b.place))
    .map((parameter) => {
      const plain = parameter.name.replace(/[^\w.-]/g, '_')
      const apart = `${parameter.place}_${plain}`
      let argument = (used.has(plain.slice(0, maxArgumentLength)) ? apart : plain).slice(0, maxArgumentLength)
      for (let count = 2; used.has(argument); count++) argument = `${apart.slice(0, maxArgumentLength - 4)}_${count}`
      used.add(argument)
      return { ...parameter, argument }
    })
}
