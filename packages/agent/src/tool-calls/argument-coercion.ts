import { isJsonObject, readJson } from '@inlay/protocol'

type Schema = Readonly<Record<string, unknown>>

/**
 * Converts arguments to a schema where their meaning is clear: JSON in a text, an object in a list, one value for a
 * list, a number in a text, a single argument under another name, null for an optional argument.
 * @param schema JSON Schema of an object
 * @returns the arguments unchanged where no conversion applies
 */
export function coerceArguments(args: unknown, schema: Schema): unknown {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter((name) => typeof name === 'string')
    : []
  const outer = toObject(args)
  if (!outer) return args
  const object = unwrapped(outer, properties)
  const named = renameOne(object, Object.keys(properties), required)
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => {
      const property = properties[name]
      if (!isJsonObject(property)) return [[name, value]]
      const isLeftOut = value === null && !required.includes(name) && !typesOf(property).has('null')
      return isLeftOut ? [] : [[name, coerceValue(value, property)]]
    }),
  )
}

function toObject(args: unknown): Record<string, unknown> | undefined {
  const value = typeof args === 'string' ? readJson(args) : args
  if (isJsonObject(value)) return value
  return Array.isArray(value) && value.length === 1 && isJsonObject(value[0]) ? value[0] : undefined
}

const wrappers = new Set(['arguments', 'parameters', 'input', 'args', 'kwargs', 'params'])

/** Unwraps arguments nested in an argument such as `arguments`, if the schema knows them and not that name. */
function unwrapped(args: Record<string, unknown>, properties: Schema): Record<string, unknown> {
  const [entry, ...others] = Object.entries(args)
  if (entry === undefined || others.length > 0 || !wrappers.has(entry[0]) || entry[0] in properties) return args
  const names = Object.keys(properties)
  const inner = toObject(entry[1])
  const isKnown = (name: string): boolean => names.some((known) => isNearName(name, known))
  return inner && names.length > 0 && Object.keys(inner).every(isKnown) ? inner : args
}

/** Gives the only missing argument the value of the only unknown one. */
function renameOne(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
  required: readonly string[],
): Readonly<Record<string, unknown>> {
  const missing = required.filter((name) => args[name] === undefined || args[name] === null)
  const strange = Object.keys(args).filter((name) => !names.includes(name))
  const [to, ...otherMissing] = missing
  const [from, ...otherStrange] = strange
  if (to === undefined || from === undefined || otherMissing.length + otherStrange.length > 0) return args
  if (!isNearName(from, to)) return args
  const { [from]: value, ...others } = args
  return { ...others, [to]: value }
}

// Names that models use for search queries.
const sameMeaning = [
  [
    'query',
    'queries',
    'q',
    'search',
    'searchquery',
    'searchqueries',
    'searchterm',
    'searchterms',
    'question',
    'keywords',
  ],
  ['url', 'urls', 'link', 'links', 'address', 'uri'],
  ['code', 'program', 'script', 'python', 'source'],
  ['prompt', 'description', 'text', 'content', 'input'],
]

function isNearName(name: string, other: string): boolean {
  const [a, b] = [name, other].map((text) => text.toLowerCase().replace(/[^a-z0-9]/g, ''))
  if (a === undefined || b === undefined) return false
  if (a === b || `${a}s` === b || a === `${b}s`) return true
  return sameMeaning.some((names) => names.includes(a) && names.includes(b))
}

function coerceValue(value: unknown, schema: Schema): unknown {
  const types = typesOf(schema)
  if (types.has('array') && Array.isArray(value)) return value.map((item) => coerceItem(item, schema))
  if (types.has('array') && !Array.isArray(value) && value !== null) {
    if (types.has('string') && typeof value === 'string') return value
    const parsed = typeof value === 'string' ? readJson(value) : undefined
    return Array.isArray(parsed) ? parsed : [value]
  }
  if (types.has('string') && !types.has('array') && Array.isArray(value) && value.length === 1) return value[0]
  if (types.has('object') && typeof value === 'string') {
    const parsed = readJson(value)
    return isJsonObject(parsed) ? parsed : value
  }
  if (typeof value !== 'string' || types.has('string')) return value
  if ((types.has('number') || types.has('integer')) && value.trim() !== '' && Number.isFinite(Number(value)))
    return Number(value)
  if (types.has('boolean') && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  return value
}

/** The only text of an object, where a list of texts is expected. */
function coerceItem(item: unknown, schema: Schema): unknown {
  if (!isJsonObject(item)) return item
  const lists = [schema, ...[schema['anyOf'], schema['oneOf']].filter(Array.isArray).flat()].filter(isJsonObject)
  const items = lists
    .filter(({ type, items: own }) => type === 'array' || own !== undefined)
    .map((list) => list['items'])
  if (items.length === 0 || !items.every((own) => isJsonObject(own) && own['type'] === 'string')) return item
  const texts = Object.values(item).filter((value) => typeof value === 'string')
  return texts.length === 1 ? texts[0] : item
}

function typesOf(schema: Schema): Set<string> {
  const alternatives = [schema['anyOf'], schema['oneOf']].filter(Array.isArray).flat().filter(isJsonObject)
  const own = [schema['type']].flat().filter((type) => typeof type === 'string')
  return new Set([...own, ...alternatives.flatMap((alternative) => [...typesOf(alternative)])])
}
