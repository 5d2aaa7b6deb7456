import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, expect, test } from 'vitest'
import { docx, latin1, paragraph, pdf, pdfText, pptx, shape, slideLine, utf8, xlsx } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const samples: Record<string, Uint8Array> = {
  'a.pdf': pdf([pdfText([[72, 700, 11, 'A page of text.']])], { compressed: true, info: '/Title(T)' }),
  'a.docx': docx(paragraph('One', 'Heading1') + paragraph('two'), { core: '<dc:title>T</dc:title>' }),
  'a.pptx': pptx([{ tree: shape(slideLine('T'), 'title') + shape(slideLine('one')), notes: 'n' }]),
  'a.xlsx': xlsx({ S: '<row><c t="s"><v>0</v></c><c><v>1</v></c></row>' }, { strings: '<si><t>a</t></si>' }),
  'a.html': utf8('<!doctype html><title>T</title><table><tr><th>A<td>1</table><ul><li>x</ul>'),
  'a.eml': latin1('From: a@x.org\r\nSubject: T\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n'),
  'a.csv': utf8('a;b\n"c;d";e\n'),
  'a.md': utf8('---\ntitle: T\ntags: [a, b]\n---\n# One\n'),
}

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
}

function damaged(bytes: Uint8Array, next: () => number): Uint8Array {
  const copy = bytes.slice(0, next() < 0.2 ? Math.ceil(next() * bytes.length) : bytes.length)
  for (let changes = Math.ceil(next() * 6); changes > 0; changes--)
    copy[Math.floor(next() * copy.length)] = Math.floor(next() * 256)
  return copy
}

const reasons = ['empty', 'broken', 'encrypted', 'unsupported', 'too_large', 'bomb']

test.each(Object.keys(samples))('damaged anywhere, %s gives text or a reason', async (name) => {
  const next = numbers(name.length + name.charCodeAt(2))
  const files = Array.from({ length: 60 }, () => ({ name, bytes: damaged(samples[name]!, next) }))
  for (const outcome of await Promise.allSettled(files.map((file) => extract(file)))) {
    if (outcome.status === 'fulfilled') expect(outcome.value.mediaType).toBeTruthy()
    else expect(reasons).toContain(outcome.reason.data?.reason)
  }
})

test.each(Object.keys(samples))('undamaged, %s is read', async (name) => {
  expect((await extract({ name, bytes: samples[name]! })).sections).not.toEqual([])
})
