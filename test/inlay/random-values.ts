import type { JsonSchema } from '../protocol/fixtures/json-schema.ts'

/** Numbers in [0, 1). */
export type Random = () => number

/** Makes values from schemas. */
export interface ValueMaker {
  /** A value of the shape, or, now and then, of none. */
  make(schema: JsonSchema, name?: string): unknown
  /** One of the values. */
  pick<Value>(values: readonly Value[]): Value
  /** Whether something of this probability happens. */
  chance(probability: number): boolean
}

const odd: readonly unknown[] = [
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  true,
  [],
  {},
  [[]],
  'null',
  '\0',
  '\uD800',
  "'; drop table inlay_chat_messages; --",
  '%_\\',
  '../../etc/passwd',
  '💥'.repeat(3),
  'x'.repeat(5_000),
  '__proto__',
]
const texts = ['leave', 'How many days?', 'ein Wort', '*', '[1]', '```', 'a\nb', '\u2028', 'naïve 日本語']
const timestamps = [
  '2026-01-02T03:04:05Z',
  '2026-01-02',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59+14:00',
  'yesterday',
]

/**
 * Makes the maker.
 * @param known existing values by the name of their field, such as ids
 * @param options.wrong how likely a value is of another shape than asked for
 */
export function valueMaker(
  named: Readonly<Record<string, JsonSchema>>,
  known: () => Readonly<Record<string, readonly unknown[]>>,
  { random, wrong }: { readonly random: Random; readonly wrong: number },
): ValueMaker {
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
  const chance = (probability: number): boolean => random() < probability
  const text = (): string => pick(chance(0.8) ? texts : odd.filter((value) => typeof value === 'string'))

  function make(schema: JsonSchema, name = ''): unknown {
    if (chance(wrong)) return pick(odd)
    const own = known()[name]
    if (own !== undefined && own.length > 0 && chance(0.6)) return pick(own)
    if (schema.$ref) return make(named[schema.$ref.replace('#/components/schemas/', '')] ?? {}, name)
    if ('const' in schema) return schema.const
    if (schema.enum) return pick(schema.enum)
    const options = schema.anyOf ?? schema.oneOf
    if (options) return make(pick(options), name)
    return plain(schema, name)
  }

  function plain(schema: JsonSchema, name: string): unknown {
    switch (schema.type) {
      case 'string':
        if (schema.format === 'uuid') return chance(0.9) ? '00000000-0000-4000-8000-000000000000' : text()
        return schema.format === 'date-time' ? pick(timestamps) : text()
      case 'integer':
        return pick([0, 1, 2, 3, 5, 50, -1, 1_000_000_007])
      case 'number':
        return pick([0, 0.5, 1, 2, -3, 1e6])
      case 'boolean':
        return chance(0.5)
      case 'null':
        return null
      case 'array':
        return Array.from({ length: Math.floor(random() * 4) }, () => make(schema.items ?? {}, name))
      case 'object':
        return fields(schema)
      default:
        return pick(odd)
    }
  }

  function fields(schema: JsonSchema): Record<string, unknown> {
    const value: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const isNeeded = schema.required?.includes(name) === true
      if (isNeeded ? chance(1 - wrong) : chance(0.3)) value[name] = make(field, name)
    }
    if (typeof schema.additionalProperties === 'object') value[text()] = make(schema.additionalProperties)
    return value
  }

  return { make, pick, chance }
}
