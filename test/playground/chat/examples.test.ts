import { expect, test } from 'vitest'
import { exampleQuestions, exampleTitles } from '../../../playground/web/chat/examples.ts'

const ask = (title: string, content: string): string | undefined => exampleQuestions([{ title, content }])[0]

test('a heading that asks, or tells how to do something, becomes a question', () => {
  expect(ask('Mail', '# Mail\n\n## How to archive a message\n')).toBe('How do I archive a message?')
  expect(ask('Mail', '# Mail\n\n## Delete a message\n')).toBe('How do I delete a message?')
  expect(ask('Mail', '# Mail\n\n## Read on\n')).toBe('What do the documents say about Mail?')
  expect(ask('Mail', '# Mail\n\n## Who may read my mail?\n')).toBe('Who may read my mail?')
})

test('a sentence that says what something is becomes the question for it', () => {
  expect(ask('Claims', '# Claims\n\nA claim is a lease of a few seconds.')).toBe('What is a claim?')
  expect(ask('Inlay', 'Inlay is an assistant over documents.')).toBe('What is Inlay?')
})

test('a sentence that points elsewhere, code and tables make no question', () => {
  const content = 'It is a lease.\n\n```\nA cat is a pet.\n```\n\n| A dog is a pet. |'
  expect(ask('Reports', content)).toBe('What do the documents say about reports?')
})

test('names keep their capitals', () => {
  expect(ask('GitHub Actions', '')).toBe('What do the documents say about GitHub Actions?')
})

test('titles are spread over the whole list, and unusable ones are left out', () => {
  const titles = Array.from({ length: 40 }, (_, at) => `Chapter ${at}`)
  expect(exampleTitles([...titles, 'x', 'long '.repeat(30)])).toEqual(
    [0, 4, 8, 12, 16, 20, 24, 28, 32, 36].map((at) => `Chapter ${at}`),
  )
  expect(exampleTitles([])).toEqual([])
})
