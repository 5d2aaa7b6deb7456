import { expect, test } from 'vitest'
import { splitAtNumbers } from '../../../packages/page/src/markdown/unsupported.ts'

const marked = (text: string, numbers: readonly string[]): string =>
  splitAtNumbers(text, numbers)
    .map((part) => (part.isUnsupported ? `<${part.text}>` : part.text))
    .join('')

test.each([
  ['each occurrence', 'You get 3 days, or 3 days more.', ['3 days'], 'You get <3 days>, or <3 days> more.'],
  [
    'whole numbers alone',
    '13 days, 3 days, 3.5 days, 1.3 days',
    ['3 days', '3'],
    '13 days, <3 days>, 3.5 days, 1.3 days',
  ],
  ['the longer one first', '€45 and 45.', ['45', '€45'], '<€45> and <45>.'],
  ['signs as they are', '12.5 % (of 1883)', ['12.5 %', '1883'], '<12.5 %> (of <1883>)'],
  ['nothing without numbers', 'You get 3 days.', [], 'You get 3 days.'],
])('%s', (_, text, numbers, expected) => expect(marked(text, numbers)).toBe(expected))
