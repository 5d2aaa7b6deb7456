import fc from '../../../fast-check.ts'
import { expect, it } from 'vitest'
import { loadEngine } from '@inlay/drivers/internal/lancedb/engine'
import { createTerms, wordOptions, wordsOf } from '@inlay/drivers/internal/lancedb/text/words-and-spelling'

const engine = await loadEngine()
const terms = createTerms(engine)

/** Terms as the engine makes them of a whole text. */
const engineTerms = async (text: string): Promise<string[]> =>
  (await engine.lancedb.tokenize(text, wordOptions)).map((token) => token.text)

const ourTerms = async (text: string): Promise<string[]> =>
  (await terms.of(wordsOf(text))).filter((term) => term !== undefined)

it.each([
  'The running dogs ran: foo_bar, FooBar and E0308 don’t stop.',
  'naïve CAFÉ straße ﬁne Ⅷ ١٢ x2 2x',
  '日本 語 東京 ไทย ภาษา 한국',
  'zqxz and the zqxz of zqxz',
  `hash ${'ab12'.repeat(16)} and much too long ${'x'.repeat(200)} a`,
  '',
  '?! …',
])('splits and stems as the engine does: %s', async (text) => {
  expect(await ourTerms(text)).toEqual(await engineTerms(text))
})

it('splits and stems any text as the engine does', async () => {
  const word = fc.oneof(
    fc.constantFrom('the', 'of', 'running', 'Houses', 'generously', 'is', 'WAS', "it's", 'zqxz', 'é', 'ß', '日本'),
    fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
    fc.string({ unit: fc.constantFrom(...'aeiounstABZ09éñüждλαبن日本ก_-.’'), maxLength: 8 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 12 }), async (words) => {
      const text = words.join(' ')
      expect(await ourTerms(text)).toEqual(await engineTerms(text))
    }),
    { numRuns: 300 },
  )
})

it('answers in the order of the words, with gaps for words that are not indexed', async () => {
  expect(await terms.of(['the', 'dogs', 'of', 'dogs', 'zqxz'])).toEqual([undefined, 'dog', undefined, 'dog', 'zqxz'])
  expect(await terms.of([])).toEqual([])
})
