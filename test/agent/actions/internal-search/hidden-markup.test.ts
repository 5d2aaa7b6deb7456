import { expect, test } from 'vitest'
import { withoutHiddenMarkup } from '@inlay/agent/internal/actions/internal-search/hidden-markup'

test('what readers of a page see stays', () => {
  const minutes = [
    'Minutes',
    '[Alice]: We pay 300 euros on Friday.',
    '[10:32]: Bob agrees.',
    'See the note.[^1] [Bob][10:45] `row[at][0]` and row[at][to] or `[a][b]`',
    '[^1]: The price is 5 euros.',
    '<https://example.com/form>',
    '<ana@example.com>',
    'end',
  ].join('\n')
  expect(withoutHiddenMarkup(minutes)).toBe(minutes)
})

test('tags, link definitions and directives go', () => {
  const page = [
    'Before',
    '<Listing number="1-1" caption="A caption">',
    '</Listing>',
    '[book]: ch01-01.html',
    '[other]: <https://example.com> "A title"',
    '{{#quiz ../quizzes/one.toml}}',
    'after',
  ].join('\n')
  expect(withoutHiddenMarkup(page)).toBe('Before\nafter')
})

test('of links that name their address elsewhere the text stays', () => {
  expect(withoutHiddenMarkup('See [“The\nBook”][book], [`Option`][] and [more][other-1].')).toBe(
    'See “The\nBook”, `Option` and more.',
  )
})

test('comments go; openings that nothing closes stay, and cost no more than their length', () => {
  expect(withoutHiddenMarkup('One<!-- two\n--> three <!-- four')).toBe('One three <!-- four')
  // Reading on to the end from each of them would take hours.
  const openings = '<!-- '.repeat(1_000_000).trim()
  expect(withoutHiddenMarkup(openings)).toBe(openings)
})
