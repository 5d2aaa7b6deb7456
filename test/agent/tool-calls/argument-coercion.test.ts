import * as v from 'valibot'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { describe, expect, test } from 'vitest'
import { coerceArguments } from '@inlay/agent/internal/tool-calls/argument-coercion'
import { findsAlways, newPassage, newSetting } from '../setting.ts'

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
