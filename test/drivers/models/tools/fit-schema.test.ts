import { Ajv } from 'ajv'
import fc from 'fast-check'
import { argumentFaults, coerceArguments, type JsonObject } from '@inlay/protocol'
import { fitSchema } from '@inlay/drivers/internal/models/tools/fit-schema'
import { knownRefusals } from '@inlay/drivers/internal/models/known-refusals'
import { refusal, rulesOf, type ToolRules } from '@inlay/drivers/internal/models/tools/tool-rules'
import { describe, expect, test } from 'vitest'
import { anthropic } from '../../../stand-in/providers/anthropic.ts'
import { geminiCompatible } from '../../../stand-in/providers/gemini.ts'
import { ollama } from '../../../stand-in/providers/local.ts'
import { openai } from '../../../stand-in/providers/openai.ts'
import type { Provider } from '../../../stand-in/providers/provider.ts'
import { cpuMsOf } from '../../../cpu-time.ts'
import { fineSchemas, oddSchemas } from './real-schemas.ts'

const strictRules = rulesOf(new Set([refusal.schemaOf('tool')]), 'tool')
const rulesFor = (names: string): ToolRules => rulesOf(new Set(knownRefusals(names)))

/** The providers with what they are known by, and how they are sent a tool. */
const dialects: readonly (readonly [name: string, rules: ToolRules, provider: Provider])[] = [
  ['OpenAI', rulesFor('openai  gpt-5'), openai],
  ['Azure', rulesFor('openai-compatible https://x.openai.azure.com/openai/v1 mine'), openai],
  ['Anthropic', rulesFor('anthropic  claude-sonnet-5'), anthropic],
  ['Claude by Bedrock', rulesFor('amazon-bedrock  eu.anthropic.claude-sonnet-5'), anthropic],
  [
    'Gemini, as OpenAI',
    rulesFor('openai-compatible https://generativelanguage.googleapis.com/v1beta/openai m'),
    geminiCompatible,
  ],
  ['Gemini by OpenRouter', rulesFor('openrouter  google/gemini-3-pro'), geminiCompatible],
  ['Ollama', rulesFor('openai-compatible http://127.0.0.1:11434/v1 qwen3'), ollama],
  ...[openai, anthropic, geminiCompatible, ollama].map(
    (provider) => [`what any provider takes: ${provider.title}`, strictRules, provider] as const,
  ),
]

/** What a provider says to a tool with this schema. */
function refusalOf(provider: Provider, schema: JsonObject): unknown {
  const described = { name: 'tool', description: 'A tool.' }
  const tool =
    provider === anthropic
      ? { ...described, input_schema: schema }
      : { type: 'function', function: { ...described, parameters: schema } }
  const headers = { authorization: 'Bearer key', 'x-api-key': 'key', 'anthropic-version': '1' }
  const request = { method: 'POST', path: '/', headers, body: { tools: [tool], messages: [], max_tokens: 9 } }
  return provider.rules.map((rule) => rule.refuses(request)).find(Boolean)
}

const ajv = new Ajv({ strict: false, validateFormats: false })

describe.each(dialects)('%s', (name, rules, provider) => {
  test.each(fineSchemas)('takes %s as it is', (_, schema) => {
    expect(refusalOf(provider, schema)).toBe(undefined)
    if (rules !== strictRules) expect(fitSchema(schema, rules)).toBe(schema)
  })

  test.each(oddSchemas)('takes %s once it is fitted', (_, schema) => {
    const before = structuredClone(schema)
    const fitted = fitSchema(schema, rules)
    expect(refusalOf(provider, fitted)).toBe(undefined)
    expect(() => ajv.compile(JSON.parse(JSON.stringify(fitted).replaceAll('"nullable"', '"x-nullable"')))).not.toThrow()
    expect(fitSchema(fitted, rules)).toEqual(fitted)
    expect(schema).toEqual(before)
    expect(name).not.toBe('')
  })
})

test('a server that is not known gets schemas as they are, unless they are none', () => {
  const unknown = rulesFor('openai-compatible https://models.example/v1 m')
  for (const [, schema] of fineSchemas) expect(fitSchema(schema, unknown)).toBe(schema)
  const same = oddSchemas.filter(([, schema]) => fitSchema(schema, unknown) === schema).map(([name]) => name)
  for (const name of [
    'one of two ids',
    'a tree',
    'a text or null',
    'a pair',
    'lists without items',
    'formats',
    'patterns',
    'keywords as names',
  ])
    expect(same).toContain(name)
})

const leaf = fc.constantFrom<JsonObject[]>(
  {},
  { type: 'string' },
  { type: 'integer' },
  { type: 'boolean' },
  { type: ['string', 'null'] },
  { type: ['integer', 'boolean'] },
  { enum: ['a', 'B', 3] },
  { const: 'x' },
  { $ref: '#/$defs/shared' },
)
const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b c', '$d'), tie('schema')),
    }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.tuple(tie('schema')) }),
  ),
}))
const shared = { type: 'object', properties: { deep: { type: 'integer' } }, required: ['deep'] }

/** A value that a schema without references allows. */
function valueOf(schema: unknown, pick: (among: number) => number): unknown {
  const { type, properties, items, anyOf, enum: choices } = Object(schema) as Record<string, unknown>
  if (Array.isArray(anyOf)) return valueOf(anyOf[pick(anyOf.length)], pick)
  if (Array.isArray(choices)) return choices[pick(choices.length)]
  const kind = Array.isArray(type) ? type[pick(type.length)] : type
  if (kind === 'object')
    return Object.fromEntries(Object.entries(Object(properties)).map(([name, inner]) => [name, valueOf(inner, pick)]))
  if (kind === 'array') return [valueOf(items, pick)]
  return { integer: 3, number: 2.5, boolean: true, null: null }[String(kind)] ?? 'x'
}

test.each([
  ['strict', strictRules],
  ['Gemini', rulesFor('openrouter  google/gemini-3-pro')],
])('what fits a schema made for %s comes back as what the declared one allows', (_, rules) => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('a', 'e f'), anySchema),
      fc.infiniteStream(fc.nat(99)),
      (own, numbers) => {
        const declared = { type: 'object', properties: own, $defs: { shared } }
        const fitted = fitSchema(declared, rules)
        const args = valueOf(fitted, (among) => (numbers.next().value ?? 0) % among)
        expect(ajv.validate(JSON.parse(JSON.stringify(fitted).replaceAll('"nullable"', '"x-nullable"')), args)).toBe(
          true,
        )
        expect(argumentFaults(coerceArguments(args, declared), declared)).toEqual([])
      },
    ),
    { numRuns: 300 },
  )
})

const knot = {
  allOf: [{ $ref: '#' }, { $ref: '#/$defs/k' }],
  anyOf: [{ $ref: '#/$defs/k' }, { $ref: '#' }],
  properties: { k: { $ref: '#' } },
}
const wide = Object.fromEntries(
  Array.from({ length: 20_000 }, (_, at) => [`field ${at}`, { type: 'string', description: 'x'.repeat(20) }]),
)
const bomb = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [
    `d${at}`,
    {
      type: 'object',
      properties: Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { $ref: `#/$defs/d${at + 1}` }])),
    },
  ]),
)

test.each<[string, JsonObject]>([
  ['refers to itself in every way', { ...knot, $defs: { k: knot } }],
  ['unfolds without end', { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: bomb }],
  ['is of a megabyte', { type: 'object', properties: wide }],
  [
    'is of a megabyte in parts',
    {
      type: 'object',
      allOf: Array.from({ length: 500 }, () => ({ $ref: '#/$defs/w' })),
      $defs: { w: { properties: wide } },
    },
  ],
  [
    'has a union of thousands',
    { type: 'object', anyOf: Array.from({ length: 5_000 }, (_, at) => ({ properties: { a: { const: at } } })) },
  ],
  ['is deep', JSON.parse(`{"properties":{"a":${'{"items":'.repeat(3_000)}{}${'}'.repeat(3_000)}}}`) as JsonObject],
])('a schema that %s is fitted in little time and size', async (_, schema) => {
  let fitted: JsonObject = {}
  const spent = await cpuMsOf(() => (fitted = fitSchema(schema, strictRules)))
  expect(spent).toBeLessThan(1_500)
  expect(JSON.stringify(fitted).length).toBeLessThan(2_000_000)
})
