import { createMarkdownReader, readMarkdown } from '@inlay/text/markdown'
import { expect, test } from 'vitest'
import { cases } from '../../cases.ts'
import { cpuMsOf } from '../../cpu-time.ts'

const marks = '~`#-*_>|:[](<$!&\\="+1h \t\u00a0\u2028\fé\u0301\u200b\ud800\0'
const words =
  '#  ## # -  1.  - [ ]  >  >-  |- | a  |:-: |\t [a]( [a]:  [^a]:  [[1]]( ![ <a <b> </b> <details> </details> <summary> <br https:// https://a. [!note] &#1 $a $$ \\[ \\( `` ``` ** *a _a_ **a ~~ \\| \\`'
const pieces = marks
  .split('')
  .concat(words.split(' '), `${'`'.repeat(25)} `, '- ', '> ', '1. ', '- [ ] ', '*a **', '😀')
/** Beginnings after which a run is read by a pattern of its own. */
const starts = '@# @- @-@1.@- [ ]@>@~~~@```@|-|@|a|\n|-@[a]:@[a]: b@[^a]:@<details>@$$@\\[@===@[a](b@<summary>'.split(
  '@',
)
const ends = '@`@x@\u2028@\\] x@|x@"'.split('@')
const length = 20_000

const filled = (piece: string): string => piece.repeat(Math.ceil(length / piece.length))

/** Texts of which twice as much takes far more than twice as long. */
async function slowest(texts: Iterable<string>, read: (text: string) => unknown): Promise<string[]> {
  const slow: string[] = []
  for (const text of texts) {
    const start = text.slice(0, text.length / 2) + text.slice(-8)
    let [whole, half] = [await cpuMsOf(() => read(text)), Infinity]
    let isSlow = whole > 100
    // In turns: code gets several times as fast while it runs, later on a busy machine, and what the tests before left
    // is collected at any time.
    for (let tries = 0; isSlow && tries < 6; tries++) {
      half = Math.min(half, await cpuMsOf(() => read(start)))
      whole = Math.min(whole, await cpuMsOf(() => read(text)))
      isSlow = whole > 100 && whole > 3 * half
    }
    if (isSlow)
      slow.push(`${JSON.stringify(text.slice(0, 30))} … ${JSON.stringify(text.slice(-8))}: ${half} and ${whole} ms`)
  }
  return slow
}

function* lines(): Generator<string> {
  for (const [text, end] of [
    ['~', '`'],
    ['|-|\t', 'x'],
    ['- [ ]\t', '\u2028'],
    ['<details> ', 'x'],
  ] as const)
    yield `${text}${filled(text.at(-1)!)} ${end}\n`
  let count = 0
  for (const piece of pieces.filter((text) => text !== ''))
    for (const start of starts)
      for (const end of ends) if (count++ % cases(101, 11) === 0) yield `${start}${filled(piece)} ${end}\n`
}

function* manyLines(): Generator<string> {
  const parts = pieces.concat(starts)
  let count = 0
  for (const first of parts)
    for (const second of ['', 'a', '-', '  b']) if (count++ % cases(11, 1) === 0) yield filled(`${first}${second}\n`)
  yield Array.from({ length: 5000 }, (_, at) => `[^${at}]: a\n`).join('')
  yield `${filled('\\[\n')}\\] x\n`
}

test('no line takes more than linear time', async () => {
  expect(await slowest(lines(), readMarkdown)).toEqual([])
})

test('no repeated line takes more than linear time', async () => {
  expect(await slowest(manyLines(), readMarkdown)).toEqual([])
})

test('a hostile line that comes in by pieces is read in linear time', async () => {
  const read = (text: string): void => {
    const reader = createMarkdownReader()
    for (let end = length / 4; end < length; end += length / 4) reader.read(text.slice(0, end), true)
  }
  expect(await slowest(['~', '\t|', '- [ ]'].map(filled), read)).toEqual([])
})
