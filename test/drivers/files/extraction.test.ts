import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { docx, paragraph, pdf, pdfText, utf8 } from './samples.ts'

const file = (text: string, name = 'a.txt'): { name: string; bytes: Uint8Array } => ({ name, bytes: utf8(text) })

/** Takes minutes: each closing tag is looked for among all that are open. */
const endless = (): { name: string; bytes: Uint8Array } =>
  file(`<!doctype html>${'<b>'.repeat(19_000)}${'</i>'.repeat(8_000_000)}`, 'a.html')

afterEach(() => void vi.useRealTimers())

async function using<T>(
  options: Parameters<typeof fileExtractor>[0],
  body: (extract: ReturnType<typeof fileExtractor>) => Promise<T>,
): Promise<T> {
  const extract = fileExtractor(options)
  try {
    return await body(extract)
  } finally {
    await extract.close()
  }
}

test('a process that closes the reader while it reads goes on to its end', async () => {
  const script = `
    import { fileExtractor } from '@inlay/drivers/file-extraction'
    const extract = fileExtractor()
    const reading = extract({ name: 'a.txt', bytes: Buffer.from('text') }).catch(() => {})
    // Its thread has begun by then.
    await new Promise((resolve) => setImmediate(resolve))
    await extract.close()
    await reading
    console.log('went on')`
  const args = ['--conditions=@inlay/source', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })
  expect(stdout).toBe('went on\n')
})

describe('reading files', () => {
  test('leaves the bytes of the caller as they are, also when they are part of a larger buffer', () =>
    using({}, async (extract) => {
      const buffer = Buffer.from('before|middle|after')
      const bytes = buffer.subarray(7, 13)
      const { sections } = await extract({ name: 'a.txt', bytes })
      expect(sections).toEqual([{ text: 'middle' }])
      expect(buffer.toString()).toBe('before|middle|after')
    }))

  test('a hundred files at once are all read, each answer to its question', () =>
    using({ threads: 2 }, async (extract) => {
      const makers = [
        (text: string) => ({ name: 'a.pdf', bytes: pdf([pdfText([[72, 700, 11, text]])]) }),
        (text: string) => ({ name: 'a.docx', bytes: docx(paragraph(text)) }),
        (text: string) => file(`<!doctype html><p>${text}`, 'a.html'),
        (text: string) => file(text),
      ]
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, number) => extract(makers[number % 4]!(`File ${number}`))),
      )
      expect(answers.map(({ sections }) => sections[0]?.text)).toEqual(
        Array.from({ length: 100 }, (_, number) => `File ${number}`),
      )
    }))

  test('fifty megabytes of text are within the limits', () =>
    using({}, async (extract) => {
      const { sections } = await extract(file('All work and no play makes a long file.\n'.repeat(1_250_000)))
      expect(sections[0]?.text.length).toBe(1_250_000 * 40 - 1)
    }))

  test('a refused file does not disturb those beside it', () =>
    using({}, async (extract) => {
      const outcomes = await Promise.allSettled([extract(file('one')), extract(file('')), extract(file('two'))])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    }))
})

describe('limits', () => {
  test('a file that takes too long is given up and the next one is read', () =>
    using({ timeoutMs: 3000 }, async (extract) => {
      const files = [extract(endless())]
      await new Promise((resolve) => setImmediate(resolve))
      // The time limit of the next one does not run while its thread starts.
      vi.useFakeTimers({ toFake: ['setTimeout'] })
      files.push(extract(file('next')))
      const [slow, next] = await Promise.allSettled(files)
      expect(slow).toMatchObject({ reason: { code: 'PAYLOAD_TOO_LARGE', data: { reason: 'too_slow' } } })
      expect(next).toMatchObject({ value: { sections: [{ text: 'next' }] } })
    }))

  test('the time that a busy machine makes a file wait is not counted', async () => {
    // This thread waits longer than the limit before it reads, and computes nothing meanwhile.
    const held = `
      const { parentPort } = require('node:worker_threads')
      parentPort.postMessage({ isReady: true })
      parentPort.on('message', ({ file }) => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
        parentPort.postMessage({ file: { title: null, sections: [{ text: file.name }] }, hasUnreadPictures: false })
      })`
    const workerUrl = new URL(
      `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module'; const require = createRequire('file:///');${held}`)}`,
    )
    await using({ timeoutMs: 300, workerUrl }, async (extract) => {
      expect((await extract(file('text', 'held.txt'))).sections).toEqual([{ text: 'held.txt' }])
    })
  })

  test('a file that takes too much memory is given up and the next one is read', () =>
    using({ maxMemoryBytes: 64 * 1_048_576 }, async (extract) => {
      const page = file(`<!doctype html>${'<p>x'.repeat(4_000_000)}`, 'a.html')
      const [large, next] = await Promise.allSettled([extract(page), extract(file('next'))])
      expect(large).toMatchObject({ reason: { code: 'PAYLOAD_TOO_LARGE', data: { reason: 'out_of_memory' } } })
      expect(next).toMatchObject({ value: { sections: [{ text: 'next' }] } })
    }))

  test('a file that is too large is refused at once', () =>
    using({ maxFileBytes: 10 }, async (extract) => {
      await expect(extract(file('eleven bytes'))).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        data: { reason: 'too_large' },
      })
    }))

  test('a file with too much text is refused', () =>
    using({ textLimitCharacters: 10 }, async (extract) => {
      await expect(extract(file('eleven characters'))).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        data: { reason: 'too_large' },
      })
    }))

  test('more files than may wait are refused, and say that trying again helps', () =>
    using({ maxQueued: 1 }, async (extract) => {
      const [, , third] = await Promise.allSettled([
        extract(file('runs')),
        extract(file('waits')),
        extract(file('is too much')),
      ])
      expect(third).toMatchObject({ reason: { code: 'RATE_LIMITED', retryable: true, data: { retryAfterSeconds: 5 } } })
    }))
})

describe('ending', () => {
  test('an aborted file rejects with the reason of its signal, whether it runs or waits', () =>
    using({}, async (extract) => {
      const stop = new AbortController()
      const running = extract(endless(), { signal: stop.signal })
      const queued = extract(file('waits'), { signal: stop.signal })
      const other = extract(file('other'))
      stop.abort(new Error('changed my mind'))
      await expect(running).rejects.toThrow('changed my mind')
      await expect(queued).rejects.toThrow('changed my mind')
      expect((await other).sections).toEqual([{ text: 'other' }])
      await expect(extract(file('late'), { signal: stop.signal })).rejects.toThrow('changed my mind')
    }))

  test('closing rejects what runs and waits, and is done once', async () => {
    const extract = fileExtractor()
    const outcomes = Promise.allSettled([extract(endless()), extract(file('waits'))])
    await extract.close()
    await extract.close()
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'CLOSED' } })
    await expect(extract(file('late'))).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('a thread with nothing to do ends, and the next file gets a new one', () =>
    using({ idleTimeoutMs: 0 }, async (extract) => {
      await extract(file('one'))
      await new Promise((done) => setImmediate(() => setImmediate(done)))
      expect((await extract(file('two'))).sections).toEqual([{ text: 'two' }])
    }))

  test('a worker that cannot be loaded is a fault of the host, not of the file', () =>
    using({ workerUrl: new URL('./no-such-worker.js', import.meta.url) }, async (extract) => {
      await expect(extract(file('one'))).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
    }))
})
