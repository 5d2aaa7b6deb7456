import fc from '../../fast-check.ts'
import { expect, test } from 'vitest'
import type { BodyShare } from '@inlay/server/internal/http/body'
import { readLines, type BodyLine } from '@inlay/server/internal/http/body-lines'

const left = new AbortController().signal

const openShare = (): BodyShare => ({ grow: () => {}, release: () => {} })

function streamOf(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> {
  let at = 0
  let turn = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const size = sizes[turn++ % sizes.length]!
      controller.enqueue(bytes.subarray(at, (at += size)))
    },
  })
}

async function all(lines: AsyncIterable<BodyLine>): Promise<BodyLine[]> {
  const collected: BodyLine[] = []
  for await (const line of lines) collected.push(line)
  return collected
}

async function linesOf(text: string, sizes: readonly number[] = [7], maxBytes = 1e6): Promise<BodyLine[]> {
  return all(readLines(streamOf(new TextEncoder().encode(text), sizes), { maxBytes, left, openShare }))
}

test('lines are the same however the bytes are cut', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/\n/g, ' '))
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (texts, sizes) => {
        const expected = texts.map((text, index) => [index + 1, text] as const).filter(([, text]) => text.trim() !== '')
        expect((await linesOf(texts.join('\n'), sizes)).map(({ number, text }) => [number, text])).toEqual(expected)
      },
    ),
  )
})

test('a long line is told by its size and holds up none after it', async () => {
  const lines = await linesOf(`a\n${'x'.repeat(50)}\nb`, [3], 20)
  expect(lines).toMatchObject([
    { number: 1, text: 'a', fault: undefined, bytes: 1 },
    { number: 2, text: undefined, fault: 'too_long', bytes: 50 },
    { number: 3, text: 'b', fault: undefined, bytes: 1 },
  ])
})

test('a line that is not UTF-8 is told', async () => {
  const bytes = new Uint8Array([0x61, 0x0a, 0xff, 0xfe, 0x0a, 0x62])
  const lines = await all(readLines(streamOf(bytes, [2]), { maxBytes: 100, left, openShare }))
  expect(lines.map(({ text, fault }) => text ?? fault)).toEqual(['a', 'not_utf8', 'b'])
})

test('leaving ends the reading in the middle of a line, and tells the sender', async () => {
  const left = new AbortController()
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('one\ntw')),
    cancel: () => void (cancelled = true),
  })
  const lines = readLines(body, { maxBytes: 100, left: left.signal, openShare })
  expect((await lines.next()).value).toMatchObject({ text: 'one' })
  const next = lines.next()
  left.abort()
  expect((await next).done).toBe(true)
  expect(cancelled).toBe(true)
})

test('a line holds its bytes until it is released, and one without room is told and skipped', async () => {
  let held = 0
  const shareOfFew = (): BodyShare => {
    let own = 0
    return {
      grow: (bytes) => {
        if (held - own + bytes > 60) throw new Error('no room')
        held += bytes - own
        own = bytes
      },
      release: () => {
        held -= own
        own = 0
      },
    }
  }
  const text = ['a'.repeat(50), 'b'.repeat(50), 'c', ''].join('\n')
  const options = { maxBytes: 100, left, openShare: shareOfFew }
  const lines = await all(readLines(streamOf(new TextEncoder().encode(text), [7]), options))
  expect(lines).toMatchObject([
    { number: 1, text: 'a'.repeat(50) },
    { number: 2, text: undefined, refusal: { message: 'no room' }, bytes: 50 },
    { number: 3, text: 'c' },
  ])
  expect(held).toBe(51)
  for (const line of lines) line.release()
  expect(held).toBe(0)
})
