import { baseFiltersSchema, parseWith, searchRequestSchema, sendMessageRequestSchema } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'

const many = <Item>(item: Item): Item[] => Array.from({ length: 1001 }, () => item)
const tag = { tag_key: 'a', tag_value: 'b' }
const tooLong = (...loc: string[]): unknown =>
  expect.objectContaining({
    code: 'VALIDATION_FAILED',
    data: { issues: [expect.objectContaining({ loc, type: 'too_long' })] },
  })

describe('a filter of more entries than an index should have to plan is refused', () => {
  test.each(Object.entries({ source_type: many('web'), document_set: many('a'), tags: many(tag) }))(
    '%s of a chat message',
    (name, list) => {
      expect(() => parseWith(baseFiltersSchema, { [name]: list }, 'body')).toThrow(tooLong('body', name))
      const message = { message: 'x', internal_search_filters: { [name]: list } }
      expect(() => parseWith(sendMessageRequestSchema, message, 'body')).toThrow(
        tooLong('body', 'internal_search_filters', name),
      )
    },
  )

  test.each(Object.entries({ sources: many('web'), document_sets: many('a'), tags: many(tag) }))(
    '%s of a search',
    (name, list) => {
      expect(() => parseWith(searchRequestSchema, { query: 'x', [name]: list }, 'body')).toThrow(tooLong('body', name))
    },
  )
})

test('a thousand entries are taken, and no file is too many before that', () => {
  const tags = many(tag).slice(1)
  expect(parseWith(baseFiltersSchema, { tags }, 'body').tags).toHaveLength(1000)
  const message = { message: 'x', file_descriptors: many({ id: 'f' }) }
  expect(() => parseWith(sendMessageRequestSchema, message, 'body')).toThrow(tooLong('body', 'file_descriptors'))
  expect(
    parseWith(sendMessageRequestSchema, { message: 'x', file_descriptors: many({ id: 'f' }).slice(1) }, 'body'),
  ).toBeDefined()
})
