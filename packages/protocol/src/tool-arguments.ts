import { isJsonObject, readJson } from './json.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Converts arguments to a schema where their meaning is clear: JSON in a text, one value for a list and back, numbers
 * and truth in a text, a choice in other letters, null for an optional argument, a single argument under another name.
 * What fits the schema stays as it is, except for names as {@link safeNames} wrote them.
 * @param schema JSON Schema of an object
 * @returns the arguments unchanged where no conversion applies
 */
export function coerceArguments(args: unknown, schema: Schema): unknown {
  const reader = readerOf(schema)
  const outer = toObject(args)
  if (!outer) return args
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const own = Object(withDeclaredNames(unwrapped(outer, properties), schema)) as Schema
  const named = renameOne(own, Object.keys(properties), namesIn(schema['required']))
  return reader.coerce(named, schema)
}

/**
 * Gives arguments the declared names for those that {@link safeNames} wrote for a provider.
 * @param readsTexts whether texts that are JSON objects or lists are read where the schema allows anything, for a
 *   provider that was told of texts there
 */
export const withDeclaredNames = (args: unknown, schema: Schema, readsTexts = false): unknown =>
  readerOf(schema, readsTexts).restore(args, schema)

/** Tells what of arguments does not fit a schema, each by its path in plain words; at most five. */
export function argumentFaults(args: unknown, schema: Schema): string[] {
  return readerOf(schema).faults(args, schema)
}

const maxNameLength = 64

/** Names of arguments that every provider accepts, each its own, by the declared name. */
export function safeNames(names: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set<string>()
  // Those that are safe keep their name, whatever comes before them.
  const inOrder = [...names].toSorted((a, b) => Number(isSafe(b)) - Number(isSafe(a)))
  return new Map(
    inOrder.map((name) => {
      const plain = name.replace(/[^\w.-]/g, '_').slice(0, maxNameLength) || '_'
      let safe = plain
      for (let count = 2; used.has(safe); count++) safe = `${plain.slice(0, maxNameLength - 6)}_${count}`
      used.add(safe)
      return [name, safe]
    }),
  )
}

const isSafe = (name: string): boolean => /^[\w.-]{1,64}$/.test(name)

const namesIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((name) => typeof name === 'string') : []

/** An object, also as JSON text or alone in a list; what stands for no arguments is an empty one. */
function toObject(args: unknown): Record<string, unknown> | undefined {
  const value = typeof args === 'string' ? (args.trim() === '' ? null : readJson(args)) : args
  if (value === null || (Array.isArray(value) && value.length === 0)) return {}
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
  const [to, from] = [missing[0], strange[0]]
  if (to === undefined || from === undefined || missing.length + strange.length > 2 || !isNearName(from, to))
    return args
  const { [from]: value, ...others } = args
  return { ...others, [to]: value }
}

// Other names that models use for an argument.
const sameMeaning = [
  /^(?:q|quer(?:y|ies)|search(?:quer(?:y|ies)|terms?)?|question|keywords)$/,
  /^(?:ur[li]|urls|links?|address)$/,
  /^(?:code|program|script|python|source)$/,
  /^(?:prompt|description|text|content|input)$/,
]

function isNearName(name: string, other: string): boolean {
  const [a = '', b = ''] = [name, other].map((text) => text.toLowerCase().replace(/[^a-z0-9]/g, ''))
  if (a === b || `${a}s` === b || a === `${b}s`) return true
  return sameMeaning.some((names) => names.test(a) && names.test(b))
}

/** Schemas that the values of one call may be compared with; beyond it values stay as they are. */
const maxSteps = 100_000
const maxDepth = 100
const maxFaults = 5

/** @param root the schema that references point into */
function readerOf(
  root: Schema,
  readsTexts = false,
): {
  restore(value: unknown, schema: unknown): unknown
  coerce(value: unknown, schema: unknown): unknown
  faults(value: unknown, schema: unknown): string[]
} {
  let steps = 0
  let depth = 0
  /** Runs `work` one level deeper, unless the bounds are reached. Long lists in a schema count by their length. */
  const within = <T>(schema: Schema, otherwise: T, work: () => T): T => {
    steps += 1 + listOf(schema['required']).length + listOf(schema['enum']).length
    if (steps > maxSteps || depth >= maxDepth) return otherwise
    depth++
    const result = work()
    depth--
    return result
  }

  const collect = (value: unknown, given: unknown, path: string, faults: string[]): void => {
    if (faults.length >= maxFaults) return
    const schema = withoutReference(root, given)
    within(schema, undefined, () => {
      if (value === null && schema['nullable'] === true) return
      const say = (fault: string): unknown => faults.push(path === '' ? fault : `${path}: ${fault}`)
      const types = typesOf(schema)
      if (types.size > 0 && !hasType(value, types))
        return void say(`must be ${[...types].map((type) => words[type]).join(' or ')}`)
      const choices = choicesOf(schema)
      if (choices && !choices.some((choice) => isSame(choice, value))) {
        const shown = choices.slice(0, 20).map((choice) => JSON.stringify(choice))
        return void say(`must be ${choices.length === 1 ? '' : 'one of '}${shown.join(', ')}`)
      }
      for (const part of listOf(schema['allOf'])) collect(value, part, path, faults)
      const branches = branchesOf(schema)
      const lacks = branches.map((branch) => faultsAt(value, branch, path))
      if (branches.length > 0 && lacks.every((lack) => lack.length > 0))
        faults.push([...new Set(lacks.map(([first]) => first))].slice(0, maxFaults).join(', or '))
      if (Array.isArray(value))
        for (const [at, item] of value.entries()) collect(item, itemOf(schema, at), join(path, at), faults)
      if (!isJsonObject(value)) return
      for (const name of namesIn(schema['required']))
        if (value[name] === undefined) faults.push(`${join(path, name)}: is required`)
      for (const [name, inner] of Object.entries(value))
        if (inner !== undefined) collect(inner, propertyOf(schema, name), join(path, name), faults)
    })
  }
  const faultsAt = (value: unknown, schema: unknown, path: string): string[] => {
    const faults: string[] = []
    collect(value, schema, path, faults)
    return faults.slice(0, maxFaults)
  }
  const fits = (value: unknown, schema: unknown): boolean => faultsAt(value, schema, '').length === 0

  const restore = (given: unknown, declared: unknown): unknown => {
    const schema = withoutReference(root, declared)
    return within(schema, given, () => {
      const isRead = readsTexts && typeof given === 'string' && !limiting.some((key) => key in schema)
      const read = isRead ? readJson(given) : given
      let value = typeof read === 'object' && read !== null ? read : given
      if (Array.isArray(value))
        value = unlessSame(
          value,
          value.map((item, at) => restore(item, itemOf(schema, at))),
        )
      else if (isJsonObject(value)) value = restoreObject(value, schema)
      return [...listOf(schema['allOf']), ...branchesOf(schema)].reduce(restore, value)
    })
  }

  const restoreObject = (given: Schema, schema: Schema): Schema => {
    const declared = declaredNames(schema['properties'])
    const restored = Object.entries(given).map(([written, value]): [string, unknown] => {
      const own = declared.get(written) ?? written
      const name = Object.hasOwn(given, own) ? written : own
      const property = propertyOf(schema, name)
      return [name, property === undefined ? value : restore(value, property)]
    })
    const isUnchanged = restored.every(([name, value]) => Object.hasOwn(given, name) && given[name] === value)
    return isUnchanged ? given : Object.fromEntries(restored)
  }

  const coerce = (given: unknown, declared: unknown, isItem = false): unknown => {
    const schema = withoutReference(root, declared)
    return within(schema, given, () => {
      const types = typesOf(schema)
      let value = types.size === 0 || hasType(given, types) ? given : restore(converted(given, types, isItem), schema)
      const choices = choicesOf(schema)
      if (choices) value = chosen(value, choices)
      if (Array.isArray(value)) value = value.map((item, at) => coerce(item, itemOf(schema, at), true))
      else if (isJsonObject(value)) value = coerceObject(value, schema)
      for (const part of listOf(schema['allOf'])) value = coerce(value, part, isItem)
      const branches = branchesOf(schema)
      if (branches.length === 0 || branches.some((branch) => fits(value, branch))) return value
      for (const branch of branches) {
        const meant = coerce(value, branch, isItem)
        if (fits(meant, branch)) return meant
      }
      return value
    })
  }

  const coerceObject = (given: Schema, schema: Schema): unknown => {
    const required = namesIn(schema['required'])
    return Object.fromEntries(
      Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
        const property = propertyOf(schema, name)
        const meant = coerce(value, property)
        // Models fill in what they have no value for.
        const isBlank = meant === null || meant === '' || meant === 'null'
        return isBlank && !required.includes(name) && !fits(meant, property) ? [] : [[name, meant]]
      }),
    )
  }
  /** Declared names by those that {@link safeNames} makes of them. */
  const names = new Map<unknown, ReadonlyMap<string, string>>()
  const declaredNames = (properties: unknown): ReadonlyMap<string, string> => {
    const known = names.get(properties)
    if (known) return known
    const safe = [...safeNames(Object.keys(Object(properties)))].map(([own, name]) => [name, own] as const)
    const declared = new Map(safe)
    names.set(properties, declared)
    return declared
  }
  return { restore, coerce, faults: (value, schema) => faultsAt(value, schema, '') }
}

const unlessSame = (list: readonly unknown[], other: readonly unknown[]): readonly unknown[] =>
  other.every((item, at) => item === list[at]) ? list : other

/** Words of a schema that does not allow everything. */
const limiting = ['type', 'const', 'enum', 'anyOf', 'oneOf', 'allOf', 'properties', 'items']

const join = (path: string, step: string | number): string => (path === '' ? String(step) : `${path}.${step}`)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const branchesOf = (schema: Schema): readonly unknown[] => [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]

/** The values that a schema allows; undefined for any. */
export const choicesOf = (schema: Schema): readonly unknown[] | undefined =>
  'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : undefined

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))

/** Schema of a list's item; tuples state one for each place. */
function itemOf({ items, prefixItems }: Schema, at: number): unknown {
  const places = listOf(Array.isArray(items) ? items : prefixItems)
  return at < places.length ? places[at] : items
}

function propertyOf({ properties, additionalProperties }: Schema, name: string): unknown {
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
}

/** What a reference such as `#/$defs/name` leads to; undefined outside of the schema. */
export function referencedSchema(root: Schema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  const steps = reference.split('/').slice(1)
  return steps.reduce<unknown>((target, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof target === 'object' && target !== null && Object.hasOwn(target, name)
      ? Reflect.get(target, name)
      : undefined
  }, root)
}

/** A schema with what its reference leads to in place of the reference; {} for what is no schema. */
export function withoutReference(root: Schema, given: unknown): Schema {
  let schema: Schema = isJsonObject(given) ? given : {}
  for (let hops = 0; typeof schema['$ref'] === 'string' && hops < 20; hops++) {
    const { $ref: reference, ...beside } = schema
    const target = referencedSchema(root, String(reference))
    schema = { ...(isJsonObject(target) ? target : {}), ...beside }
  }
  return schema
}

const words: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

/** Types that a schema names; empty where it names none, or one that JSON Schema does not know. */
function typesOf(schema: Schema): ReadonlySet<string> {
  const types = [schema['type']].flat()
  return new Set(types.every((type) => typeof type === 'string' && Object.hasOwn(words, type)) ? types.map(String) : [])
}

function hasType(value: unknown, types: ReadonlySet<string>): boolean {
  if (typeof value === 'number') return types.has('number') || (types.has('integer') && Number.isInteger(value))
  return types.has(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
}

/** A value as one of the types, if it can only mean that; otherwise the value. */
function converted(value: unknown, types: ReadonlySet<string>, isItem: boolean): unknown {
  // A longer number would lose digits, or has lost them.
  const isExact = (number: number): boolean => Math.abs(number) <= Number.MAX_SAFE_INTEGER
  if (typeof value === 'string') {
    const known = readText(value.trim())
    if (known !== undefined && (typeof known !== 'number' || isExact(known)) && hasType(known, types)) return known
  }
  if (types.has('array') && value !== null && !Array.isArray(value)) return [value]
  if (Array.isArray(value) && value.length === 1) {
    const [only] = value
    return hasType(only, types) ? only : converted(only, types, isItem)
  }
  if (!types.has('string')) return value
  if (typeof value === 'boolean' || (typeof value === 'number' && isExact(value))) return String(value)
  // Of a list of texts, such as queries, models make objects. Any other object may be meant as a whole.
  const inner = isItem && isJsonObject(value) ? Object.values(value) : []
  return inner.length === 1 && typeof inner[0] === 'string' ? inner[0] : value
}

function readText(text: string): unknown {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  return readJson(text)
}

/** The choice that a text means in other letters, or as a text; otherwise the value. */
function chosen(value: unknown, choices: readonly unknown[]): unknown {
  if (choices.some((choice) => isSame(choice, value)) || typeof value === 'object') return value
  const text = String(value).trim().toLowerCase()
  const meant = choices.filter((choice) => typeof choice !== 'object' && String(choice).toLowerCase() === text)
  return meant.length === 1 ? meant[0] : value
}
