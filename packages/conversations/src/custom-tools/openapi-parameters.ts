import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { isForm } from './openapi-body.ts'
import { dereferenced, NotCallable } from './openapi-references.ts'
import { toJsonSchema } from './openapi-schema.ts'
import { isReservedHeader } from './request-headers.ts'

export type ParameterPlace = 'path' | 'query' | 'header'

export interface OpenApiParameter {
  /** Its name among the arguments: letters, digits, `_`, `-` and `.`, 64 at most; unique there. */
  readonly argument: string
  /** Its name in the request. */
  readonly name: string
  readonly place: ParameterPlace
  readonly isRequired: boolean
  /** Serialisation of lists and objects (`style`), e.g. `simple`, `form` or `deepObject`. */
  readonly style: string
  /** Whether each item of a list or field of an object is a parameter of its own (`explode`). */
  readonly explodes: boolean
  /** Whether the value is serialised as JSON. */
  readonly isJson: boolean
  readonly schema: JsonObject
}

// Limit of the model providers.
const maxArgumentLength = 64
const maxParameters = 500

/** Name of the argument that is sent as the body. */
export const bodyArgument = 'requestBody'

// The first is the default.
const styles: Readonly<Record<ParameterPlace, readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
}

/**
 * Reads the parameters of an operation and of its path; those of the operation replace the path's of the same name and
 * place. A path parameter that nobody describes is text.
 * @throws NotCallable for a required one that cannot be sent
 */
export function readParameters(
  document: JsonObject,
  { path, lists }: { readonly path: string; readonly lists: readonly unknown[] },
): OpenApiParameter[] {
  const named = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name ?? '')
  const undescribed = named.map((name) => ({ name, in: 'path', schema: { type: 'string' } }))
  const byPlace = new Map<string, OpenApiParameter>()
  for (const value of [undescribed, ...lists].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))) {
    const parameter = readParameter(document, value)
    if (parameter) byPlace.set(`${parameter.place} ${parameter.name}`, parameter)
  }
  if (byPlace.size > maxParameters) throw new NotCallable(`has more than ${maxParameters} parameters`)
  return withOwnArguments([...byPlace.values()].filter(({ place, name }) => place !== 'path' || named.includes(name)))
}

/** Undefined for one that is not sent. */
function readParameter(document: JsonObject, value: unknown): OpenApiParameter | undefined {
  const fields = dereferenced(document, value)
  const { name, in: where, content, description, required } = fields
  if (typeof name !== 'string' || name === '') throw new NotCallable('has a parameter without a name')
  // The schema of a whole query describes an object with a field for each parameter.
  const place = where === 'querystring' ? 'query' : where
  if (!isPlace(place)) {
    if (required !== true) return undefined
    throw new NotCallable(
      `needs ${name.slice(0, 60)} in ${where === 'cookie' ? where : 'another place'}, which is not sent`,
    )
  }
  if (place === 'header' && isReservedHeader(name)) return undefined
  const [usual = '', ...others] = styles[place]
  const style = others.find((known) => known === fields['style']) ?? usual
  const [type, media] = isJsonObject(content) ? (Object.entries(content)[0] ?? []) : []
  const schema = toJsonSchema(document, isJsonObject(media) ? media['schema'] : (fields['schema'] ?? {}))
  return {
    argument: name,
    name,
    place,
    isRequired: place === 'path' || required === true,
    style,
    explodes: typeof fields['explode'] === 'boolean' ? fields['explode'] : style === 'form',
    isJson: type !== undefined && !isForm(type),
    schema: typeof description === 'string' ? { ...schema, description } : schema,
  }
}

function isPlace(value: unknown): value is ParameterPlace {
  return typeof value === 'string' && Object.hasOwn(styles, value)
}

/**
 * Gives parameters names that models take, each its own: of one name in different places the path keeps the plain one.
 */
function withOwnArguments(parameters: readonly OpenApiParameter[]): OpenApiParameter[] {
  const order = Object.keys(styles)
  const used = new Set([bodyArgument])
  // What every object has would be found in arguments where a model gave none.
  const isTaken = (name: string): boolean => used.has(name) || name in Object.prototype
  return parameters
    .toSorted((a, b) => order.indexOf(a.place) - order.indexOf(b.place))
    .map((parameter) => {
      const plain = parameter.name.replace(/[^\w.-]/g, '_')
      const apart = `${parameter.place}_${plain}`
      let argument = (isTaken(plain.slice(0, maxArgumentLength)) ? apart : plain).slice(0, maxArgumentLength)
      for (let count = 2; isTaken(argument); count++) argument = `${apart.slice(0, maxArgumentLength - 4)}_${count}`
      used.add(argument)
      return { ...parameter, argument }
    })
}
