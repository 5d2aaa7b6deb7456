import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../cpu-time.ts'
import { toSearchQuery, toSearchText } from '@inlay/knowledge/internal/chunking/search-text'

/** Words as an index splits them. */
const words = (text: string): string[] => text.toLowerCase().match(/[\p{Alphabetic}\p{N}]+/gu) ?? []
const finds = (query: string, text: string, title = ''): boolean => {
  const held = new Set(words(toSearchText({ title, text })))
  const queryWords = words(toSearchQuery(query))
  return queryWords.length > 0 && queryWords.every((word) => held.has(word))
}

describe('the search text of a passage', () => {
  it('holds the title twice and then the text', () => {
    expect(toSearchText({ title: ' Herons ', text: 'They wait.' })).toBe('Herons\nHerons\nThey wait.')
    expect(toSearchText({ title: '', text: 'They wait.' })).toBe('They wait.')
    expect(toSearchText({ title: 'Herons', text: '' })).toBe('Herons\nHerons\n')
  })

  it.each([
    ['header', 'parseHTTPHeader(x)'],
    ['http', 'parseHTTPHeader(x)'],
    ['parse HTTP header', 'parseHTTPHeader(x)'],
    ['parseHTTPHeader', 'parseHTTPHeader(x)'],
    ['signals ptr', 'static SIGNALS_PTR: *mut u8'],
    ['utf', 'to_utf8'],
    ['version', 'since Version2'],
    ['größe', 'maxGrößeInBytes'],
  ])('is found by a part of an identifier: %s in %s', (query, text) => {
    expect(finds(query, text)).toBe(true)
  })

  it('adds nothing for words without parts', () => {
    expect(toSearchText({ title: '', text: 'Plain words, A CAPITAL one and 42.' })).toBe(
      'Plain words, A CAPITAL one and 42.',
    )
  })

  it.each([
    ['図書館', '東京都の図書館は午前九時に開きます。'],
    ['猫', '吾輩は猫である'],
    ['博物馆', '这座博物馆在星期一不开放。'],
    ['ห้องสมุด', 'ห้องสมุดเปิดทุกวัน'],
    ['도서관', '도서관은 아침에 엽니다'],
    ['iPhone', '新しいiPhoneを買う'],
    ['データベース', 'リレーショナルデータベースの設計'],
  ])('is found by a word that no space sets apart: %s', (query, text) => {
    expect(finds(query, text)).toBe(true)
  })

  it('is not found by characters of another order', () => {
    expect(finds('館書図', '東京都の図書館')).toBe(false)
  })

  it.each([
    ['café', 'cafe\u0301'],
    ['Inlay 42', 'Ｉｎｌａｙ ４２'],
    ['ガラス', 'ｶﾞﾗｽ'],
    ['office', 'oﬃce'],
  ])('is found whatever the form of its characters: %s', (query, text) => {
    expect(finds(query, text)).toBe(true)
  })
})

describe('Arabic and Hebrew', () => {
  it.each([
    ['كتاب', 'قرأت الكتاب أمس'],
    ['الكتاب', 'هذا كتاب جديد'],
    ['كتاب', 'بحثت فيه وبالكتاب'],
    ['كتاب', 'كِتَابٌ'],
    ['احمد', 'أحمد'],
    ['مكتبه', 'مكتبة'],
    ['العـــربية', 'العربية'],
    ['שלום', 'שָׁלוֹם'],
  ])('are found with or without article and points: %s in %s', (query, text) => {
    const held = new Set(words(toSearchText({ title: '', text })))
    expect(words(toSearchQuery(query)).some((word) => held.has(word))).toBe(true)
  })
})

describe('a search query', () => {
  it.each([
    ['Wie viele Urlaubstage hat man in der Probezeit?', 'Urlaubstage Probezeit?'],
    ['Où est la salle de lecture ?', 'salle lecture ?'],
    ['¿Cuántos días de vacaciones hay?', '¿Cuántos días vacaciones ?'],
    ['Как получить доступ к архиву?', 'получить доступ архиву?'],
    ['Hva er åpningstidene, og hvor er det?', 'Hva åpningstidene, ?'],
  ])('leaves out what says little in its language: %s', (query, expected) => {
    expect(toSearchQuery(query)).toBe(expected)
  })

  it.each([
    'Who is in IT and what do they do?',
    'die casting',
    'van der Waals',
    'wo ist der die das',
    'to be or not to be',
    'let x = de.foo()',
  ])('keeps English, names, code, and what says little altogether: %s', (query) => {
    expect(toSearchQuery(query).startsWith(query.slice(0, 12))).toBe(true)
  })

  it('is what was typed, with the parts of its identifiers', () => {
    expect(toSearchQuery('  How does DiffExecutor work? ')).toBe('How does DiffExecutor work? Diff Executor')
    expect(toSearchQuery('plain words')).toBe('plain words')
    expect(toSearchQuery('  ')).toBe('')
  })

  it('takes long texts in fair time', async () => {
    const texts = ['aB'.repeat(100_000), '図'.repeat(100_000), 'a'.repeat(200_000), 'A1'.repeat(100_000)]
    expect(await cpuMsOf(() => texts.forEach(toSearchQuery))).toBeLessThan(5_000)
  })
})
