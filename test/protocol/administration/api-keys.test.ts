import { parseWith } from '@inlay/protocol'
import { apiKeyCreationSchema, apiKeyUpdateSchema } from '@inlay/protocol/administration'
import { expect, test } from 'vitest'

const create = (body: unknown): unknown => parseWith(apiKeyCreationSchema, body, 'body')

test('a key needs nothing, and may then chat', () => {
  expect(create({})).toEqual({
    name: null,
    scopes: ['chat'],
    owner: null,
    email: null,
    groups: [],
    stream_format: null,
    expires_at: null,
    limits: null,
    group_ids: [],
  })
})

test('its name loses what cannot be stored', () => {
  expect(create({ name: 'Nig\0htly \ud800import' })).toMatchObject({ name: 'Nightly import' })
})

test.each([
  { owner: 'ali\0ce' },
  { owner: '' },
  { email: 'a@\udc00b' },
  { groups: ['staff', 'st\0aff'] },
  { groups: [''] },
])('whom it acts for must be storable as given: %j', (fields) => {
  for (const schema of [apiKeyCreationSchema, apiKeyUpdateSchema]) {
    // A key keeps its owner, so that an update has no such field.
    if (schema === apiKeyUpdateSchema && 'owner' in fields) continue
    expect(() => parseWith(schema, fields, 'body')).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  }
})
