import { hasAsciiWords } from '@inlay/text'
import { describe, expect, it } from 'vitest'

describe('texts whose words are ASCII', () => {
  it('have no other letter, mark or digit, and any punctuation', () => {
    const admitted = Array.from({ length: 0x3000 }, (_, unit) => String.fromCharCode(unit)).filter(hasAsciiWords)
    expect(
      admitted.filter((character) => character > '\u007f' && /[\p{L}\p{M}\p{N}\p{Alphabetic}]/u.test(character)),
    ).toEqual([])
    expect(hasAsciiWords('“Quoted” – it’s here… → ├── a')).toBe(true)
    for (const text of ['café', 'e\u0301', '①', 'x²', 'µm', 'ﬁne', '漢字'])
      expect(hasAsciiWords(text), text).toBe(false)
  })
})
