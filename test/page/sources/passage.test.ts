import { expect, test } from 'vitest'
import { hasQuote, piecesOf, piecesOfText, withQuote } from '../../../packages/page/src/sources/passage.ts'
import { cpuMsOf } from '../../cpu-time.ts'
import { searchDoc } from './search-doc.ts'

const textOf = (pieces: readonly { text: string }[]): string => pieces.map(({ text }) => text).join('')

test('matched words are marked, and nothing else of a passage is markup', () => {
  const pieces = piecesOf(searchDoc({ match_highlights: ['<b>Full-time</b> staff get <hi>leave</hi>.'] }))
  expect(pieces).toEqual([
    { text: '<b>Full-time</b> staff get ', mark: 'none' },
    { text: 'leave', mark: 'match' },
    { text: '.', mark: 'none' },
  ])
})

test('without highlights the beginning is shown', () => {
  expect(textOf(piecesOf(searchDoc({ blurb: 'It begins so.', match_highlights: [] })))).toBe('It begins so.')
})

test('a highlight inside a longer blurb keeps the text around it', () => {
  const pieces = piecesOf(
    searchDoc({ blurb: 'Before. The leave is long. After.', match_highlights: ['The <hi>leave</hi> is long.'] }),
  )
  expect(textOf(pieces)).toBe('Before. The leave is long. After.')
  expect(pieces.filter(({ mark }) => mark === 'match').map(({ text }) => text)).toEqual(['leave'])
})

test('the sentence an answer quotes is marked across line breaks, case and Markdown', () => {
  const pieces = piecesOf(searchDoc({ match_highlights: ['One. Staff get\n**25 days** of <hi>leave</hi>. Two.'] }))
  const quoted = withQuote(pieces, 'staff get 25 days of leave.').filter(({ mark }) => mark === 'quote')
  expect(quoted.map(({ text }) => text)).toEqual(['Staff get\n25 days of leave'])
})

test('marking a quote loses no letter, whatever its letters are', () => {
  for (const text of [
    'İstanbul ofisi açıktır, her gün açık.',
    '図書館は平日の九時から十八時まで開いています。',
    'Emoji 🎉 party 🎉 goes on 🎉 forever',
  ]) {
    const pieces = [{ text, mark: 'none' as const }]
    expect(textOf(withQuote(pieces, text.slice(2, 26)))).toBe(text)
  }
})

test('a quote is found whatever becomes of its letters in lower case', () => {
  for (const text of ['İstanbul İli açıktır.', 'Η ΟΔΟΣ ΕΙΝΑΙ ΑΝΟΙΧΤΗ', '𐐀𐐁𐐂𐐃𐐄𐐅𐐆𐐇𐐈𐐉𐐊𐐋𐐌']) {
    const pieces = withQuote([{ text: `« ${text} »`, mark: 'none' }], text)
    expect(pieces.filter(({ mark }) => mark === 'quote').map((piece) => piece.text)).toEqual([text.replace('.', '')])
  }
})

test('a quote that is not there, or too short to tell, marks nothing', () => {
  const pieces = piecesOf(searchDoc({ blurb: 'Staff get 25 days.', match_highlights: [] }))
  expect(withQuote(pieces, 'Nobody said any such thing.')).toBe(pieces)
  expect(withQuote(pieces, '25 days')).toBe(pieces)
})

test('a whole passage is shown as text with the matched words marked', () => {
  const pieces = piecesOfText(
    'Staff get **25 days**.',
    searchDoc({ match_highlights: ['get <hi>25</hi> <hi>days</hi>'] }),
    '',
  )
  expect(textOf(pieces)).toBe('Staff get 25 days.')
  expect(pieces.filter(({ mark }) => mark === 'match').map(({ text }) => text)).toEqual(['25', 'days'])
})

test('of a long passage the paragraphs around the quote are shown', () => {
  const paragraph = (at: number): string => `Paragraph number ${at} ${'goes on and on '.repeat(20)}.`
  const text = Array.from({ length: 12 }, (_, at) => paragraph(at)).join('\n\n')
  const shown = textOf(piecesOfText(text, searchDoc(), paragraph(6)))
  expect(shown).toContain('Paragraph number 6')
  expect(shown).not.toContain('Paragraph number 1 ')
  expect(shown.length).toBeLessThan(900)
  expect(shown).toMatch(/^…[^]*…$/)
})

test('a passage is recognised by a quote, whatever its markup', () => {
  expect(hasQuote('Staff **get** 25\n`days` of leave.', 'staff get 25 days')).toBe(true)
  expect(hasQuote('Staff get 30 days of leave.', 'staff get 25 days')).toBe(false)
})

test('marks of matches that do not end cost no more than their length', async () => {
  const document = searchDoc({ blurb: 'x', match_highlights: ['<hi>'.repeat(50_000)] })
  expect(await cpuMsOf(() => piecesOf(document))).toBeLessThan(150)
  expect(await cpuMsOf(() => piecesOfText('x', document, 'x'))).toBeLessThan(150)
})
