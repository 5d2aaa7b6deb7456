import { describe, expect, test } from 'vitest'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { InlayError } from '@inlay/protocol'
import { pieceBytes } from '@inlay/conversations/internal/files/blobs'
import type { FileReader } from '@inlay/conversations'
import { newGate } from '../../gate.ts'
import {
  ana,
  arriving,
  ben,
  bytesOf,
  codeOf,
  eventually,
  incoming,
  newFiles,
  png,
  type FileSetting,
} from './setting.ts'

/** Uploads one file. */
async function uploadOne(files: FileSetting['files'], name: string, content: string | Uint8Array) {
  const { files: taken } = await files.upload(arriving(incoming(name, content)), { caller: ana })
  return taken[0]!
}

describe('an upload', () => {
  test('gives back exactly the bytes that came, also of files longer than a piece', async () => {
    const { files } = await newFiles({ waitMs: 0 })
    const bytes = new Uint8Array(2 * pieceBytes + 12_345).map((_, index) => (index * 7919) % 251 || 1)
    const { files: taken } = await files.upload(arriving(incoming('big.bin', bytes, { chunkBytes: 100_003 })), {
      caller: ana,
    })
    expect(taken[0]).toMatchObject({ name: 'big.bin', sizeBytes: bytes.byteLength })
    const opened = await files.open(taken[0]!.fileId, ana)
    expect(Buffer.compare(await bytesOf(opened.bytes), bytes)).toBe(0)
  })

  test('of text is read at once and tells what it costs', async () => {
    const { files } = await newFiles()
    const { files: taken, rejected } = await files.upload(
      arriving(incoming('notes.md', '# Leave\n\n25 days a year.')),
      {
        caller: ana,
        details: () => ({ projectId: null, tempIds: { 'notes.md': 'mine-1' } }),
      },
    )
    expect(rejected).toEqual([])
    expect(taken).toEqual([
      expect.objectContaining({
        status: 'COMPLETED',
        kind: 'plain_text',
        mediaType: 'text/markdown',
        tempId: 'mine-1',
      }),
    ])
    expect(taken[0]!.tokens).toBeGreaterThan(3)
    expect(await files.read(taken[0]!.id, ana)).toEqual([{ text: '# Leave\n\n25 days a year.' }])
  })

  test('takes the good files and says of each other one why not', async () => {
    const { files } = await newFiles({ maxBytes: 1_000, maxTokens: 100 })
    const { files: taken, rejected } = await files.upload(
      arriving(
        incoming('good.txt', 'Fine.'),
        incoming('long.txt', 'x'.repeat(1_001)),
        incoming('wordy.txt', 'word '.repeat(180)),
        incoming('empty.txt', ''),
        incoming('binary.dat', Uint8Array.from([1, 0, 2, 0])),
        incoming('page.png', '<html><script>alert(1)</script>', { mediaType: 'image/png' }),
        incoming('also-good.png', png),
      ),
      { caller: ana },
    )
    expect(taken.map(({ name }) => name)).toEqual(['good.txt', 'also-good.png'])
    expect(new Map(rejected.map(({ name, reason }) => [name, reason]))).toEqual(
      new Map([
        ['long.txt', expect.stringContaining('MB')],
        ['wordy.txt', expect.stringContaining('tokens')],
        ['empty.txt', expect.stringContaining('empty')],
        ['binary.dat', expect.stringContaining('type')],
        ['page.png', expect.stringContaining('picture')],
      ]),
    )
    expect((await files.list(ana)).map(({ name }) => name).toSorted()).toEqual(['also-good.png', 'good.txt'])
  })

  test('all files together take no more bytes than allowed, and removed ones count no longer', async () => {
    const { files, again } = await newFiles({ maxStoredBytes: 1_000 })
    const upload = (of: typeof files, length: number) =>
      of.upload(arriving(incoming(`${length}.txt`, 'x'.repeat(length))), { caller: ana })
    const [taken] = (await upload(files, 700)).files
    await expect(upload(again(), 400)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryable: false,
      message:
        '700 of 1,000 bytes of files are stored, and 400 more do not fit: delete some, or ask the operator to raise limits.maxStoredFileBytes.',
    })
    expect((await upload(files, 300)).files).toHaveLength(1)
    await files.remove(taken!.id, ana)
    expect((await upload(files, 400)).files).toHaveLength(1)
  })

  test('leaves nothing behind of files that were refused', async () => {
    const { files, storage, db } = await newFiles({ maxBytes: 1_000 })
    await files.upload(arriving(incoming('long.txt', 'x'.repeat(1_001)), incoming('empty.txt', '')), { caller: ana })
    await files.worker.whenIdle()
    expect(await storage.getKeys()).toEqual([])
    expect(await db.selectFrom('inlay_files').selectAll().execute()).toEqual([])
  })

  test('that breaks off keeps none of its files', async () => {
    const { files, storage } = await newFiles()
    async function* breaking(): AsyncGenerator<ReturnType<typeof incoming>> {
      yield incoming('first.txt', 'Whole.')
      throw new InlayError('BAD_REQUEST')
    }
    expect(await codeOf(files.upload(breaking(), { caller: ana }))).toBe('BAD_REQUEST')
    await files.worker.whenIdle()
    expect(await files.list(ana)).toEqual([])
    expect(await storage.getKeys()).toEqual([])
  })

  test('into an unknown project keeps none of its files', async () => {
    const { files, storage } = await newFiles({
      checkProject: async () => {
        throw new InlayError('NOT_FOUND')
      },
    })
    const details = () => ({ projectId: 7, tempIds: {} })
    expect(await codeOf(files.upload(arriving(incoming('a.txt', 'A')), { caller: ana, details }))).toBe('NOT_FOUND')
    await files.worker.whenIdle()
    expect(await storage.getKeys()).toEqual([])
  })

  test('whose process died is removed once its time is up', async () => {
    const { files, storage, clock, again, db } = await newFiles()
    const hung = Promise.withResolvers<void>()
    async function* halfSent(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(pieceBytes + 10).fill(65)
      await hung.promise
    }
    void files.upload(arriving({ name: 'half.txt', mediaType: '', bytes: halfSent() }), { caller: ana }).catch(() => {})
    await eventually(async () => (await storage.getKeys()).length === 1)
    const next = again()
    next.worker.notify()
    await next.worker.whenIdle()
    expect(await storage.getKeys()).toHaveLength(1)
    clock.time += 3_600_001
    next.worker.notify()
    await next.worker.whenIdle()
    expect(await storage.getKeys()).toEqual([])
    expect(await db.selectFrom('inlay_files').selectAll().execute()).toEqual([])
  })

  test.each([5, 60_000, 3_599_000])(
    'goes on while a process whose clock is %i ms behind looks for work',
    async (behindMs) => {
      const setting = await newFiles({ waitMs: 0 })
      const behind = setting.again({ now: () => setting.clock.time - behindMs })
      async function* whileOtherLooks(): AsyncGenerator<Uint8Array> {
        yield new TextEncoder().encode('The heron ')
        behind.worker.notify()
        await behind.worker.whenIdle()
        yield new TextEncoder().encode('stands.')
      }
      const file = { name: 'notes.txt', mediaType: '', bytes: whileOtherLooks() }
      const { files: taken } = await setting.files.upload(arriving(file), { caller: ana })
      expect(taken.map(({ name }) => name)).toEqual(['notes.txt'])
    },
  )

  test('without a storage is refused as something this assistant cannot do', async () => {
    const { files } = await newFiles({ storage: undefined })
    expect(await codeOf(files.upload(arriving(incoming('a.txt', 'A')), { caller: ana }))).toBe('UNSUPPORTED')
  })

  test('to a storage that keeps nothing fails rather than pretends', async () => {
    const nothing = { setItemRaw: async () => {}, getItemRaw: async () => null, removeItem: async () => {} }
    const { files } = await newFiles({ storage: nothing as never })
    expect(await codeOf(files.upload(arriving(incoming('a.txt', 'A')), { caller: ana }))).toBe('UNSUPPORTED')
  })
})

describe('a file', () => {
  test('is nobody else’s business', async () => {
    const { files } = await newFiles()
    const { id, fileId } = await uploadOne(files, 'secret.txt', 'Ana only.')
    for (const name of [id, fileId]) {
      expect(await codeOf(files.get(name, ben))).toBe('NOT_FOUND')
      expect(await codeOf(files.open(name, ben))).toBe('NOT_FOUND')
      expect(await codeOf(files.read(name, ben))).toBe('NOT_FOUND')
      expect(await codeOf(files.remove(name, ben))).toBe('NOT_FOUND')
    }
    expect(await files.find([id, fileId], ben)).toEqual([])
    expect(await files.list(ben)).toEqual([])
    expect((await files.get(fileId, ana)).id).toBe(id)
  })

  test('that is removed is gone at once, its bytes and text soon after', async () => {
    const { files, storage, db } = await newFiles()
    const taken = await uploadOne(files, 'a.txt', 'A')
    expect(await files.remove(taken.id, ana)).toEqual({ projects: [], personas: [], isInDocument: false })
    expect(await codeOf(files.get(taken.id, ana))).toBe('NOT_FOUND')
    await files.worker.whenIdle()
    expect(await storage.getKeys()).toEqual([])
    expect(await db.selectFrom('inlay_file_texts').selectAll().execute()).toEqual([])
  })

  test('that an agent holds stays, and the agent is named', async () => {
    const { files } = await newFiles({ personasWith: async () => ['HR agent'] })
    const taken = await uploadOne(files, 'a.txt', 'A')
    expect(await files.remove(taken.id, ana)).toEqual({ projects: [], personas: ['HR agent'], isInDocument: false })
    expect((await files.get(taken.id, ana)).name).toBe('a.txt')
  })

  test('whose bytes the storage lost says so instead of giving others', async () => {
    const { files, storage } = await newFiles()
    const taken = await uploadOne(files, 'a.txt', 'A')
    await storage.clear()
    const { bytes } = await files.open(taken.id, ana)
    expect(await codeOf(bytesOf(bytes))).toBe('GONE')
  })

  test('made by an action can be fetched and is not listed', async () => {
    const { files } = await newFiles()
    const kept = await files.keep(incoming('plot.png', png), ana)
    expect(kept).toMatchObject({ status: 'COMPLETED', kind: 'image', mediaType: 'image/png' })
    expect(Buffer.compare(await bytesOf((await files.open(kept.fileId, ana)).bytes), png)).toBe(0)
    expect(await files.list(ana)).toEqual([])
    const table = await files.keep(incoming('out.csv', 'a,b\n1,2'), ana)
    expect(await files.read(table.id, ana)).toEqual([{ text: 'a,b\n1,2' }])
  })

  test('is a picture only if its bytes say so, whatever it is called', async () => {
    const { files } = await newFiles()
    const { files: taken } = await files.upload(arriving(incoming('photo', png), incoming('x.html', png)), {
      caller: ana,
    })
    expect(taken.map(({ mediaType, kind }) => [mediaType, kind])).toEqual([
      ['image/png', 'image'],
      ['image/png', 'image'],
    ])
  })
})

describe('reading', () => {
  const slow = () => {
    const gate = newGate()
    const calls: string[] = []
    const reader: FileReader = async ({ name }) => {
      calls.push(name)
      await gate.pass()
      return { sections: [{ text: `Text of ${name}.` }] }
    }
    return { gate, calls, reader }
  }

  test('goes on after the upload has answered, and a chat that is faster waits for it', async () => {
    const { gate, calls, reader } = slow()
    const { files } = await newFiles({ reader, waitMs: 1 })
    const taken = await uploadOne(files, 'a.pdf', '%PDF')
    expect(taken).toMatchObject({ status: 'PROCESSING', kind: 'document', tokens: null })
    const read = Promise.all([files.read(taken.id, ana), files.read(taken.id, ana)])
    gate.open()
    expect(await read).toEqual([[{ text: 'Text of a.pdf.' }], [{ text: 'Text of a.pdf.' }]])
    await files.worker.whenIdle()
    expect(await files.get(taken.id, ana)).toMatchObject({ status: 'COMPLETED' })
    expect(calls).toEqual(['a.pdf'])
  })

  test('of a process that died is taken up by the next', async () => {
    const { reader } = slow()
    const { files, again } = await newFiles({ waitMs: 0 })
    const first = again({ reader })
    const taken = await uploadOne(first, 'a.txt', 'Kept.')
    await first.close()
    expect((await files.get(taken.id, ana)).status).toBe('PROCESSING')
    await eventually(async () => (await files.get(taken.id, ana)).status === 'COMPLETED')
    expect(await files.read(taken.id, ana)).toEqual([{ text: 'Kept.' }])
  })

  test('that fails for a passing reason is tried again, and at last the file says it failed', async () => {
    let calls = 0
    const reader: FileReader = async () => {
      calls++
      throw new Error('the reader is down')
    }
    const { files, clock, errors } = await newFiles({ reader, waitMs: 0 })
    const taken = await uploadOne(files, 'a.pdf', '%PDF')
    for (let round = 0; round < 10; round++) {
      await files.worker.whenIdle()
      clock.time += 3_600_001
      files.worker.notify()
    }
    await files.worker.whenIdle()
    expect(await files.get(taken.id, ana)).toMatchObject({
      status: 'FAILED',
      reason: expect.stringContaining('upload'),
    })
    expect(calls).toBe(6)
    expect(errors).toHaveLength(6)
  })

  test('that ends the process each time is given up, and the file says so', async () => {
    const { files, again, clock, db, errors } = await newFiles({
      waitMs: 0,
      reader: () => new Promise<never>(() => {}),
    })
    const { id } = await uploadOne(again(), 'a.pdf', '%PDF')
    for (let deaths = 1; deaths <= 6; deaths++) {
      await eventually(async () => {
        const row = await db.selectFrom('inlay_files').select('attempts').executeTakeFirst()
        return row?.attempts === deaths
      })
      expect((await files.get(id, ana)).status).toBe('PROCESSING')
      // Their leases expire before either of them has finished.
      clock.time += 20_001
      again().worker.notify()
    }
    await eventually(async () => (await files.get(id, ana)).status === 'FAILED')
    expect((await files.get(id, ana)).reason).toMatch(/ended each time/)
    expect(errors).toHaveLength(1)
    clock.time += 20_001
    await again().worker.whenIdle()
    expect((await files.get(id, ana)).status).toBe('FAILED')
  })

  test('of a file no reader understands ends with the reader’s reason', async () => {
    const reader: FileReader = async () => {
      throw new InlayError('INVALID_INPUT', { message: 'The file is protected by a password.' })
    }
    const { files } = await newFiles({ reader, waitMs: 0 })
    const taken = await uploadOne(files, 'a.pdf', '%PDF')
    await files.worker.whenIdle()
    const file = await files.get(taken.id, ana)
    expect(file).toMatchObject({ status: 'FAILED', reason: 'The file is protected by a password.' })
    expect(await codeOf(files.read(file.id, ana))).toBe('INVALID_INPUT')
    expect(await files.list(ana)).toEqual([])
  })

  test('of a spreadsheet above the limit skips it: it can be looked at, not asked about', async () => {
    const { files } = await newFiles({ maxTokens: 10 })
    const taken = await uploadOne(files, 't.csv', 'name,days\n' + 'Ana,25\n'.repeat(50))
    expect(taken).toMatchObject({ status: 'SKIPPED', kind: 'tabular', reason: expect.stringContaining('tokens') })
    expect((await files.sheets(taken.id, ana))[0]).toMatchObject({
      name: 't.csv',
      csv: expect.stringMatching(/^name,days\nAna,25\n/),
      truncated: false,
    })
  })
})

test('work that a dead process had begun is taken up when its lease is over', async () => {
  const { files, again, clock, db } = await newFiles({ waitMs: 0 })
  const dead = again({ reader: async () => new Promise<never>(() => {}) })
  const taken = await uploadOne(dead, 'a.txt', 'Kept.')
  await eventually(async () => {
    const row = await db.selectFrom('inlay_files').select('attempts').executeTakeFirst()
    return row?.attempts === 1
  })
  files.worker.notify()
  await files.worker.whenIdle()
  expect((await files.get(taken.id, ana)).status).toBe('PROCESSING')
  clock.time += 20_001
  files.worker.notify()
  await files.worker.whenIdle()
  expect((await files.get(taken.id, ana)).status).toBe('COMPLETED')
})

describe('the sheets of a spreadsheet', () => {
  test('are its tables as CSV, by name', async () => {
    const reader: FileReader = async () => ({
      sections: [
        { heading: 'Staff', text: '| Name | Note |\n| --- | --- |\n| Ana | says "hi", often |\n| a \\| b |' },
        { text: 'just a line' },
      ],
    })
    const { files } = await newFiles({ reader })
    const taken = await uploadOne(files, 'b.xlsx', 'PK')
    expect(await files.sheets(taken.id, ana)).toEqual([
      { name: 'Staff', csv: 'Name,Note\nAna,"says ""hi"", often"\na | b', truncated: false },
      { name: 'Sheet 2', csv: 'just a line', truncated: false },
    ])
  })

  test.each([
    ['Shift JIS', Buffer.from('96bc914f2c93fa90940a8db293a12c3235', 'hex')],
    ['UTF-16 without a mark', Buffer.from('名前,日数\n佐藤,25', 'utf16le')],
  ])('of a CSV file in %s are those of the reader, who finds the encoding', async (_, bytes) => {
    const extract = fileExtractor()
    const { files } = await newFiles({ reader: extract })
    const taken = await uploadOne(files, 't.csv', bytes)
    expect(await files.sheets(taken.id, ana)).toEqual([{ name: 't.csv', csv: '名前,日数\n佐藤,25', truncated: false }])
    await extract.close()
  })

  test('are cut at 500 000 characters, at the end of a row', async () => {
    const { files } = await newFiles({ maxTokens: 10_000_000 })
    const taken = await uploadOne(files, 't.csv', 'abcdefg,1\n'.repeat(60_000))
    const [sheet] = await files.sheets(taken.id, ana)
    expect(sheet!.truncated).toBe(true)
    expect(sheet!.csv.length).toBeLessThanOrEqual(500_000)
    expect(sheet!.csv.endsWith('abcdefg,1')).toBe(true)
  })

  test('are asked for of spreadsheets only', async () => {
    const { files } = await newFiles()
    const taken = await uploadOne(files, 'a.txt', 'A')
    expect(await codeOf(files.sheets(taken.id, ana))).toBe('INVALID_INPUT')
  })
})

describe('the listing', () => {
  test('shows what was used last first', async () => {
    const { files, clock } = await newFiles()
    const upload = async (name: string): Promise<string> => {
      clock.time += 1000
      return (await files.upload(arriving(incoming(name, 'text')), { caller: ana })).files[0]!.id
    }
    const [first] = [await upload('1.txt'), await upload('2.txt'), await upload('3.txt')]
    clock.time += 1000
    await files.noteUse([first!])
    expect((await files.list(ana)).map(({ name }) => name)).toEqual(['1.txt', '3.txt', '2.txt'])
    expect((await files.list(ana))[0]!.usedAt).toBe(clock.time)
  })
})

describe('a file that something holds', () => {
  test('is put into the index once it is read, and taken out when it is removed', async () => {
    const { files, index } = await newFiles()
    const taken = await uploadOne(files, 'a.txt', 'Findable.')
    expect(index.held.size).toBe(0)
    await files.wantIndexed([taken.id])
    await files.worker.whenIdle()
    expect(index.held.get(taken.id)).toMatchObject({ name: 'a.txt', sections: [{ text: 'Findable.' }] })
    await files.remove(taken.id, ana)
    await files.worker.whenIdle()
    expect(index.held.size).toBe(0)
  })

  test('is indexed when it comes with its project, whichever of reading and linking is first', async () => {
    const gate = newGate()
    const reader: FileReader = async () => {
      await gate.pass()
      return { sections: [{ text: 'Findable.' }] }
    }
    const { files, index } = await newFiles({ reader, waitMs: 1 })
    const details = () => ({ projectId: 3, tempIds: {} })
    const { files: taken } = await files.upload(arriving(incoming('a.txt', 'x')), { caller: ana, details })
    const others = await uploadOne(files, 'b.txt', 'x')
    await files.wantIndexed([others.id])
    gate.open()
    await eventually(() => index.held.size === 2)
    expect([...index.held.keys()].toSorted()).toEqual([taken[0]!.id, others.id].toSorted())
  })
})
