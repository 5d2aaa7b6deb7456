import { expect, test } from 'vitest'
import {
  plainAnswer,
  questionParts,
  quoted,
  wasCut,
  withPlainCitations,
} from '../../../packages/page/src/chat/copied-answer.ts'
import { plainText } from '../../../packages/page/src/markdown/markdown.tsx'

test('a copied answer has citations that every other program shows as links', () => {
  expect(withPlainCitations('Yes [[1]](https://a.example/x), no [[2]]().')).toBe(
    'Yes [1](https://a.example/x), no [2].',
  )
  expect(withPlainCitations('So [[3]](https://a.example/Turing_(machine)).')).toBe(
    'So [3](https://a.example/Turing_(machine)).',
  )
})

test('the rest of an answer is offered when its model could write no more', () => {
  expect(wasCut('Half.\n\n*The answer ends here because the model reached its output limit. Ask it to go on.*\n')).toBe(
    true,
  )
  expect(wasCut('A whole *answer*')).toBe(false)
})

test('a plain copy has no marks of Markdown, but those of lists, and tabs between cells', () => {
  const answer = [
    '## Leave',
    'You have **25** days [[1]](https://a.example/x), see [the rules](https://a.example/rules).',
    '- first\n  - inner\n- [x] done',
    '3. three\n4. four',
    '| Room | Seats |\n|--|--|\n| North | 12 |',
    '```ts\nconst a = 1\n```',
  ].join('\n\n')
  expect(plainAnswer(answer)).toBe(
    [
      'Leave',
      'You have 25 days [1], see the rules.',
      '- first\n  - inner\n- [x] done',
      '3. three\n4. four',
      'Room\tSeats\nNorth\t12',
      'const a = 1',
    ].join('\n\n'),
  )
})

test('an answer that is read out has no numbers of sources, whatever their addresses are', () => {
  const answer = 'Yes [[1]](https://a.example/Turing_(machine)), `a[1]`.\n\n- no [[2]]()'
  expect(plainAnswer(answer, plainText)).toBe('Yes , a[1].\n\n- no ')
})

test('a question about a selected text is told from its quote', () => {
  const question = `${quoted('First line\n\nsecond')}What of it?\n> not a quote any more`
  expect(question).toBe('> First line\n> second\n\nWhat of it?\n> not a quote any more')
  expect(questionParts(question)).toEqual({
    quote: 'First line\nsecond',
    words: 'What of it?\n> not a quote any more',
  })
  expect(questionParts('No quote')).toEqual({ quote: '', words: 'No quote' })
})
