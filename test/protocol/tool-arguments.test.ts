import { Ajv } from 'ajv'
import fc from 'fast-check'
import * as v from 'valibot'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { describe, expect, test } from 'vitest'
import { argumentFaults, coerceArguments, safeNames, withDeclaredNames } from '@inlay/protocol'
import { cpuMsOf } from '../cpu-time.ts'
import { findsAlways, newPassage, newSetting } from '../agent/setting.ts'

const input = v.object({
  queries: v.array(v.string()),
  limit: v.optional(v.number()),
  exact: v.optional(v.boolean()),
  note: v.optional(v.nullable(v.string())),
})
const schema = toStandardJsonSchema(input)['~standard'].jsonSchema.input({ target: 'draft-07' })

test.each<[string, unknown, unknown]>([
  ['what fits stays', { queries: ['a'] }, { queries: ['a'] }],
  ['an object as text', '{"queries": ["a"]}', { queries: ['a'] }],
  ['an object in a list', [{ queries: ['a'] }], { queries: ['a'] }],
  ['one value for a list', { queries: 'a' }, { queries: ['a'] }],
  ['a list as text', { queries: '["a", "b"]' }, { queries: ['a', 'b'] }],
  ['a singular', { query: 'a' }, { queries: ['a'] }],
  ['another name', { search_query: ['a'] }, { queries: ['a'] }],
  [
    'numbers and truth as text',
    { queries: ['a'], limit: '5', exact: 'True' },
    { queries: ['a'], limit: 5, exact: true },
  ],
  ['one text in a list', { queries: ['a'], note: ['b'] }, { queries: ['a'], note: 'b' }],
  ['an unclear name stays', { town: 'a' }, { town: 'a' }],
  ['two unknown names stay', { query: 'a', q: 'b' }, { query: 'a', q: 'b' }],
  ['a bare text stays', 'a', 'a'],
  ['a list of texts stays', ['a'], ['a']],
])('%s', (_title, args, meant) => {
  expect(coerceArguments(args, schema)).toEqual(meant)
})

test.each<[string, object, object]>([
  ['of a schema that names none', { type: 'object' }, { input: { a: 1 } }],
  [
    'that hold an object in one of them',
    { properties: { param: { type: 'object' } }, required: ['param'] },
    { params: { a: 1 } },
  ],
  ['that hold JSON in a text', { properties: { note: { type: 'string' } } }, { input: '{"a":1}' }],
  [
    'that may list objects as well as texts',
    { properties: { list: { anyOf: ['string', 'object'].map((type) => ({ type: 'array', items: { type } })) } } },
    { list: [{ a: 'x' }] },
  ],
])('arguments %s stay as they are', (_, own, args) => {
  const values = Object.values(coerceArguments(args, own as Readonly<Record<string, unknown>>) as object)
  expect(values).toEqual(Object.values(args))
})

type Schema = Readonly<Record<string, unknown>>
const of = (properties: Schema, required: readonly string[] = []): Schema => ({ type: 'object', properties, required })
const optional = { type: ['integer', 'null'] }
const tree = {
  ...of({ root: { $ref: '#/$defs/node' } }, ['root']),
  $defs: {
    node: of({ size: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, ['size']),
  },
}
const paint = { enum: ['Red', 'Dark Blue'] }

test.each<[string, Schema, unknown, unknown]>([
  ['a number in a text', of({ n: { type: 'number' } }), { n: ' -2.50 ' }, { n: -2.5 }],
  ['a whole number in a text', of({ n: { type: 'integer' } }), { n: '2.0' }, { n: 2 }],
  ['truth in a text', of({ b: { type: 'boolean' } }), { b: 'False' }, { b: false }],
  ['a number for a text', of({ s: { type: 'string' } }), { s: 42 }, { s: '42' }],
  ['truth for a text', of({ s: { type: 'string' } }), { s: true }, { s: 'true' }],
  [
    'JSON in a text, to its depths',
    of({ o: of({ limit: { type: 'integer' } }) }),
    { o: '{"limit":"5"}' },
    { o: { limit: 5 } },
  ],
  ['numbers of a list', of({ l: { type: 'array', items: { type: 'number' } } }), { l: ['1', 2] }, { l: [1, 2] }],
  ['a list in a text', of({ l: { type: 'array', items: { type: 'number' } } }), { l: '["1"]' }, { l: [1] }],
  [
    'one object for a list',
    of({ l: { type: 'array', items: of({ n: { type: 'number' } }) } }),
    { l: { n: '1' } },
    { l: [{ n: 1 }] },
  ],
  ['a list of one for a number', of({ n: { type: 'number' } }), { n: ['7'] }, { n: 7 }],
  ['null for an optional one', of({ n: { type: 'number' }, s: { type: 'string' } }), { n: null, s: null }, {}],
  ['an empty text for an optional number', of({ n: { type: 'integer' } }), { n: '' }, {}],
  ['the word null for an optional list', of({ l: { type: 'array', items: {} } }), { l: 'null' }, { l: ['null'] }],
  ['null where it may be', of({ n: optional }), { n: null }, { n: null }],
  ['null as a text where it may be', of({ n: optional }), { n: 'null' }, { n: null }],
  ['null as OpenAPI 3.0 allows it', of({ s: { type: 'string', nullable: true } }), { s: null }, { s: null }],
  ['a choice in other letters', of({ paint }), { paint: 'dark blue' }, { paint: 'Dark Blue' }],
  ['a choice as a text', of({ n: { enum: [10, 20] } }), { n: '20' }, { n: 20 }],
  ['one of two forms', of({ v: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] } }), { v: 'true' }, { v: true }],
  [
    'a form of a reference to itself',
    tree,
    { root: { size: '1', children: '[{"size":"2"}]' } },
    { root: { size: 1, children: [{ size: 2 }] } },
  ],
  [
    'parts that all count',
    { allOf: [of({ a: { type: 'number' } }), of({ b: { type: 'boolean' } })] },
    { a: '1', b: 'true' },
    { a: 1, b: true },
  ],
  [
    'fields that have no names',
    of({ m: { type: 'object', additionalProperties: { type: 'number' } } }),
    { m: { x: '1' } },
    { m: { x: 1 } },
  ],
  [
    'names that were made safe',
    of({ 'first name': { type: 'string' }, $top: { type: 'integer' } }),
    { first_name: 'Ada', _top: '3' },
    { 'first name': 'Ada', $top: 3 },
  ],
  [
    'an object of one text in a list',
    of({ l: { type: 'array', items: { type: 'string' } } }),
    { l: [{ q: 'a' }] },
    { l: ['a'] },
  ],
  ['null for none', of({}), null, {}],
  ['an empty text for none', of({}), '', {}],
  ['the text null for none', of({}), 'null', {}],
  ['nothing for none', of({ q: { type: 'string' } }), undefined, undefined],
  ['an empty list for none', of({}), [], {}],
])('%s is understood', (_, own, args, meant) => {
  expect(coerceArguments(args, own)).toEqual(meant)
})

test.each<[string, Schema, unknown]>([
  ['a text that is no number', of({ n: { type: 'integer' } }, ['n']), { n: 'five' }],
  ['a part of a number', of({ n: { type: 'integer' } }, ['n']), { n: '1.5' }],
  ['a number that would lose digits', of({ n: { type: 'integer' } }), { n: '12345678901234567890' }],
  ['a number for a text that has lost digits', of({ id: { type: 'string' } }), { id: 2 ** 60 }],
  ['an object for a text', of({ content: { type: 'string' } }), { content: { name: 'foo', private: true } }],
  ['an object of one text for a text', of({ content: { type: 'string' } }), { content: { name: 'foo' } }],
  [
    'an object of more in a list of texts',
    of({ files: { type: 'array', items: { type: 'string' } } }),
    { files: [{ name: 'foo', private: true }] },
  ],
  ['two values for one', of({ n: { type: 'number' } }), { n: [1, 2] }],
  ['a text with commas for a list is one value', of({ s: { type: 'string' } }), { s: 'a, b' }],
  ['JSON in a text that stays a text', of({ s: { type: 'string' } }), { s: '{"a":1}' }],
  ['a number in a text where both may be', of({ v: { type: ['string', 'number'] } }), { v: '5' }],
  ['an unknown choice', of({ paint }, ['paint']), { paint: 'green' }],
  ['null for a required one', of({ n: { type: 'number' } }, ['n']), { n: null }],
  ['anything for a type that is not known', of({ n: { type: 'decimal' } }), { n: '5' }],
])('%s: is left alone', (_, own, args) => {
  expect(coerceArguments(args, own)).toEqual(args)
})

test.each<[Schema, unknown, string[]]>([
  [of({ a: { type: 'number' } }), { a: 'x' }, ['a: must be a number']],
  [
    of({ a: of({ b: { type: 'array', items: { type: 'integer' } } }) }),
    { a: { b: [1, 'x'] } },
    ['a.b.1: must be a whole number'],
  ],
  [
    of({ paint }, ['paint', 'size']),
    { paint: 'green' },
    ['size: is required', 'paint: must be one of "Red", "Dark Blue"'],
  ],
  [{ ...of({}), anyOf: [{ required: ['id'] }, { required: ['name'] }] }, {}, ['id: is required, or name: is required']],
  [of({ v: { oneOf: [{ type: 'string' }, { type: 'null' }] } }), { v: {} }, ['v: must be a text, or v: must be null']],
])('what does not fit is told by its path: %j', (own, args, faults) => {
  expect(argumentFaults(args, own)).toEqual(faults)
})

test('names that were made safe are the declared ones again at every depth, and nothing else changes', () => {
  const filter = of({ $filter: { type: 'string' }, note: { type: 'string' } })
  const own = {
    ...of({ table: {}, $top: {}, rows: { type: 'array', items: { $ref: '#/$defs/filter' } } }, ['table']),
    anyOf: [of({ by: { anyOf: [{ type: 'null' }, filter] } })],
    $defs: { filter },
  }
  const args = { table: 5, _top: '3', rows: [{ _filter: 'a', note: null }], by: { _filter: 'b' }, more: { _filter: 1 } }
  const named = {
    table: 5,
    $top: '3',
    rows: [{ $filter: 'a', note: null }],
    by: { $filter: 'b' },
    more: { _filter: 1 },
  }
  expect(withDeclaredNames(args, own)).toEqual(named)
  expect(withDeclaredNames('{', own)).toBe('{')
})

test('names made safe are each their own, and safe ones stay', () => {
  const names = ['a b', 'a_b', 'a-b', 'ä', '', 'x'.repeat(70), 'x'.repeat(71)]
  const safe = [...safeNames(names).values()]
  expect(new Set(safe).size).toBe(names.length)
  expect(safe.every((name) => /^[\w.-]{1,64}$/.test(name))).toBe(true)
  expect(safeNames(names).get('a_b')).toBe('a_b')
})

const leaf = fc.oneof(
  fc.constantFrom({ type: 'string' }, { type: 'number' }, { type: 'integer' }, { type: 'boolean' }, { type: 'null' }),
  fc.constantFrom({}, { enum: ['a', 'B', 3] }, { type: ['string', 'null'] }, { const: 1 }),
)
const anySchema = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c d'), tie('schema')),
    }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
  ),
})).schema
const ajv = new Ajv({ strict: false })

test('what is valid never changes, and what counts as fitting is valid', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('a', 'b', 'e'), anySchema),
      fc.jsonValue({ maxDepth: 4 }),
      (own, value) => {
        const args = { a: value, b: value, e: value }
        const isValid = ajv.validate(of(own as Schema), args)
        const given = structuredClone(args)
        const meant = coerceArguments(args, of(own as Schema))
        if (isValid) expect(meant).toEqual(given)
        expect(argumentFaults(args, of(own as Schema)).length === 0).toBe(isValid)
        expect(args).toEqual(given)
      },
    ),
    { numRuns: 300 },
  )
})

test('long schemas and many values together cost little', async () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `a name ${at}`)
  const row = {
    ...of(Object.fromEntries(names.map((name) => [name, { enum: names }])), names),
    additionalProperties: { enum: names },
  }
  const rows = Array.from({ length: 20_000 }, () => ({ b: 'x' }))
  const spent = await cpuMsOf(() => {
    coerceArguments({ rows }, of({ rows: { type: 'array', items: row } }))
    argumentFaults({ rows }, of({ rows: { type: 'array', items: row } }))
  })
  expect(spent).toBeLessThan(1_000)
})

test('a schema that refers to itself in every way ends, and soon', async () => {
  const knot = { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }], items: { $ref: '#/$defs/a' } }
  const own = { ...of({ x: { $ref: '#/$defs/a' } }), $defs: { a: knot, b: { allOf: [knot, { type: 'boolean' }] } } }
  const deep = JSON.parse(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`) as unknown
  const spent = await cpuMsOf(() => void coerceArguments({ x: deep }, own))
  expect(spent).toBeLessThan(2_000)
})

describe('a search with odd arguments is made all the same', () => {
  test.each([
    '{"queries": "leave"}',
    '{"query": "leave"}',
    '[{"queries": ["leave"]}]',
    '"{\\"queries\\": [\\"leave\\"]}"',
    "{'queries': ['leave'],}",
  ])('%s', async (args) => {
    const call = { call: { name: 'internal_search', input: args } }
    const { send } = await newSetting([[call], ['28 days [1].']], {
      search: findsAlways(newPassage('leave', '28 days of leave')),
    })
    const { answer, tool_calls: calls } = await (await send()).whole()
    expect(answer).toContain('28 days [[1]]')
    expect(calls[0]?.tool_arguments).toEqual({ queries: ['leave'] })
  })
})
