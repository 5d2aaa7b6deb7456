import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { gunzipSync, gzipSync } from 'node:zlib'
import { tesseractReader, type RecognizedPage, type TesseractLib } from '@inlay/drivers/ocr'
import { toPng } from '@inlay/drivers/internal/ocr/png'
import { afterEach, describe, expect, test } from 'vitest'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
function makeFolder(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-ocr-'))
  folders.push(folder)
  for (const file of files) writeFileSync(join(folder, file), 'data')
  return folder
}

const going = (): AbortSignal => new AbortController().signal
/** A PNG as far as anybody looks here. */
const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(60)])

/** A stand-in for the package that notes what it is requested. */
function standIn(recognize: (image: Uint8Array) => RecognizedPage | Promise<RecognizedPage>) {
  const started: { languages: string[]; options: Record<string, unknown> }[] = []
  let ended = 0
  const lib: TesseractLib = {
    createWorker: async (languages, _mode, options) => {
      started.push({ languages, options })
      return {
        setParameters: async () => {},
        recognize: async (given) => ({ data: await recognize(given) }),
        terminate: async () => void ended++,
      }
    },
  }
  return { lib, started, ended: () => ended }
}

/** Orientation of Exif that an image tells, 1 if none. */
function orientationOf(bytes: Uint8Array): number {
  const at = Buffer.from(bytes).indexOf(Buffer.from('0112000300000001', 'hex'))
  return at < 0 ? 1 : Buffer.from(bytes).readUInt16BE(at + 8)
}

describe('reading', () => {
  test('words parted at line ends become whole, and a line with a number sign no heading', async () => {
    const { lib } = standIn(() => ({
      text: 'Equipment of the com-\npany, high-\nTech.\n\n\n\n# 12 boxes\n',
      confidence: 90,
    }))
    const reader = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib })
    expect(await reader.read(image, 'image/png', going())).toBe(
      'Equipment of the company, high-\nTech.\n\n\\# 12 boxes',
    )
  })

  test('a page that lies on its side is turned until it is read well', async () => {
    const requested: number[] = []
    const { lib } = standIn((given) => {
      requested.push(orientationOf(given))
      return requested.at(-1) === 8 ? { text: 'Upright.', confidence: 93 } : { text: 'pa3 ¢ yy', confidence: 44 }
    })
    const reader = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib })
    expect(await reader.read(image, 'image/png', going())).toBe('Upright.')
    expect(requested).toEqual([1, 6, 8])
    requested.length = 0
    const nothing = standIn((given) =>
      orientationOf(given) === 3 ? { text: 'Upright.', confidence: 93 } : { text: '', confidence: 0 },
    )
    const other = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib: nothing.lib })
    expect(await other.read(image, 'image/png', going())).toBe('Upright.')
    const jpeg = Buffer.from('ffd8ffe000040000', 'hex')
    expect(await reader.read(jpeg, 'image/jpeg', going())).toBe('Upright.')
  })

  const block = (x0: number, y0: number, ...texts: string[]) => {
    const lines = texts.map((text, at) => {
      const y = y0 + at * 50
      return { text: `${text}\n`, bbox: { x0, y0: y, x1: x0 + text.length * 15, y1: y + 30 } }
    })
    const x1 = Math.max(...lines.map(({ bbox }) => bbox.x1))
    return { bbox: { x0, y0, x1, y1: lines.at(-1)!.bbox.y1 }, paragraphs: [{ lines }] }
  }
  const readBlocks = async (...blocks: ReturnType<typeof block>[]): Promise<string> => {
    const { lib } = standIn(() => ({ text: 'x', confidence: 90, blocks }))
    return tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib }).read(image, 'image/png', going())
  }

  test('the columns of a table are put together in rows, also with long names in the first', async () => {
    const text = await readBlocks(
      block(100, 100, 'Invoice 4711'),
      block(100, 200, 'Item', 'Ink cartridge for the large printer', 'A stapler with a box of staples'),
      block(100, 400, 'Total due within thirty days: 332.05 euros.'),
      block(1000, 202, 'Quantity', '12', '3'),
      block(1400, 201, 'Price', '14.90', '8.75'),
    )
    expect(text).toBe(
      'Invoice 4711\n\nItem | Quantity | Price\nInk cartridge for the large printer | 12 | 14.90\nA stapler with a box of staples | 3 | 8.75\n\nTotal due within thirty days: 332.05 euros.',
    )
  })

  test('columns of running text stay one after the other, also beside a note in the margin', async () => {
    const lines = [
      'The council decided in March that',
      'the bridge is repaired before winter',
      'and opens again in the next spring.',
    ]
    const other = [
      'The library opens a branch in the',
      'old station, with rooms for children',
      'and a cafe on the platform outside.',
    ]
    expect(await readBlocks(block(100, 200, ...lines), block(800, 210, ...other), block(1600, 200, 'See p. 4'))).toBe(
      `${lines.join('\n')}\n\n${other.join('\n')}\n\nSee p. 4`,
    )
  })

  test('letters found in a photograph are no text, nor is nothing', async () => {
    const photo = standIn(() => ({ text: 'o) ~ ¢', confidence: 12 }))
    const folder = makeFolder('eng.traineddata.gz')
    expect(await tesseractReader({ folder, lib: photo.lib }).read(image, 'image/png', going())).toBe('')
    const blank = standIn(() => ({ text: '\n', confidence: 95 }))
    expect(await tesseractReader({ folder, lib: blank.lib }).read(image, 'image/png', going())).toBe('')
  })

  test('a damaged image is INVALID_INPUT', async () => {
    const { lib } = standIn(() => Promise.reject(new Error('Error attempting to read image.')))
    const reader = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib })
    await expect(reader.read(image, 'image/png', going())).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('an abort ends the thread, and the next page starts another', async () => {
    const abort = new AbortController()
    let pages = 0
    const { lib, started, ended } = standIn(() => {
      if (++pages > 1) return { text: 'Next.', confidence: 90 }
      queueMicrotask(() => abort.abort(new Error('enough')))
      return new Promise(() => {})
    })
    const reader = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib })
    await expect(reader.read(image, 'image/png', abort.signal)).rejects.toThrow('enough')
    await expect.poll(ended).toBe(1)
    expect(await reader.read(image, 'image/png', going())).toBe('Next.')
    expect(started).toHaveLength(2)
    await reader.close()
    expect(ended()).toBe(2)
  })

  test('a thread that has nothing to do ends', async () => {
    const { lib, ended } = standIn(() => ({ text: 'x', confidence: 90 }))
    const reader = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib, idleTimeoutMs: 10 })
    await reader.read(image, 'image/png', going())
    await expect.poll(ended).toBe(1)
  })
})

const english = 'node_modules/@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz'
const isInstalled = existsSync('node_modules/tesseract.js') && existsSync(english)

describe.skipIf(!isInstalled)('the real Tesseract', () => {
  const whole = isInstalled ? gunzipSync(readFileSync(english)) : Buffer.alloc(0)
  const gray = (): Uint8Array => toPng({ width: 40, height: 40, gray: new Uint8Array(1600).fill(255) })
  function reader(data: Uint8Array, file = 'eng.traineddata') {
    const folder = makeFolder()
    writeFileSync(join(folder, file), data)
    return { folder, ...tesseractReader({ folder, isOffline: true }) }
  }

  test.each([
    ['cut off', whole.subarray(0, 4000), 'eng.traineddata'],
    ['cut off while packed', gzipSync(whole).subarray(0, 4000), 'eng.traineddata.gz'],
    ['empty', Buffer.alloc(0), 'eng.traineddata'],
  ])('language data that is %s is said, leaves no thread, and may be replaced', async (_name, data, file) => {
    const threads: Worker[] = []
    const onThread = (thread: Worker): void => void threads.push(thread)
    process.on('worker', onThread)
    try {
      const { prepare, read, close, folder } = reader(data, file)
      await expect(prepare!(going())).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: expect.stringMatching(/languages eng: delete their data/),
      })
      await expect.poll(() => threads.map(({ threadId }) => threadId)).toEqual([-1])
      writeFileSync(join(folder, 'eng.traineddata'), whole)
      expect(await read(gray(), 'image/png', going())).toBe('')
      await close()
      await expect.poll(() => threads.map(({ threadId }) => threadId)).toEqual([-1, -1])
    } finally {
      process.off('worker', onThread)
    }
  })

  test('a damaged image, and a thread that dies, cost their page alone', async () => {
    const threads: Worker[] = []
    const onThread = (thread: Worker): void => void threads.push(thread)
    process.on('worker', onThread)
    try {
      const { prepare, read, close } = reader(whole)
      const damaged = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(60)])
      await expect(read(damaged, 'image/png', going())).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      await prepare!(going())
      expect(threads).toHaveLength(2)
      const page = read(gray(), 'image/png', going())
      threads[1]!.emit('error', new Error('out of memory'))
      await expect(page).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      expect(await read(gray(), 'image/png', going())).toBe('')
      expect(threads).toHaveLength(3)
      await close()
    } finally {
      process.off('worker', onThread)
    }
  })
})

describe('starting', () => {
  test('a thread that never starts is given up, and does not hold up closing or an abort', async () => {
    const lib: TesseractLib = { createWorker: () => new Promise(() => {}) }
    const folder = makeFolder('eng.traineddata')
    const slow = tesseractReader({ folder, lib, startTimeoutMs: 20 })
    await expect(slow.prepare!(going())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    const reader = tesseractReader({ folder, lib })
    await expect(reader.prepare!(AbortSignal.timeout(20))).rejects.toMatchObject({ name: 'TimeoutError' })
    const starting = reader.prepare!(going())
    await reader.close()
    await expect(starting).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('a download that hangs ends with the reader', async () => {
    const { lib } = standIn(() => ({ text: 'x', confidence: 90 }))
    const { promise: isFetching, resolve: fetchCalled } = Promise.withResolvers<void>()
    const fetch: typeof globalThis.fetch = (_address, init) => {
      fetchCalled()
      return new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)))
    }
    const reader = tesseractReader({ folder: makeFolder(), lib, fetch })
    const starting = reader.prepare!(going())
    void isFetching.then(() => reader.close())
    await expect(starting).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('a thread that was prepared for nothing ends', async () => {
    const { lib, ended } = standIn(() => ({ text: 'x', confidence: 90 }))
    const reader = tesseractReader({ folder: makeFolder('eng.traineddata.gz'), lib, idleTimeoutMs: 10 })
    await reader.prepare!(going())
    await expect.poll(ended).toBe(1)
  })
})

describe('languages', () => {
  test('codes of two letters are known, and files that are there are used', async () => {
    const { lib, started } = standIn(() => ({ text: 'x', confidence: 90 }))
    const folder = makeFolder('deu.traineddata.gz', 'eng.traineddata.gz', 'lat.traineddata')
    await tesseractReader({ languages: 'de+en', folder, lib, isOffline: true }).prepare?.(going())
    await tesseractReader({ languages: ['lat'], folder, lib, isOffline: true }).prepare?.(going())
    expect(started).toMatchObject([
      { languages: ['deu', 'eng'], options: { langPath: folder, gzip: true, cacheMethod: 'none' } },
      { languages: ['lat'], options: { gzip: false } },
    ])
  })

  test.each(['', '../eng', 'eng deu', 'eng+'])('%j is no language', (languages) => {
    expect(() => tesseractReader({ languages, folder: 'x' })).toThrow(/must be codes such as eng/)
  })

  const deu = 'node_modules/@tesseract.js-data/deu/4.0.0_best_int/deu.traineddata.gz'

  test.skipIf(!existsSync(deu))('what is missing is downloaded once, and compared with its checksum', async () => {
    const { lib } = standIn(() => ({ text: 'x', confidence: 90 }))
    const folder = makeFolder()
    const requested: string[] = []
    const data = readFileSync(deu)
    const fetch = async (address: string | URL | Request): Promise<Response> => {
      requested.push(String(address))
      return new Response(data)
    }
    const options = { languages: 'deu', folder, lib, endpoint: 'https://mirror.example/npm/', fetch }
    await tesseractReader(options).prepare?.(going())
    await tesseractReader(options).prepare?.(going())
    expect(requested).toEqual([
      'https://mirror.example/npm/@tesseract.js-data/deu@1.0.0/4.0.0_best_int/deu.traineddata.gz',
    ])
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder, 'deu.traineddata.gz')))
        .digest('hex'),
    ).toMatch(/^306c42/)
  })

  test('a damaged download is not kept; a failed one, and a missing file offline, say what to do', async () => {
    const { lib } = standIn(() => ({ text: 'x', confidence: 90 }))
    const folder = makeFolder()
    const reader = (fetch: typeof globalThis.fetch, more: { isOffline?: boolean; languages?: string } = {}) =>
      tesseractReader({ folder, lib, fetch, ...more }).prepare!(going())
    const refused = (message: RegExp) => ({ code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(message) })
    await expect(reader(async () => new Response('cut off'))).rejects.toMatchObject(
      refused(/differs from its checksum/),
    )
    await expect(reader(async () => new Response('', { status: 503 }))).rejects.toMatchObject(refused(/: 503/))
    await expect(reader(() => Promise.reject(new Error('no network')))).rejects.toMatchObject(
      refused(/put eng\.traineddata\.gz into the folder/),
    )
    const never = () => Promise.reject(new Error('must not be requested'))
    await expect(reader(never, { isOffline: true })).rejects.toMatchObject(refused(/put eng\.traineddata\.gz/))
    await expect(reader(never, { languages: 'lat' })).rejects.toMatchObject(refused(/put lat\.traineddata\.gz/))
    expect(readdirSync(folder)).toEqual([])
  })
})
