import { expect, test } from 'vitest'
import { createCitationText } from 'inlay/internal/cli/citation-text'

const texts: [given: string, shown: string][] = [
  ['plain text', 'plain text'],
  ['Leave is 25 days [[1]](https://x.example/a).', 'Leave is 25 days [1].'],
  ['a [[1]](u) [[12]](v(w)x) b', 'a [1] [12] b'],
  ['[[3]]() end', '[3] end'],
  ['[[1]](a\\)b) c', '[1] c'],
  ['array[0], [[ no ]], [1], [link](u), [[x]](u)', 'array[0], [[ no ]], [1], [link](u), [[x]](u)'],
  ['never closed [[1]](abc', 'never closed [[1]](abc'],
  ['ends like one [[', 'ends like one [['],
  ['[[[1]](u)]', '[[1]]'],
]

test.each(texts)('%j is shown as %j, cut anywhere', (given, shown) => {
  for (let size = 1; size <= given.length; size++) {
    const text = createCitationText()
    let all = ''
    for (let at = 0; at < given.length; at += size) all += text.push(given.slice(at, at + size))
    expect(all + text.end(), `in pieces of ${size}`).toBe(shown)
  }
})

test('what can be no citation is shown at once', () => {
  const text = createCitationText()
  expect(text.push('see [')).toBe('see ')
  expect(text.push('a] and [[2]')).toBe('[a] and ')
  expect(text.push('](u')).toBe('')
  expect(text.push('), so')).toBe('[2], so')
})
