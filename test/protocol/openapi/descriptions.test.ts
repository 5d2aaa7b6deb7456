import { expect, it } from 'vitest'
import * as v from 'valibot'
import * as administration from '@inlay/protocol/administration'
import * as wire from '@inlay/protocol'
import { nameOf } from '@inlay/protocol/internal/fields'
import { namedBelow } from '@inlay/protocol/internal/openapi/named-schemas'
import { requestExamples } from '@inlay/protocol/internal/openapi/request-examples'
import descriptions from '../../../packages/protocol/scripts/descriptions.ts'

const isSchema = (value: unknown): value is v.GenericSchema =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema'

const exported: readonly unknown[] = [...Object.values(wire), ...Object.values(administration)]
const schemas = namedBelow(exported.filter(isSchema))

it('every field of every schema says what it means', () => {
  const silent = [...schemas].flatMap(([name, schema]) =>
    Object.entries('entries' in schema ? (schema.entries as Record<string, v.GenericSchema>) : {})
      .filter(
        ([field, entry]) => field !== 'type' && !descriptions[name]?.fields[field] && !v.getDescription(entry as never),
      )
      .map(([field]) => `${name}.${field}`),
  )
  expect(silent).toEqual([])
})

it('every object schema has a name', () => {
  const unnamed = [...schemas].flatMap(([name, schema]) =>
    'entries' in schema
      ? Object.entries(schema.entries as Record<string, { entries?: object; item?: { entries?: object } }>)
          .filter(([, entry]) => [entry, entry.item].some((each) => each?.entries && nameOf(each) === undefined))
          .map(([field]) => `${name}.${field}`)
      : [],
  )
  expect(unnamed).toEqual([])
})

it.each(Object.entries(requestExamples))('the example of %s is a valid body', (name, example) => {
  expect(v.safeParse(schemas.get(name)!, example)).toMatchObject({ success: true })
})
