import { expect, test } from 'vitest'
import { tagChanges } from '../../../packages/page/src/documents/table/tag-changes.ts'

const tags = (...names: string[]) =>
  names.map((name) => {
    const [key = '', value = ''] = name.split(':')
    return { key, value }
  })

test('only keys whose values differ are changed, with all of their values', () => {
  expect(tagChanges(tags('team:red', 'team:blue', 'year:2026'), tags('team:blue', 'team:green', 'year:2026'))).toEqual({
    team: ['blue', 'green'],
  })
  expect(tagChanges(tags('team:red', 'year:2026'), tags('year:2026', 'kind:plan'))).toEqual({
    team: null,
    kind: ['plan'],
  })
})

test('the order of values and one that is there twice change nothing', () => {
  expect(tagChanges(tags('team:red', 'team:blue'), tags('team:blue', 'team:red', 'team:red'))).toEqual({})
})
