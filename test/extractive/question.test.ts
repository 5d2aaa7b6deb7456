import { expect, test } from 'vitest'
import { understand } from '@inlay/extractive/internal/question'

// At the square of their length, each would take minutes.
test.each(['why use ', 'difference between ', 'compare ', '? '])(
  'a very long question of "%s" is understood',
  (words) => {
    const { queries, form } = understand([`How do I delete a document? ${words.repeat(20_000)}`])
    expect(queries.length).toBeGreaterThan(0)
    expect(form).toBe('steps')
  },
)
