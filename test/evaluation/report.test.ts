import { toReport, toTable, type QuestionResult } from '@inlay/evaluation'
import { expect, test } from 'vitest'

const result = (isTuned: boolean, contains: boolean): QuestionResult => ({
  question: 'How many cranes has the port?',
  answer: 'Ninety [[1]](https://a.example).',
  error: null,
  contains,
  isUncited: false,
  isAbsent: false,
  isTuned,
  citedSentences: 1,
  supportedByWords: 1,
  words: 1,
  inputTokens: null,
  outputTokens: null,
  toolCalls: 1,
  ms: 1000,
})

test('tuned questions do not raise the figures of a report', () => {
  const report = toReport('port', [result(true, true), result(true, true), result(false, false), result(false, true)])
  expect(report.figures).toMatchObject({ questions: 2, contains: 0.5 })
  expect(report.tuned).toMatchObject({ questions: 2, contains: 1 })
  expect(toTable([report])[0]).toMatch(/port, untuned +port, tuned$/)
})

test('a set that everything was tuned on is headed so', () => {
  const [head, questions] = toTable([toReport('port', [result(true, true)])])
  expect(head!.trim()).toBe('port, tuned')
  expect(questions).toMatch(/^questions +1$/)
})

test('without tuned questions there is one column, and nothing beside it', () => {
  const report = toReport('port', [result(false, true)])
  expect(toTable([report])[0]!.trim()).toBe('port')
  expect(report).not.toHaveProperty('tuned')
  expect(report).not.toHaveProperty('untuned')
})
