import { describe, expect, test } from 'vitest'
import { sentencesOf, toProse, unitsOf } from '@inlay/text'

test('inline code reaches to the next run of as many backticks', () => {
  expect(toProse('Use `a*b*c` or ``x ` *y* ``, not *this*.')).toBe('Use `a*b*c` or ``x ` *y* ``, not this.')
  expect(toProse('A lone ` and *stress* and ``` too')).toBe('A lone ` and stress and ``` too')
})

test('a character reference becomes its character, unless nothing could show it', () => {
  expect(toProse('More at <https://example.org/a?b=c>, <b>not</b> here')).toBe(
    'More at https://example.org/a?b=c, not here',
  )
  expect(toProse('caf&#233; &#128512; a&#00;b&#55357;c')).toBe('café 😀 abc')
})

test('the marks behind a heading go where a space sets them off', () => {
  const headingOver = (line: string): unknown => unitsOf(`${line}\n\nText.`)[0]?.headings
  expect(['# C#', '## Rust ##', '## Rust ##  ', '# a # b'].map(headingOver)).toEqual([
    ['C#'],
    ['Rust'],
    ['Rust'],
    ['a # b'],
  ])
})

test('code in a note is code, and ends with the note', () => {
  const units = unitsOf('> Mind this:\n>\n> ```sh\n> ls -l\n>   wc\n> ```\n\nAfter.\n\n> ```sh\n> open\n\nLast.')
  expect(units.map(({ kind, text }) => [kind, text])).toEqual([
    ['sentence', 'Mind this:'],
    ['code', 'ls -l\n  wc'],
    ['sentence', 'After.'],
    ['code', 'open'],
    ['sentence', 'Last.'],
  ])
})

test('a comment that nothing ends hides the rest', () => {
  expect(unitsOf('Before. <!-- draft --> After.\n\n<!-- secret').map(({ text }) => text)).toEqual(['Before.', 'After.'])
})

describe('a page made of nothing but one mark is read like any other', () => {
  // With a pattern that looks ahead without bounds, each of these takes from minutes to days.
  const marks = ['`', '``', '`a', '[', '![', '[a](', '<a', '<!--', '*', '**a ', '_a ', '|', '&', '> ', '[1, ']
  test.each(marks)('%j', (mark) => {
    for (const page of [mark, `# a${mark}`, `- ${mark}`, `| a | ${mark}`])
      expect(unitsOf(`${page}${mark.repeat(50_000 / mark.length)} b`)).toBeInstanceOf(Array)
  })
})

test('a title before a name ends no sentence', () => {
  expect(unitsOf('The board met. Rev. Ann Moss spoke for Gov. Hale. All agreed.').map(({ text }) => text)).toEqual([
    'The board met.',
    'Rev. Ann Moss spoke for Gov. Hale.',
    'All agreed.',
  ])
})

test('a number may end a sentence', () => {
  expect(unitsOf('The age must be between 5 and 10. Children under 5 are free.').map(({ text }) => text)).toHaveLength(
    2,
  )
  expect(unitsOf('Fees are listed in section 12. Guests pay nothing.').map(({ text }) => text)).toHaveLength(2)
})

test.each([
  ['1. One.\n2. Two.', [1, 2]],
  ['1. One.\n1. Two.\n1. Three.', [1, 2, 3]],
  ['4. Four.\n5. Five.', [4, 5]],
  ['1. One:\n\n```sh\nls\n```\n\n2. Two.', [1, 2]],
  ['1. One.\n   1. Inner.\n   2. Inner.\n2. Two.', [1, undefined, undefined, 2]],
  ['1. One.\n\nText.\n\n1. One again.', [1, undefined, 1]],
  ['1. One.\n\n## Heading\n\n1. One again.', [1, 1]],
  ['1. One.\n1. Two.\n2. Three.', [1, 2, 3]],
  ['1. One.\n3. Three.', [1, 3]],
  ['1. One.\n1) One again.', [1, 1]],
  ['1. One.\n\n---\n\n1. One again.', [1, 1]],
  ['1. One.\n\n---\n\n2. Two.', [1, 2]],
  ['1. One.\n\n```sh\nls\n```\n\n1. One again.', [1, undefined, 1]],
  ['1. One.\n\n   ```sh\n   ls\n   ```\n\n1. Two.', [1, undefined, 2]],
  ['1. One.\n\n| A | B |\n|---|---|\n| a | b |\n\n1. One again.', [1, undefined, 1]],
  ['1. One.\n\n   | A | B |\n   |---|---|\n   | a | b |\n\n1. Two.', [1, undefined, 2]],
  ['1. One.\n\n   > Note.\n\n1. Two.', [1, undefined, 2]],
  ['1. One.\n\n> 1. Quoted.\n\n1. One again.', [1, undefined, 1]],
  ['1. One.\n  - Bullet.\n1. One again.', [1, undefined, 1]],
  ['1. One.\n  1. Two.\n  2. Three.\n2. Four.', [1, 2, 3, 4]],
  ['- Bullet.\n  1. Inner.\n\n1. One.\n1. Two.', [undefined, undefined, 1, 2]],
  ['1. One.\n1. Two.\n   - Bullet.\n1. Three.', [1, 2, undefined, 3]],
  [`${'1. Step.\n'.repeat(10)}   - Bullet.\n1. Eleven.`, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, undefined, 11]],
  ['- Bullet.', [undefined]],
])('items of a numbered list have the numbers that readers see: %j', (page, numbers) => {
  expect(unitsOf(page).map(({ number }) => number)).toEqual(numbers)
})

test.each([
  'Elterngeld wird bis zur Vollendung des 14. Lebensmonats gezahlt.',
  'Nach § 1 Abs. 2 Satz 3 gilt dies nicht.',
  'Der Antrag nach Art. 5 Nr. 7 ist bis zum 3. Werktag zu stellen.',
  'Zgodnie z art. 5 ust. 2 pkt. 1 termin biegnie.',
  'Según el art. 12 y la pág. 4 no procede.',
  'See No. 5 and vol. 3 of it.',
])('a number behind an abbreviation, and an ordinal, end no sentence: %s', (sentence) => {
  expect(sentencesOf(`${sentence} Danach folgt mehr.`)).toEqual([sentence, 'Danach folgt mehr.'])
})

test('a number that ends a sentence still does', () => {
  expect(sentencesOf('Die Antwort ist 42. Danach kam nichts.')).toHaveLength(2)
})
