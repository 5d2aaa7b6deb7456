import { expect, test } from 'vitest'
import { compareCitations } from '@inlay/small-models/internal/citations/compared-citations'
import { CitationFilter } from '@inlay/agent/internal/citations/citation-filter'
import { createCitableDocuments } from '@inlay/agent/internal/citations/citable-documents'
import { cpuMsOf } from '../../cpu-time.ts'
import { newDoc } from '../../agent/setting.ts'

const leave = 'Employees get 25 days of annual leave. Up to five days carry over to March.'
const rooms = 'The large meeting room seats 40 people. Run `rooms list --free` to see free rooms.'

function answer(
  text: string,
  size = text.length,
  completesCitations = false,
  read = [leave, rooms],
  isCut = false,
): string {
  const citable = createCitableDocuments()
  citable.completesCitations = completesCitations
  citable
    .openStep()(0)
    .cite([newDoc('leave'), newDoc('rooms')], read)
  const comparison = compareCitations(citable)
  const citations = comparison.complete(new CitationFilter({ mode: 'link', known: citable.known, check: comparison }))
  const pieces = []
  for (let at = 0; at < text.length; at += size) pieces.push(...citations.push(text.slice(at, at + size)))
  pieces.push(...citations.end(isCut))
  return pieces
    .map((piece) => (piece.type === 'text' ? piece.content : ''))
    .join('')
    .replaceAll(/\[\[(\d+)\]\]\([^)]*\)/g, '[$1]')
}

test.each([
  [
    'sentences',
    'You get 25 days of annual leave. Ask your lead. The large meeting room seats 40 people.',
    'You get 25 days of annual leave. [1] Ask your lead. The large meeting room seats 40 people. [2]',
  ],
  [
    'items and lines without a full stop',
    'Rooms:\n- The large meeting room seats 40 people\n- Up to five days carry over to March\n\nBye.',
    'Rooms:\n- The large meeting room seats 40 people [2]\n- Up to five days carry over to March [1]\n\nBye.',
  ],
  [
    'no heading, row, code or question',
    '# The large meeting room seats 40 people\n\n**25 days of annual leave**\n\n| Employees get 25 days of annual leave. |\n|---|\n\n```text\nThe large meeting room seats 40 people.\n```\n\nDo employees get 25 days of annual leave?',
    '# The large meeting room seats 40 people\n\n**25 days of annual leave**\n\n| Employees get 25 days of annual leave. |\n|---|\n\n```text\nThe large meeting room seats 40 people.\n```\n\nDo employees get 25 days of annual leave?',
  ],
  [
    'no full stop within code or behind an abbreviation',
    'Run `rooms list --free` to see e.g. free rooms. Done.',
    'Run `rooms list --free` to see e.g. free rooms. [2] Done.',
  ],
  [
    'no full stop at the end of code',
    'The large meeting `room!` seats 40 people. Done.',
    'The large meeting `room!` seats 40 people. [2] Done.',
  ],
  [
    'nothing once the model cites',
    'The large meeting room seats 40 people. [2] Employees get 25 days of annual leave.',
    'The large meeting room seats 40 people. [2] Employees get 25 days of annual leave.',
  ],
  [
    'no number that differs',
    'Employees get 26 days of annual leave. The large meeting room does not seat 40 people.',
    'Employees get 26 days of annual leave. The large meeting room does not seat 40 people.',
  ],
])('cites %s, however the text is split', (_, text, expected) => {
  for (const size of [1, 3, 7, text.length]) expect(answer(text, size)).toBe(expected)
})

test('is completed for a model that cites some sentences alone, however the text is split', () => {
  const text =
    'The large meeting room seats 40 people. [2] Employees get 25 days of annual leave. Ask [1]. Bye.\n- Up to five days carry over to March\n'
  const expected =
    'The large meeting room seats 40 people. [2] Employees get 25 days of annual leave. [1] Ask [1]. Bye.\n- Up to five days carry over to March [1]\n'
  for (const size of [1, 3, 7, text.length]) expect(answer(text, size, true)).toBe(expected)
})

test.each([
  [
    'within a sentence',
    'The large meeting room seats 40 people [1]. Bye.',
    'The large meeting room seats 40 people [2]. Bye.',
  ],
  ['behind it', 'The large meeting room seats 40 people. [1] Bye.', 'The large meeting room seats 40 people. [2] Bye.'],
  ['at the end', 'The large meeting room seats 40 people [1]', 'The large meeting room seats 40 people [2]'],
  [
    'among others',
    'The large meeting room seats 40 people [1][2]. Bye.',
    'The large meeting room seats 40 people [2]. Bye.',
  ],
  ['of a sentence that nothing says', 'Ask your lead [2]. Bye.', 'Ask your lead [2]. Bye.'],
  ['written once already', 'Ask your lead [2][2] [2]. Ask [2]. Bye.', 'Ask your lead [2]. Ask [2]. Bye.'],
  [
    'beside the right one',
    'The large meeting room seats 40 people [1, 2]. Bye.',
    'The large meeting room seats 40 people [2]. Bye.',
  ],
  [
    'that is a link',
    'The large meeting room seats 40 people [1](a). Bye.',
    'The large meeting room seats 40 people [1](a). Bye.',
  ],
  [
    'in code',
    'The large meeting room seats 40 people `rooms[1]`. Bye.',
    'The large meeting room seats 40 people `rooms[1]`. Bye.',
  ],
])('a number %s names the text that says it', (_, text, expected) => {
  for (const size of [1, 3, 7, text.length])
    for (const completes of [true, false]) expect(answer(text, size, completes)).toBe(expected)
})

test.each([
  ['before its sentence', '[1] Employees get 25 days of annual leave. [2] Forty fit into the big one.\n[2] Ask us.'],
  ['before its item', '- Leave and rooms\n- [2] The large meeting room\n- [1] Leave'],
  ['in a list of sources', 'The large meeting room seats 40 people.\n\n[1] Leave\n[2] Rooms'],
  ['that a sentence speaks of', 'While [1] says that employees get 25 days of annual leave, [2] says nothing of it.'],
  ['within a sentence that goes on', 'The large meeting room seats 40 people [1] only when its wall is open.'],
  ['among others set apart', 'The large meeting room seats 40 people [1], [2]. Bye.'],
  ['in a row of a table', '| The large meeting room seats 40 people | [1] |\n'],
  ['in code around code', '````md\n```text\nThe large meeting room seats 40 people [1].\n```\n````\n'],
  ['in code of an item', '1. ```text\n   The large meeting room seats 40 people [1].\n   ```\n'],
])('a number %s is left as it is', (_, text) => {
  for (const size of [1, 3, 7, text.length]) expect(answer(text, size, true)).toBe(text)
})

test.each([
  ['gets no number for a sentence that may go on', 'The large meeting room seats 40 people ', undefined],
  [
    'gets the number of a sentence that is complete',
    'The large meeting room seats 40 people.',
    'The large meeting room seats 40 people. [2]',
  ],
])('an interrupted answer %s', (_, text, expected = text) => {
  expect(answer(text, text.length, false, undefined, true)).toBe(expected)
})

test('a number is left where its own text says the sentence as well as another', () => {
  const opening = 'The office opens at 9 every working day.'
  const text = 'In Paris it is as follows. The office opens at 9 every working day [2]. [2] Bye.'
  expect(answer(text, text.length, true, [opening, opening])).toBe(text)
})

const hall = 'The large meeting room on the ground floor seats 40 people at once.'
const twoSources =
  'Employees get 25 days of annual leave, and the large meeting room on the ground floor seats 40 people'

test.each([
  ['that its own text does not say', `${twoSources} [1]. Bye.`, `${twoSources} [1] [2]. Bye.`],
  [
    'that its own text does not say, also behind the full stop',
    `${twoSources}. [1] Bye.`,
    `${twoSources}. [1] [2] Bye.`,
  ],
  ['and not behind a sentence that follows', `${twoSources}. Bye. [1] Bye.`, `${twoSources}. Bye. [1] Bye.`],
  ['and not where the next sentence begins with it', `${twoSources}. [1] says so.`, `${twoSources}. [1] says so.`],
  ['and not twice', `${twoSources}. [1] [2] Bye.`, `${twoSources}. [1] [2] Bye.`],
  ['also at the end', `${twoSources}. [1]`, `${twoSources}. [1] [2]`],
  ['also at the end of a line', `${twoSources}. [1] \nit was so.`, `${twoSources}. [1] [2] \nit was so.`],
  ['and not on the next line', `${twoSources}.\n[1] Bye.`, `${twoSources}.\n[1] Bye.`],
  ['only where the model does not', `${twoSources} [1][2]. Bye.`, `${twoSources} [1][2]. Bye.`],
  ['and not where its own text says it', `${twoSources} [2]. Bye.`, `${twoSources} [2]. Bye.`],
  [
    'and not of a few words',
    'Employees get 25 days of annual leave, the ground floor seats 40 people [1].',
    'Employees get 25 days of annual leave, the ground floor seats 40 people [1].',
  ],
])('a number is joined by that of the text which says a long clause %s', (_, text, expected) => {
  for (const size of [1, 3, 7, text.length]) expect(answer(text, size, true, [leave, hall])).toBe(expected)
})

test('a number is joined once by that of a text which says several clauses', () => {
  const days = 'Employees get 25 days of annual leave in every full calendar year of employment'
  const room = 'the large meeting room on the ground floor has a projector'
  const kitchen = 'the small kitchen on the top floor has an oven'
  const text = `${days}, ${room}, and ${kitchen}`
  for (const size of [1, 7, 200])
    expect(answer(`${text} [1]. Bye.`, size, true, [`${days}.`, `${room}. ${kitchen}.`])).toBe(`${text} [1] [2]. Bye.`)
})

test('a number is not joined by that of a text which says a clause of something else', () => {
  const bridge = 'The old bridge crosses the river at its narrowest point'
  const tower = 'The clock tower stands beside the market hall. It was rebuilt after the great flood in the year 1345.'
  for (const clause of [
    'it was rebuilt after the great flood in the year 1345',
    'and it was rebuilt after the great flood in the year 1345',
    'and was rebuilt after the great flood in the year 1345',
    'rebuilt after the great flood in the year 1345',
  ])
    for (const size of [1, 7, 200]) {
      const text = `${bridge}, ${clause} [1]. Bye.`
      expect(answer(text, size, true, [`${bridge}.`, tower])).toBe(text)
    }
})

test('code gets no number, whatever stands around it', () => {
  const code = '````md\n```text\nThe large meeting room seats 40 people.\n```\n````\n'
  expect(answer(code)).toBe(code)
  const item = '- ```text\n  The large meeting room seats 40 people.\n  ```\n'
  expect(answer(item)).toBe(item)
})

test('a sentence that begins with a pronoun is cited by the text that names what it is about', () => {
  const bridge = 'The old bridge crosses the river at its narrowest point.'
  const tower = 'The clock tower stands beside the market hall.'
  const rebuilt = 'It was rebuilt after the great flood in 1345.'
  const both = [`${bridge} ${rebuilt}`, `${tower} ${rebuilt}`]
  for (const size of [1, 7, 200]) {
    expect(answer(`${bridge} ${rebuilt}`, size, false, both)).toBe(`${bridge} [1] ${rebuilt} [1]`)
    expect(answer(`${tower} ${rebuilt}`, size, false, both)).toBe(`${tower} [2] ${rebuilt} [2]`)
    // Only the tower was rebuilt; no document says so of the bridge.
    const towerAlone = [bridge, `${tower} ${rebuilt}`]
    expect(answer(`${bridge} ${rebuilt}`, size, false, towerAlone)).toBe(`${bridge} [1] ${rebuilt}`)
    expect(answer(`${bridge}\n\n${rebuilt}`, size, false, towerAlone)).toBe(`${bridge} [1]\n\n${rebuilt} [2]`)
    const own = `${bridge} [1] ${rebuilt} [1]`
    expect(answer(own, size, true, towerAlone)).toBe(own)
    expect(answer(`${tower} [2] ${rebuilt} [1]`, size, true, towerAlone)).toBe(`${tower} [2] ${rebuilt} [2]`)
  }
})

test.each(['', '` '])('a long answer of one line, begun by "%s", takes no time', async (opening) => {
  const text = opening + 'The heron waits here. '.repeat(36_000)
  expect(await cpuMsOf(() => expect(answer(text)).toBe(text))).toBeLessThan(20_000)
})
