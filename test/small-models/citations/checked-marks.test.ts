import { describe, expect, test } from 'vitest'
import type { CitationPiece } from '@inlay/agent/internal/contracts/citations'
import { CitationFilter } from '@inlay/agent/internal/citations/citation-filter'
import { compareCitations } from '@inlay/small-models/internal/citations/compared-citations'
import { findByClause } from '@inlay/small-models/internal/citations/checked-marks'
import { createCitableDocuments } from '@inlay/agent/internal/citations/citable-documents'
import { newDoc } from '../../agent/setting.ts'

/** Passages of a handbook, each with a sentence in the same words, in other words, and in another language. */
const handbook: readonly (readonly [passage: string, quoted: string, inOtherWords: string, translated: string])[] = [
  [
    'Full-time staff receive 25 days of annual leave per calendar year. Up to five unused days may be carried over until the end of March.',
    'Full-time staff receive 25 days of annual leave per calendar year',
    'If you work full time, you get 25 leave days a year and may carry five of them over until March',
    'Vollzeitkräfte erhalten 25 Tage Urlaub im Jahr und können fünf davon bis März mitnehmen',
  ],
  [
    'Part-time staff receive leave in proportion to their hours: somebody who works three days a week has 15 days of annual leave.',
    'Somebody who works three days a week has 15 days of annual leave',
    'Part-timers get leave in proportion, so with three days a week you have 15 days',
    'Wer drei Tage in der Woche arbeitet, hat 15 Tage Urlaub',
  ],
  [
    'The large meeting room on the ground floor seats 40 people. Book it at least two days ahead with the front desk, extension 4400.',
    'The large meeting room on the ground floor seats 40 people',
    'Up to 40 people fit into the large meeting room, which the front desk books for you',
    'In den großen Besprechungsraum im Erdgeschoss passen 40 Personen',
  ],
  [
    'Expenses are refunded within 14 days if the receipts are uploaded before the 5th of the following month. Meals abroad are limited to 45 euros a day.',
    'Expenses are refunded within 14 days',
    'Upload your receipts before the 5th and your expenses come back within 14 days',
    'Spesen werden innerhalb von 14 Tagen erstattet',
  ],
  [
    'Laptops are replaced every four years. Anna Meier of IT procurement (extension 2210) approves earlier replacements for broken machines.',
    'Laptops are replaced every four years',
    'You get a new laptop every four years, and Anna Meier approves earlier replacements',
    'Laptops werden alle vier Jahre ersetzt; frühere Ausnahmen genehmigt Anna Meier',
  ],
  [
    'During probation, which lasts six months, either side may end the contract with two weeks of notice; afterwards the notice period is three months.',
    'During probation either side may end the contract with two weeks of notice',
    'The notice period is two weeks in probation and three months afterwards',
    'In der Probezeit beträgt die Kündigungsfrist zwei Wochen, danach drei Monate',
  ],
  [
    'The VPN client connects with a hardware token. Lost tokens are reported to the security desk at once, and a replacement costs 30 euros.',
    'Lost tokens are reported to the security desk at once',
    'Tell the security desk at once when you lose your hardware token for the VPN',
    'Verlorene Token sind sofort der Sicherheit zu melden',
  ],
  [
    'Remote work is possible on up to three days a week once the supervisor agrees in writing. Working from another country needs approval of the legal department.',
    'Remote work is possible on up to three days a week',
    'With written agreement of your supervisor you may work remotely up to three days a week',
    'Mobiles Arbeiten ist an bis zu drei Tagen in der Woche möglich',
  ],
  [
    'Parents may take up to 36 months of parental leave for each child. It has to be announced seven weeks before it begins.',
    'Parents may take up to 36 months of parental leave for each child',
    'For each child up to 36 months of parental leave can be taken, announced seven weeks before',
    'Eltern können je Kind bis zu 36 Monate Elternzeit nehmen',
  ],
  [
    'The canteen serves lunch between 11:30 and 14:00. Vegetarian dishes cost 5.20 euros, and guests pay a surcharge of two euros.',
    'The canteen serves lunch between 11:30 and 14:00',
    'Lunch is served in the canteen from 11:30, and guests pay a surcharge',
    'Die Kantine serviert von 11:30 bis 14:00 Mittagessen',
  ],
]

/** The number of the marks in an answer that cites passages of the handbook, numbered from 1. */
function cite(
  text: string,
  passages = handbook.map(([passage]) => passage),
  size = text.length,
  question?: string,
): string {
  const citable = createCitableDocuments()
  if (question !== undefined) citable.question = question
  citable
    .openStep()(0)
    .cite(
      passages.map((_, index) => newDoc(`page-${index + 1}`, { semantic_identifier: 'Handbook' })),
      passages,
    )
  const filter = new CitationFilter({ mode: 'link', known: citable.known, check: compareCitations(citable) })
  const pieces: CitationPiece[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(...filter.push(text.slice(at, at + size)))
  pieces.push(...filter.end())
  return pieces
    .map((piece) => (piece.type === 'text' ? piece.content : ''))
    .join('')
    .replaceAll(/\[\[(\d+)\]\]\([^)]*\)/g, '[$1]')
}

const places: readonly (readonly [string, (sentence: string, mark: string) => string])[] = [
  ['before the full stop', (sentence, mark) => `${sentence}${mark}. Ask again.`],
  ['behind the full stop', (sentence, mark) => `Well. ${sentence}.${mark} Ask again.`],
]

describe.each(places)('a mark %s', (_, write) => {
  for (const [index, [, ...sentences]] of handbook.entries()) {
    const own = index + 1
    const other = ((index + 3) % handbook.length) + 1
    for (const [at, sentence] of sentences.entries()) {
      test(`stays on its passage: ${sentence}`, () => {
        expect(cite(write(sentence, ` [${own}]`))).toBe(write(sentence, ` [${own}]`))
      })
      // A translation shares few words with any passage.
      const isTranslated = at === 2
      if (!isTranslated)
        test(`moves to the passage that holds its sentence: ${sentence}`, () => {
          expect(cite(write(sentence, ` [${other}]`))).toBe(write(sentence, ` [${own}]`))
        })
      test(`never moves to a third passage: ${sentence}`, () => {
        expect([` [${own}]`, ` [${other}]`].map((mark) => write(sentence, mark))).toContain(
          cite(write(sentence, ` [${other}]`)),
        )
      })
    }
  }
})

const [leave, , rooms] = handbook.map(([passage]) => passage) as [string, string, string]
const volcano = 'The volcano on the southern island erupted and destroyed several villages along the coast'

test.each([
  ['that nothing carries', `${volcano} [1]. Bye.`, `${volcano}. Bye.`],
  ['that nothing carries, behind its sentence', `${volcano}. [1] Bye.`, `${volcano}. Bye.`],
  ['that nothing carries, at the end', `${volcano}. [1]`, `${volcano}.`],
  ['in a language that the passage does not have', 'Der Vulkan auf der Insel ist ausgebrochen [1].', undefined],
  ['of few words', 'Ask your lead [1].', undefined],
  ['that leads its sentence', `[1] ${volcano}.`, undefined],
  ['in an item that it leads', `- [1] ${volcano}.`, undefined],
  ['in a row of a table', `| ${volcano} | [1] |\n`, undefined],
  ['of a heading', `## ${volcano} [1]\n`, undefined],
  ['of a question', `Is it true that ${volcano}? [1]`, `Is it true that ${volcano}?`],
  [
    'of a sentence behind the question that follows it',
    'Full-time staff receive 25 days of annual leave. Shall I explain how villages along the coast were destroyed? [1]',
    undefined,
  ],
  ['within a sentence that goes on', `${volcano} [1] in the year 1883 and again later.`, undefined],
  ['that the next sentence speaks of', `${volcano}. [1] says nothing of it.`, undefined],
  ['in code', `\`${volcano} [1]\`\n`, undefined],
  [
    'beside the right one',
    'The large meeting room on the ground floor seats 40 people [1][2].',
    'The large meeting room on the ground floor seats 40 people [2].',
  ],
  [
    'that carries a part beside another',
    'You get 25 days of annual leave, and the large meeting room on the ground floor seats 40 people [2][1].',
    undefined,
  ],
])('a mark %s', (_, text, expected = text) => {
  for (const size of [1, 3, 7, text.length]) expect(cite(text, [leave, rooms], size)).toBe(expected)
})

describe('versions of a page', () => {
  const versions = [
    'Full-time staff receive 25 days of annual leave per calendar year. Five days may be carried over.',
    'Full-time staff receive 28 days of annual leave per calendar year. Five days may be carried over.',
  ]

  test('a mark moves to the version that has the number of its sentence', () => {
    expect(cite('You receive 28 days of annual leave per calendar year [1].', versions)).toBe(
      'You receive 28 days of annual leave per calendar year [2].',
    )
  })

  test.each([
    'You receive 25 days of annual leave per calendar year [1].',
    'You may carry over five days of annual leave [1].',
    'You may carry over 5 days of annual leave [2].',
    'It was 25 days of annual leave and is 28 days [2].',
  ])('a mark stays on a version that has it: %s', (text) => expect(cite(text, versions)).toBe(text))
})

test('only marks of known documents are told, each before its link', () => {
  const citable = createCitableDocuments()
  citable
    .openStep()(0)
    .cite([newDoc('leave'), newDoc('rooms')], [leave, rooms])
  const filter = new CitationFilter({ mode: 'link', known: citable.known, check: compareCitations(citable) })
  const pieces = [...filter.push('The large meeting room seats 40 people [1].'), ...filter.end()]
  expect(pieces).toEqual([
    { type: 'text', content: 'The large meeting room seats 40 people ' },
    { type: 'citation', number: 2, documentId: 'rooms' },
    { type: 'text', content: '[[2]](https://wiki.example/rooms)' },
    { type: 'text', content: '.' },
  ])
  expect(filter.cited()).toEqual([{ number: 2, documentId: 'rooms' }])
})

test('a mark of a sentence whose only new word stands in another passage moves there', () => {
  const passages = [
    '| Stoff | Schrank | Handschuhe |\n|---|---|---|\n| Aceton | 7 | Butyl |',
    'Das virtuelle Paket hängt davon ab, was ein Programm braucht, und ich finde es dafür im Archiv.',
  ]
  const text = 'Butyl brauche ich dafür. [2]'
  expect(cite(text, passages, text.length, 'Und welche Handschuhe brauche ich dafür?')).toBe(
    'Butyl brauche ich dafür. [1]',
  )
})

describe('a sentence of hardly any words', () => {
  const passages = [
    '| Substance | Gloves |\n|---|---|\n| Acetone | Butyl |',
    'A package that needs a browser depends on one of many.',
  ]
  test.each([
    ['moves the mark to the passage of its only new word', 'You need Butyl. [2]', 'You need Butyl. [1]'],
    ['keeps the mark when its passage holds a new word', 'A browser. [2]', undefined],
    ['keeps the mark when no passage holds its words', 'Ask Clara. [2]', undefined],
    ['keeps the mark when it says only the words of the question', 'You need gloves. [2]', undefined],
  ])('%s', (_, text, expected = text) => {
    expect(cite(text, passages, text.length, 'Which gloves do I need?')).toBe(expected)
  })
})

test.each([
  [
    'when its only new word stands in a document on something else',
    'Is the pool open on Sunday?',
    'No, the pool is closed on Sunday [1].',
    ['On Sunday it stays shut.', 'The library is closed for repairs.'],
  ],
  [
    'when the other document holds less of what was asked',
    'Is the pool open on Sunday?',
    'No, the pool is closed on Sunday [1].',
    ['On Sunday the pool stays shut.', 'The library is closed on Sunday.'],
  ],
  [
    'when its document is in another language',
    'Welche Farbe hat der Schlüssel?',
    'Der Schlüssel ist blau [1].',
    ['The key of the north gate is blue.', 'Das blaue Sofa steht im Foyer, und der Schlüssel ist in der Farbe.'],
  ],
  [
    'when its document is in another language, and the other one about something else',
    'Welche Farbe hat der Schlüssel?',
    'Der Schlüssel ist blau [1].',
    ['The key of the north gate is blue.', 'Das blaue Sofa steht im Foyer.'],
  ],
])('a right mark of a short sentence stays %s', (_, question, text, passages) => {
  expect(cite(text, passages, text.length, question)).toBe(text)
})

test('a mark of a sentence that only points to its document stays', () => {
  const passages = ['The handle is red.', 'From the harbour you see where it is.']
  expect(cite('See [1].', passages, 8, 'Where is it?')).toBe('See [1].')
  expect(cite('See the harbour [1].', passages, 20, 'Where is the key of the boat?')).toBe('See the harbour [1].')
})

test('a document that says two clauses of a sentence is added once', () => {
  const first = 'the large meeting room on the ground floor seats forty people'
  const text = `The front desk opens at eight every morning of the week, ${first}, ${first} in rows `
  const find = (sentence: string): number | undefined => (sentence.includes('meeting room') ? 2 : undefined)
  const whole = (sentence: string): number | undefined => (sentence.includes('front desk') ? undefined : find(sentence))
  const mark = { line: text.trim(), numbers: [1], rest: '.', written: [] }
  expect(findByClause(mark, [1], whole)).toEqual([2])
})

test('a long attached file takes no mark from a passage that says the sentence in other words', () => {
  const words = 'If you work full time, you get 25 leave days a year and may carry five of them over until March'
  const checked = (file: string): readonly number[] => {
    const citable = createCitableDocuments()
    citable
      .openStep()(0)
      .cite(
        [newDoc('a')],
        [
          'Full-time staff receive 25 days of annual leave per calendar year. Unused days may be carried over to the next one.',
        ],
      )
    citable.addUnnumbered([file])
    return compareCitations(citable).checkMark({ line: words, numbers: [1], rest: '.', written: [] })
  }
  // Each word of the sentence somewhere, as in fifty pages of anything.
  const page = 'The parties agree on what follows below. '.repeat(20)
  const somewhere = words.split(' ').map((word, at) => `${page}Clause ${at} speaks of ${word} among others.`)
  expect(checked(somewhere.join('\n'))).toEqual([1])
})
