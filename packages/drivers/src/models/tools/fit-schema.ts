import {
  choicesOf,
  isJsonObject,
  referencedSchema,
  safeNames,
  withoutReference,
  type JsonObject,
} from '@inlay/protocol'
import type { ToolRules } from './tool-rules.ts'

type Json = Record<string, unknown>

// A schema that says more is said in short, however it refers to itself.
const maxSchemas = 5_000
const maxDepth = 24
const maxStrictDepth = 8
const maxStrictChoices = 100
const maxBranches = 100
const maxNested = 4

/**
 * A schema as a provider takes it; what the provider takes stays as it is. Arguments that fit it are brought back to
 * the declared schema by `coerceArguments`.
 * @param root JSON Schema of an object, also one that breaks the rules of JSON Schema
 */
export function fitSchema(root: JsonObject, rules: ToolRules): JsonObject {
  let count = 0

  const resolved = (given: unknown): Json => ({ ...withoutReference(root, given) })

  const fit = (given: unknown, open: readonly unknown[] = []): unknown => {
    if (typeof given === 'boolean') return rules.isOpenApi || rules.isWithoutBooleans ? anything : given
    if (!isJsonObject(given)) return rules.isOpenApi ? anything : {}
    const reference = given['$ref']
    const isLost = typeof reference === 'string' && !isJsonObject(referencedSchema(root, reference))
    const inlines = isLost || (rules.isOpenApi && typeof reference === 'string')
    if (
      ++count > maxSchemas ||
      open.length > (rules.isStrict ? maxStrictDepth : maxDepth) ||
      (inlines && open.includes(reference))
    ) {
      const { type, description } = resolved(given)
      return finished({ ...(type !== undefined && { type }), ...(description !== undefined && { description }) })
    }
    const schema = inlines ? resolved(given) : { ...given }
    return fitParts(flattened(schema, open.length === 0), [...open, reference])
  }

  /** Puts unions into the schema that holds them, where a provider takes none there. */
  const flattened = (schema: Json, isTop: boolean): Json => {
    let flat = schema
    if (isTop && (rules.isPlainAtTop || rules.isOpenApi)) {
      const { enum: _, const: __, not: ___, ...others } = merged(merged(flat, 'allOf'), 'anyOf')
      return merged(others, 'oneOf')
    }
    if (!rules.isOpenApi || ++count > maxSchemas) return flat
    flat = merged(flat, 'allOf')
    const { oneOf, ...others } = flat
    if (Array.isArray(oneOf)) flat = { ...others, anyOf: [...listOf(flat['anyOf']), ...oneOf] }
    const branches = listOf(flat['anyOf']).map(resolved)
    if (branches.length === 0) return flat
    const values = branches.filter(({ type }) => type !== 'null')
    const { anyOf: _, ...beside } = flat
    const isNullable = values.length < branches.length && { nullable: true }
    const areObjects = values.every((branch) => branch['type'] === 'object' || isFields(branch))
    if (values.length <= 1) return flattened({ ...values[0], ...beside, ...isNullable }, false)
    if (areObjects && (rules.isStrict || 'properties' in flat)) return merged(flat, 'anyOf')
    if (rules.isStrict) return flattened({ ...values[0], ...beside }, false)
    // Vertex takes no other field beside a union.
    return {
      anyOf: values.map((branch) => ({ ...pick(beside, 'description'), ...branch })),
      ...pick(beside, 'nullable'),
      ...isNullable,
    }
  }

  /** Merges the branches of a union into a schema: any of their fields may be given, what all demand has to be. */
  const merged = (schema: Json, union: 'allOf' | 'anyOf' | 'oneOf', depth = 0): Json => {
    const { [union]: list, ...own } = schema
    if (depth > maxNested || count > maxSchemas) return own
    const branches = listOf(list)
      .slice(0, maxBranches)
      .flatMap((branch): Json[] => {
        if (count > maxSchemas) return []
        const { $defs: _, definitions: __, ...inner } = resolved(branch)
        count += Object.keys(Object(inner['properties'])).length + 1
        return [merged(inner, 'allOf', depth + 1)]
      })
    if (branches.length === 0) return own
    const properties: Json = {}
    for (const part of [own, ...branches])
      for (const [name, inner] of Object.entries(isJsonObject(part['properties']) ? part['properties'] : {}))
        properties[name] = Object.hasOwn(properties, name) ? either(properties[name], inner, union) : inner
    const demanded = branches.map((branch) => listOf(branch['required']))
    const common =
      union === 'allOf'
        ? demanded.flat()
        : (demanded[0] ?? []).filter((name) => demanded.every((names) => names.includes(name)))
    const required = [...new Set([...listOf(own['required']), ...common])]
    const rest = union === 'allOf' ? Object.assign({}, ...branches) : {}
    return {
      ...rest,
      ...own,
      ...(Object.keys(properties).length > 0 && { type: 'object', properties }),
      ...(required.length > 0 && { required }),
    }
  }

  const fitParts = (schema: Json, open: readonly unknown[]): Json => {
    const names = safeNames(isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [])
    const nameOf = (name: string): string => (rules.isNamedPlainly ? (names.get(name) ?? name) : name)
    const fitMap = (map: unknown, write = (name: string): string => name): Json =>
      Object.fromEntries(Object.entries(Object(map)).map(([name, inner]) => [write(name), fit(inner, open)]))
    const result: Json = {}
    for (const [key, value] of Object.entries(mended(schema, rules))) {
      if (!rules.keeps(key)) continue
      if (key === 'properties') result[key] = fitMap(isJsonObject(value) ? value : {}, nameOf)
      else if (maps.has(key)) result[key] = fitMap(value)
      else if (lists.has(key)) result[key] = listOf(value).map((inner) => fit(inner, open))
      else if (key === 'items' && !Array.isArray(value)) result[key] = fit(value, open)
      else if (schemas.has(key) && isJsonObject(value)) result[key] = fit(value, open)
      else if (key === 'required') {
        const known = listOf(value).filter((name) => typeof name === 'string' && (!rules.isOpenApi || names.has(name)))
        if (known.length > 0 || !rules.isOpenApi) result[key] = known.map((name) => nameOf(String(name)))
      } else result[key] = value
    }
    return finished(result)
  }

  const finished = (schema: Json): Json => {
    const types = [schema['type']].flat()
    if ((rules.hasItems || rules.isOpenApi) && types.includes('array') && schema['items'] === undefined)
      schema['items'] = rules.isOpenApi ? anything : {}
    if (rules.isOpenApi && schema['type'] === undefined && schema['anyOf'] === undefined)
      schema['type'] = 'properties' in schema ? 'object' : 'items' in schema ? 'array' : 'string'
    return schema
  }

  const top = typeof root['$ref'] === 'string' ? resolved(root) : root
  // What is fitted is an object again.
  const fitted = fit({ ...top, type: 'object', properties: top['properties'] ?? {} }) as JsonObject
  return JSON.stringify(fitted) === JSON.stringify(root) ? root : fitted
}

const anything = { type: 'string' }

const maps = new Set(['patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const schemas = new Set(['additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'items'])

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isFields = (branch: Json): boolean => 'properties' in branch || ('required' in branch && !('type' in branch))

const pick = (schema: Json, key: string): Json => (schema[key] === undefined ? {} : { [key]: schema[key] })

/** A field that two branches describe; `allOf` takes the first, which both have to fit. */
function either(a: unknown, b: unknown, union: string): unknown {
  if (union === 'allOf' || JSON.stringify(a) === JSON.stringify(b)) return a
  const choices = [a, b].map((part) => (isJsonObject(part) ? choicesOf(part) : undefined))
  if (choices.every((list) => list !== undefined)) {
    const { const: _, ...rest } = a as JsonObject
    return { ...rest, enum: [...new Set(choices.flat())] }
  }
  const earlier = isJsonObject(a) && Object.keys(a).length === 1 && Array.isArray(a['anyOf']) ? a['anyOf'] : [a]
  return { anyOf: [...earlier, b] }
}

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** One schema, without those in it, in the words of JSON Schema, or of OpenAPI where the provider wants these. */
function mended(given: Json, rules: ToolRules): Json {
  const schema = { ...given }
  const drop = (...keys: readonly string[]): void => keys.forEach((key) => delete schema[key])
  for (const key of ['description', 'title', 'format', 'pattern'])
    if (key in schema && typeof schema[key] !== 'string') drop(key)
  for (const key of ['required', 'enum', ...lists]) if (key in schema && !Array.isArray(schema[key])) drop(key)
  for (const key of ['enum', 'anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(schema[key]) && listOf(schema[key]).length === 0) drop(key)
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    const isMeant = schema[exclusive] && typeof schema[bound] === 'number'
    if (isMeant) schema[exclusive] = schema[bound]
    drop(isMeant ? bound : exclusive)
  }
  mendTypes(schema, rules)
  const places = listOf(Array.isArray(schema['items']) ? schema['items'] : schema['prefixItems'])
  if (places.length > 0 && (rules.isOpenApi || (rules.isWithoutTuples && Array.isArray(schema['items'])))) {
    const forms = [...new Map(places.map((place) => [JSON.stringify(place), place])).values()]
    schema['items'] = forms.length === 1 ? forms[0] : { anyOf: forms }
    drop('prefixItems', 'additionalItems')
  }
  if (rules.isOpenApi) toOpenApi(schema, rules)
  return schema
}

function mendTypes(schema: Json, { isOpenApi, isStrict }: ToolRules): void {
  if (!('type' in schema)) return
  const named = [schema['type']].flat()
  const known = [...new Set(named.map((type) => String(type).toLowerCase()).filter((type) => types.has(type)))]
  if (JSON.stringify(known) !== JSON.stringify(named)) schema['type'] = known.length > 1 ? known : known[0]
  if (known.length === 0) delete schema['type']
  if (!isOpenApi || known.length === 0) return
  const values = known.filter((type) => type !== 'null')
  if (values.length < known.length && !isStrict) schema['nullable'] = true
  schema['type'] = values[0] ?? 'string'
  if (values.length < 2 || isStrict || 'properties' in schema || 'items' in schema) return
  delete schema['type']
  schema['anyOf'] = values.map((type) => ({ type }))
}

function toOpenApi(schema: Json, { isStrict }: ToolRules): void {
  const choices = choicesOf(schema)
  if (choices) {
    const texts = choices.filter((choice) => typeof choice !== 'object' && choice !== '').map(String)
    if (choices.includes(null) && !isStrict) schema['nullable'] = true
    delete schema['const']
    delete schema['enum']
    if (texts.length > 0 && !(isStrict && texts.length > maxStrictChoices))
      Object.assign(schema, { type: 'string', enum: [...new Set(texts)] })
  }
  // Gemini knows no other format of texts.
  if (schema['type'] === 'string' && schema['format'] !== 'date-time') delete schema['format']
}
