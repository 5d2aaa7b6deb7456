import { isInlayError } from '@inlay/protocol'
import { createBodyShare, readText } from '@inlay/server/internal/http/body'
import { readForm } from '@inlay/server/internal/http/multipart'
import type { ServerSettings } from '@inlay/server/internal/http/settings'
import { expect, test } from 'vitest'

const url = 'http://host.example/'
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => (isInlayError(error) ? error.code : String(error)),
  )

/** A request as a host makes it, which may declare any length. */
const declaring = (length: number, body: string): Request =>
  new Request(url, { method: 'POST', headers: { 'content-length': String(length) }, body })

test('a body that is longer than its host declares is refused all the same', async () => {
  expect(await codeOf(readText(declaring(5, 'x'.repeat(11)), { maxBytes: 10 }))).toBe('PAYLOAD_TOO_LARGE')
  expect(await readText(declaring(5, 'x'.repeat(10)), { maxBytes: 10 })).toBe('x'.repeat(10))
})

test('a body that holds the replacement character itself is valid UTF-8', async () => {
  expect(await readText(declaring(7, 'a \uFFFD b'), { maxBytes: 10 })).toBe('a \uFFFD b')
})

test('a body that is read in pieces is counted to its end', async () => {
  const piece = new Uint8Array(10)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (let at = 0; at < 3; at++) controller.enqueue(piece)
      controller.close()
    },
  })
  const counts: number[] = []
  const request = new Request(url, { method: 'POST', body, duplex: 'half' } as RequestInit)
  const onBytes = (bytes: number): void => void counts.push(bytes)
  const rest = await readText(request, { maxBytes: 100, wholeBytes: 5, onBytes })
  for await (const _ of rest as AsyncIterable<Uint8Array>);
  expect(counts.at(-1)).toBe(30)
})

/** A share of a budget that counts what is held. */
function newShare() {
  const held = { bytes: 0, timers: 0 }
  const bodyBudget = {
    open: () => ({ grow: (bytes: number) => void (held.bytes = bytes), release: () => void (held.bytes = 0) }),
  }
  const timer = () => {
    held.timers++
    return () => void held.timers--
  }
  return { held, share: createBodyShare({ bodyBudget, timer } as unknown as ServerSettings, 'ann') }
}

test('a share that was released holds nothing any more, whatever is still read', () => {
  const { held, share } = newShare()
  share.release()
  share.grow(100_000)
  expect(held.bytes).toBe(0)
})

test('a share that is released at last leaves no timer behind', () => {
  const { held, share } = newShare()
  share.grow(100_000)
  share.release(5_000)
  expect(held).toEqual({ bytes: 100_000, timers: 1 })
  share.release()
  expect(held).toEqual({ bytes: 0, timers: 0 })
})

/** A request whose body breaks off after its first bytes. */
function breakingOff(error: unknown, signal?: AbortSignal): Request {
  let isBegun = false
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (isBegun) return controller.error(error)
      isBegun = true
      controller.enqueue(new TextEncoder().encode('--XX\r\n'))
    },
  })
  const headers = { 'content-type': 'multipart/form-data; boundary=XX' }
  return new Request(url, { method: 'POST', headers, body, duplex: 'half', signal: signal ?? null } as RequestInit)
}

test('a client that disconnects is told from a host that has read the body, whatever the runtime throws', async () => {
  expect(await codeOf(readText(breakingOff(new TypeError('terminated'), AbortSignal.abort()), { maxBytes: 100 }))).toBe(
    'BAD_REQUEST',
  )
  const form = readForm(breakingOff(new TypeError('terminated')), { totalBytes: 100, fieldBytes: 100, parts: 1 })
  expect(await codeOf(form.next())).toBe('BAD_REQUEST')
})
