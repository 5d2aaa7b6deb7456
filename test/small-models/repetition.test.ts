import { expect, test } from 'vitest'
import { RepetitionDetector } from '@inlay/small-models/internal/repetition'

/** How much of a text passes before it counts as repeated; undefined for all of it. */
function readUntilRepeated(text: string, size: number): number | undefined {
  const detector = new RepetitionDetector()
  for (let at = 0; at < text.length; at += size) if (detector.push(text.slice(at, at + size))) return at + size
  return undefined
}

const sentence = 'The deadline for travel expenses is the tenth of the month. '

test.each([
  ['marks', '[2] '],
  ['a letter', 'a'],
  ['a sentence', sentence],
])('%s without end are repetition, however they are cut', (_, piece) => {
  const text = `An answer begins. ${piece.repeat(3_000)}`
  for (const size of [1, 7, 300]) expect(readUntilRepeated(text, size)).toBeLessThan(1_700)
})

test.each([
  ['a few repeated sentences', sentence.repeat(10)],
  ['a numbered list', Array.from({ length: 200 }, (_, at) => `${at + 1}. Ask the desk.\n`).join('')],
  ['a table', Array.from({ length: 200 }, (_, at) => `| Room ${at} | ${at * 7} places |\n`).join('')],
  [
    'a longer passage that is said again',
    `${sentence}${'Ask the desk on the first floor, or write to it. '.repeat(2)}`.repeat(20),
  ],
])('%s is no repetition', (_, text) => {
  for (const size of [1, 7, 300]) expect(readUntilRepeated(text, size)).toBeUndefined()
})
