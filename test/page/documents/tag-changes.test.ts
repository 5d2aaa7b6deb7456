import { expect, test } from 'vitest'
import { lineOf, tagChanges, tagsOf } from '../../../packages/page/src/documents/table/tag-changes.ts'

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

test('tags are written as lines, and one whose line did not change stays what it is', () => {
  const before = [
    { key: 'a: b', value: 'c\nd' },
    { key: 'year', value: '2026' },
  ]
  const lines = before.map(lineOf)
  expect(lines).toEqual(['a: b: c d', 'year: 2026'])
  expect(tagsOf(lines, before)).toEqual(before)
  expect(tagsOf(['team:Harbour: north'], before)).toEqual([{ key: 'team', value: 'Harbour: north' }])
  for (const line of ['team', ': red', 'team:']) expect(() => tagsOf([line], before)).toThrow('name: value')
})

test('an empty value that nobody changed is no obstacle to other tags', () => {
  const before = [...tags('note:'), ...tags('year:2026')]
  const after = tagsOf(['note:', 'year: 2027'], before)
  expect(tagChanges(before, after)).toEqual({ year: ['2027'] })
})

test('a line belongs to the longest known key that it begins with', () => {
  const before = [
    { key: 'dc', value: 'yes' },
    { key: 'dc:title', value: 'Old' },
  ]
  expect(tagsOf(['dc: no', 'dc:title: New', 'dc:titles: x'], before)).toEqual([
    { key: 'dc', value: 'no' },
    { key: 'dc:title', value: 'New' },
    { key: 'dc', value: 'titles: x' },
  ])
})
