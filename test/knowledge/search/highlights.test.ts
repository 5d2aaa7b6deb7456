import fc from '../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createHighlighter } from '@inlay/knowledge/internal/search/highlights'

const highlight = (text: string, query: string): string[] => createHighlighter(query)(text)
const plain = (piece: string): string => piece.replaceAll(/<\/?hi>/g, '')
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

test('words of the query are marked, in other forms and cases too', () => {
  expect(highlight('Configured by the Policies of a team.', 'configure policy')).toEqual([
    '<hi>Configured</hi> by the <hi>Policies</hi> of a team.',
  ])
  expect(highlight("What's the team's café?", 'what’s a cafe for teams')).toEqual([
    "What's the <hi>team</hi>'s <hi>café</hi>?",
  ])
})

test('common words and words that merely begin alike are not marked', () => {
  expect(highlight('What is the string in str?', 'what is the')).toEqual([])
  expect(highlight('a str and a strip', 'string')).toEqual([])
})

test('at most four pieces come back, those with most of the query first', () => {
  const filler = ' filler'.repeat(40)
  const pieces = highlight(`one${filler} one two${filler} one${filler} two${filler} one${filler}`, 'one two')
  expect(pieces).toHaveLength(4)
  expect(pieces[0]).toContain('<hi>one</hi> <hi>two</hi>')
  for (const piece of pieces) expect(plain(piece).length).toBeLessThanOrEqual(110)
})

describe.each([
  ['Chinese', '博物馆', '这座博物馆在星期一不开放。', '这座<hi>博物馆</hi>在星期一不开放。'],
  ['Japanese', '天気', '今日は天気がいい', '今日は<hi>天気</hi>がいい'],
  ['Japanese, one character', '猫', '吾輩は黒猫である', '吾輩は黒<hi>猫</hi>である'],
  [
    'Japanese, katakana',
    'データベース',
    'リレーショナルデータベースの設計',
    'リレーショナル<hi>データベース</hi>の設計',
  ],
  ['Japanese and Latin letters', 'iPhone', '新しいiPhoneを買う', '新しい<hi>iPhone</hi>を買う'],
  ['characters beyond the basic plane', '𠮷野', '𠮷野家で𠮷野丼', '<hi>𠮷野</hi>家で<hi>𠮷野</hi>丼'],
  ['Korean', '도서관', '도서관은 아침에 엽니다', '<hi>도서관</hi>은 아침에 엽니다'],
  ['Thai', 'ห้องสมุด', 'เปิดห้องสมุดทุกวัน', 'เปิด<hi>ห้องสมุด</hi>ทุกวัน'],
  ['Arabic', 'كتاب', 'قرأت الكتاب في المكتبة', 'قرأت ال<hi>كتاب</hi> في المكتبة'],
  ['Arabic with vowel points', 'كتاب', 'هذا كِتَابٌ جديد', 'هذا <hi>كِتَابٌ</hi> جديد'],
  ['Arabic, letters written either way', 'احمد', 'وصل أحمد أمس', 'وصل <hi>أحمد</hi> أمس'],
  ['Hebrew with vowel points', 'שלום', 'אמר שָׁלוֹם לכולם', 'אמר <hi>שָׁלוֹם</hi> לכולם'],
  ['Hindi', 'हिन्दी', 'यह हिन्दी में है', 'यह <hi>हिन्दी</hi> में है'],
  ['German', 'wo ist die größe', 'Die Größe ist frei', 'Die <hi>Größe</hi> ist frei'],
  ['French', "où est l'eau", "L'eau est là", "L'<hi>eau</hi> est là"],
  ['parts of identifiers', 'http header', 'x = parseHTTPHeader(y)', 'x = parse<hi>HTTPHeader</hi>(y)'],
  ['identifiers', 'parseHTTPHeader', 'x = parseHTTPHeader(y)', 'x = <hi>parseHTTPHeader</hi>(y)'],
  [
    'snake case and flags',
    'dry_run --force',
    'use --dry-run or --force',
    'use --<hi>dry</hi>-<hi>run</hi> or --<hi>force</hi>',
  ],
  ['words beside emoji', 'launch', '🚀🚀 launch👩‍👩‍👧 day', '🚀🚀 <hi>launch</hi>👩‍👩‍👧 day'],
])('%s', (_, query, text, expected) => {
  test('is marked where it matches', () => {
    expect(highlight(text, query)).toEqual([expected])
  })
})

describe.each([
  ['Japanese', '天気', '今日は東京の空がとても青くて風も気持ちがいいので散歩に出かけました。'],
  ['Thai', 'ห้องสมุด', 'วันนี้อากาศดีมากเราจึงไปเดินเล่นในสวนสาธารณะใกล้บ้านกับเพื่อน'],
  ['emoji', 'launch', '👩‍👩‍👧🧑🏽‍🚀🏳️‍🌈'],
])('a long text without spaces, in %s', (_, word, filler) => {
  const text = `${filler.repeat(8)}${word}${filler.repeat(8)}`

  test('is shown with what stands around the match, cut between whole characters', () => {
    const [piece] = highlight(text, word)
    expect(piece).toContain(`<hi>${word}</hi>`)
    const shown = plain(piece!)
    expect(shown.length).toBeGreaterThan(60)
    expect(shown.length).toBeLessThanOrEqual(100)
    const starts = new Set([...graphemes.segment(text)].map(({ index }) => index))
    expect(starts).toContain(text.indexOf(shown))
    expect(starts).toContain(text.indexOf(shown) + shown.length)
  })
})

test('whatever the text, pieces are parts of it and marks are balanced', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.string({ maxLength: 20 }), (text, query) => {
      const flat = text.replaceAll(/^ {0,3}#{1,6} /gm, '').replaceAll(/\s+/g, ' ')
      for (const piece of highlight(text, `${query} ${text.slice(0, 40)}`)) {
        expect(piece.split('<hi>').length).toBe(piece.split('</hi>').length)
        if (!text.includes('hi>') && !text.includes('#')) expect(flat).toContain(plain(piece))
      }
    }),
  )
})

test('what the index finds is marked, in any script', () => {
  const sample = 'qB1_ اكتب الَ 図書館ーガｶﾞ ห้องสมุด 도서관 𠮷 é ß'
  const letters = fc.constantFrom(...Array.from(graphemes.segment(sample), ({ segment }) => segment))
  const texts = fc.array(letters, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, texts, (word, context) => {
      const isWord = /[\p{L}\p{N}]/u.test(word)
      expect(highlight(`${context} ${word} ${context}`, word).length > 0).toBe(isWord)
    }),
  )
})
