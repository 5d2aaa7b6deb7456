import { describe, expect, test } from 'vitest'
import { ingestionRequestSchema, isInlayError, parseJsonBody, readLargeRequest, textPieces } from '@inlay/protocol'

const encoder = new TextEncoder()

/** A body in chunks of so many bytes. */
function* chunksOf(body: string | Uint8Array, size: number): Generator<Uint8Array> {
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  for (let from = 0; from < bytes.byteLength; from += size) yield bytes.subarray(from, from + size)
}

const failureOf = (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    (value) => ({ value }),
    (error: unknown) => (isInlayError(error) ? { code: error.code, data: error.data } : error),
  )

const bodyOf = (document: object): string =>
  JSON.stringify({ document: { id: 'a', semantic_identifier: 't', metadata: {}, ...document } })

const bodies: Readonly<Record<string, string>> = {
  'many kinds of characters': bodyOf({
    sections: [{ text: 'aé漢😀\ufeff"\\\n\u2028', link: 'https://a' }, { text: '' }],
  }),
  'escapes of every kind': String.raw`{"document":{"semantic_identifier":"\u0074","sections":[{"text":"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00\\u0041\\"}],"metadata":{"text":"\u0041"}}}`,
  'halves of characters and NUL': String.raw`{"document":{"semantic_identifier":"t","sections":[{"text":"a\ud83db\ude00c\u0000d\ud83d"}],"metadata":{}}}`,
  'images, tables and a heading': bodyOf({
    sections: [
      { image_file_id: 'i' },
      { csv_file_id: 't', link: 'l' },
      { type: 'image', image_file_id: 'i', text: 'not kept' },
      { heading: 'h', text: 'x' },
    ],
  }),
  'keys that come twice':
    '{"document":{"sections":[{"text":"a"}],"semantic_identifier":"t","metadata":{},"sections":[{"text":"b","text":"c"}]}}',
  'text in other places': bodyOf({ sections: [], metadata: { text: 'a', sections: [{ text: 'b' }] }, text: 'c' }),
  'keys that are written with escapes': String.raw`{"document":{"semantic_identifier":"t","sections":[{"te\u0078t":"a"},{"te\nxt":"b","text":"c"}],"metadata":{}}}`,
  'white space and a byte order mark': `\ufeff{ "document" : {\r\n "semantic_identifier" : "t" , "sections" : [ { "text" : " a " } ] ,\t"metadata" : {} } }\n`,
  'a list in place of the document': '{"document":[{"sections":[{"text":"a"}]}]}',
  'an object in place of the sections': bodyOf({ sections: { text: 'a', a: { text: 'b' } } }),
  'wrong sections among right ones': bodyOf({
    sections: [{ text: 'a' }, { text: 1 }, 'x', { text: 'b', link: 5 }, { type: 'other', text: 'c' }],
    metadata: 5,
  }),
  'nothing but white space': '  \n',
  'no object': '"text"',
  'no JSON': '{"document":{"sections":[{"text":"a}',
  'a line end inside a text': '{"document":{"sections":[{"text":"a\nb"}]}}',
  'a broken escape': String.raw`{"document":{"sections":[{"text":"\u00"}]}}`,
  'an unknown escape': String.raw`{"document":{"sections":[{"text":"\x41"}]}}`,
  'something behind the end': `${bodyOf({ sections: [{ text: 'a' }] })} x`,
  'a text that is closed too early': '{"document":{"sections":[{"text":"a"b"}]}}',
  'more closed than was opened': `${bodyOf({ sections: [{ text: 'a' }] })}}]}{"document":{"sections":[{"text":"b"}]}}`,
  'deep nesting': bodyOf({ sections: [], metadata: {} }).replace('{}', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`),
}

describe.each(Object.entries(bodies))('a large request with %s', (_, body) => {
  test.each([1, 2, 3, 5, 7, 64, 1_000_000])('is read as a small one is, in chunks of %d bytes', async (size) => {
    const small = await failureOf(parseJsonBody(body, ingestionRequestSchema))
    expect(await failureOf(readLargeRequest(chunksOf(body, size)))).toEqual(small)
  })
})

test.each([
  ['in a text', [0xff]],
  ['cut off at the end of a text', [0xe6, 0xbc]],
])('bytes that are not UTF-8 %s are refused', async (_, wrong) => {
  const [before, after] = bodyOf({ sections: [{ text: '?' }] }).split('?')
  const bytes = Uint8Array.from([...encoder.encode(before), ...wrong, ...encoder.encode(after)])
  for (const size of [1, 1000])
    await expect(readLargeRequest(chunksOf(bytes, size))).rejects.toMatchObject({
      data: { issues: [{ loc: ['body'], msg: 'is not valid UTF-8' }] },
    })
})

test('more values than a process should hold are refused, once the whole body has come', async () => {
  let read = 0
  function* flood(): Generator<Uint8Array> {
    for (; read < 100; read++) yield encoder.encode('['.repeat(10_000))
  }
  await expect(readLargeRequest(flood())).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  expect(read).toBe(100)
})

test.each(['"x":"?"', '"title":"?"', '"metadata":{"a":"?"}', '"sections":[{"text":"a","heading":"?"}]', '?'])(
  'more beside the texts of sections than is read in one go is refused: %s',
  async (field) => {
    const [before, after] = `{"document":{"semantic_identifier":"t","metadata":{},"sections":[],${field}}}`.split('?')
    const piece = encoder.encode(' '.repeat(2 ** 20))
    const body = (pieces: number): Uint8Array[] => [
      encoder.encode(before),
      ...Array.from({ length: pieces }, () => piece),
      encoder.encode(after),
    ]
    expect(await failureOf(readLargeRequest(body(8)))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    expect(await failureOf(readLargeRequest(body(7)))).not.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  },
)

test('a text whose key is written with escapes comes in pieces, too', async () => {
  const text = 'a heron '.repeat(50_000)
  const body = bodyOf({ sections: [{ text }] }).replace('"text"', String.raw`"\u0074\u0065xt"`)
  const request = await readLargeRequest(chunksOf(body, 65_536))
  const [section] = request.document.sections
  expect(textPieces.get(section!)!.length).toBeGreaterThan(1)
})

test('a long text comes in pieces that cut no character, and is whole for whoever asks for all of it', async () => {
  const text = `${'漢😀"\\\n'.repeat(40_000)}end`
  const { document } = await readLargeRequest(chunksOf(bodyOf({ sections: [{ text }, { text: 'short' }] }), 1001))
  const [long, short] = document.sections
  const pieces = textPieces.get(long!)!
  expect(pieces.every((piece) => piece.isWellFormed() && piece.length <= 65_536)).toBe(true)
  expect(pieces.length).toBeLessThan(10)
  expect(pieces.join('') === text).toBe(true)
  expect(
    JSON.stringify(long) === JSON.stringify({ type: 'text', text, link: null, image_file_id: null, heading: null }),
  ).toBe(true)
  expect(textPieces.get(short!)).toBeUndefined()
  expect(short).toMatchObject({ text: 'short' })
})

test('others have their turns while it is read', async () => {
  const sections = Array.from({ length: 8000 }, () => ({ text: '\\'.repeat(500) }))
  const bytes = encoder.encode(bodyOf({ sections }))
  let [turns, isRead] = [0, false]
  const count = (): void => {
    turns++
    if (!isRead) setImmediate(count)
  }
  setImmediate(count)
  await readLargeRequest([bytes])
  isRead = true
  expect(turns).toBeGreaterThan(20)
})
