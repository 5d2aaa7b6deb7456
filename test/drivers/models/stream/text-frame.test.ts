import fc from '../../../fast-check.ts'
import { expect, test } from 'vitest'
import { createTextFrame } from '@inlay/drivers/internal/models/stream/text-frame'

/** Reads as the tap does: text counts alone, at its own place. */
function textOf(data: string): string | undefined {
  try {
    const { choices, tool } = JSON.parse(data)
    return tool === undefined ? choices?.[0]?.delta?.content : undefined
  } catch {
    return undefined
  }
}

function counted() {
  const calls = { count: 0 }
  const frame = createTextFrame((data) => {
    calls.count++
    return textOf(data)
  })
  return { frame, calls }
}
const chunk = (content: unknown, more: object = {}): string =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }], ...more })

test('a chunk that differs in its text alone is read without being parsed', () => {
  const { frame, calls } = counted()
  frame.learn(chunk('Good'))
  expect(calls.count).toBe(1)
  for (const text of [' morning', 'ä 漢 😀', ' ', 'x'.repeat(9000)]) expect(frame.read(chunk(text))).toBe(text)
  expect(calls.count).toBe(1)
})

test('whatever else differs, or has to be unescaped, is left to be parsed', () => {
  const { frame } = counted()
  expect(frame.read(chunk('a'))).toBeUndefined()
  frame.learn(chunk('a'))
  const others = [
    chunk('line\nbreak'),
    chunk('say "x"'),
    chunk('back\\slash'),
    chunk(''),
    chunk('a', { id: 'd' }),
    chunk('a', { tool: 1 }),
    chunk('a').replace('}]}', '}],"usage":{}}'),
    chunk('a').replace('"a"', '"a","refusal":"no"'),
    chunk('a').slice(0, -1),
    '[DONE]',
    '',
  ]
  for (const data of others) expect([data, frame.read(data)]).toEqual([data, undefined])
})

test('text under another key of that name is not taken for the answer', () => {
  const { frame } = counted()
  const decoy = (text: string, seen: string): string =>
    JSON.stringify({ note: { content: seen }, choices: [{ delta: { content: text } }] })
  frame.learn(decoy('a', 'n'))
  expect(frame.read(decoy('b', 'n'))).toBeUndefined()
  expect(frame.read(decoy('a', 'm'))).toBeUndefined()
})

test('chunks that always differ are not learnt for ever', () => {
  const { frame, calls } = counted()
  for (let at = 0; at < 50; at++) frame.learn(chunk('a', { padding: at }))
  expect(calls.count).toBe(4)
})

test('what is read is what parsing gives, for any chunks in any order', () => {
  const content = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('"', '\\', '","x":"', '\u2028', 'a'),
  )
  const more = fc.constantFrom({}, { created: 1 }, { created: 2 }, { tool: 1 }, { note: { content: 'n' } })
  const spaced = fc.boolean()
  fc.assert(
    fc.property(fc.array(fc.tuple(content, more, spaced), { maxLength: 30 }), (chunks) => {
      const { frame } = counted()
      for (const [text, extra, hasSpaces] of chunks) {
        const data = hasSpaces ? chunk(text, extra).replaceAll('":', '": ') : chunk(text, extra)
        const read = frame.read(data)
        if (read === undefined) {
          if (textOf(data)) frame.learn(data)
        } else expect(read).toBe(textOf(data))
      }
    }),
    { numRuns: 1_000 },
  )
})
