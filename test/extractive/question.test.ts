import { expect, test } from 'vitest'
import { understand } from '@inlay/extractive/internal/question'

// At the square of their length, each would take minutes.
test.each(['why use ', 'difference between ', 'compare ', '? '])(
  'a very long question of "%s" is understood',
  (words) => {
    const { queries } = understand([`How do I delete a document? ${words.repeat(20_000)}`])
    expect(queries.length).toBeGreaterThan(0)
  },
)

test('of a question without spaces between words only its numbers are names', () => {
  expect(understand(['2015年黑豹队的防守有多少次拦截记录？']).names).toEqual(['2015'])
})

test('forms of a German verb have one key', () => {
  const [verb] = understand(['Wie aktualisiere ich mein System?']).topic
  expect(verb).toBe(understand(['Wann wird das System aktualisiert?']).topic.at(-1))
})
