import { existsSync } from 'node:fs'
import { fileExtractor, type FileExtractionOptions } from '@inlay/drivers/file-extraction'
import type { ImageReader } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import { afterEach, describe, expect, test } from 'vitest'
import { latin1, pdf, pdfStream, pdfText, utf8 } from './samples.ts'
import { blackCorners, damagedJpeg, markedFax, markedImage, scannedPdf } from './scans.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** An extractor with a stand-in that notes its images, and answers with what is given in turn. */
function withReader(
  answer: (page: number, signal: AbortSignal) => string | Promise<string>,
  more: FileExtractionOptions = {},
) {
  const seen: { bytes: Uint8Array; mediaType: string }[] = []
  const ocr: ImageReader = {
    read: async (bytes, mediaType, signal) => {
      seen.push({ bytes, mediaType })
      return answer(seen.length, signal)
    },
  }
  const extract = fileExtractor({ ...more, ocr })
  closing.push(() => extract.close())
  return { extract, seen }
}

const file = (bytes: Uint8Array, name = 'scan.pdf') => ({ name, bytes })
const own = 'This page has a text layer of its own, long enough to be more than a stamp or a number.'

describe('pages that are images', () => {
  test('each becomes a section with the text that was recognised, under its number', async () => {
    const { extract, seen } = withReader((page) => `Text of image ${page}.`)
    const bytes = scannedPdf([{ image: markedImage() }, {}, { image: markedImage() }])
    expect((await extract(file(bytes))).sections).toMatchObject([
      { text: 'Text of image 1.', page: 1 },
      { text: 'Text of image 2.', page: 3 },
    ])
    expect(seen.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png'])
  })

  test('a page with text of its own is not recognised', async () => {
    const { extract, seen } = withReader(() => 'Recognised.')
    const bytes = scannedPdf([{ image: markedImage(), text: own }, { image: markedImage() }])
    const { sections } = await extract(file(bytes))
    expect(sections.map(({ text }) => text)).toEqual([own, 'Recognised.'])
    expect(seen).toHaveLength(1)
  })

  test('a stamp on a scan is kept beside the text of the scan; a picture beside a short text is none', async () => {
    const { extract, seen } = withReader(() => 'Recognised.')
    const logo = { ...markedImage(), place: '60 0 0 80 500 700' }
    const bytes = scannedPdf([
      { image: markedImage(), text: 'Received 3 May' },
      { image: logo, text: 'Part two' },
    ])
    const { sections } = await extract(file(bytes))
    expect(sections.map(({ text }) => text)).toEqual(['Received 3 May\n\nRecognised.', 'Part two'])
    expect(seen).toHaveLength(1)
  })

  test.each([
    ['', 'top left'],
    ['/Rotate 90', 'top right'],
    ['/Rotate 180', 'bottom right'],
    ['/Rotate 270', 'bottom left'],
  ])('a page is shown to the reader as people see it: %s', async (about, corner) => {
    const { extract, seen } = withReader(() => 'x')
    await extract(file(scannedPdf([{ image: markedImage() }], about)))
    expect(blackCorners(seen[0]!.bytes)).toEqual([corner])
  })

  test.skipIf(!existsSync('node_modules/pdfjs-dist'))('a fax is unpacked with the package pdfjs-dist', async () => {
    const { extract, seen } = withReader(() => 'x')
    await extract(file(scannedPdf([{ image: markedFax() }])))
    expect(blackCorners(seen[0]!.bytes)).toEqual(['top left'])
  })

  test('strips of a scan are put together', async () => {
    const { extract, seen } = withReader(() => 'x')
    // The lower half, then the right half of the upper one.
    const place = '612 0 0 396 0 0 cm /Im0 Do 0.5 0 0 1 0.5 1'
    await extract(file(scannedPdf([{ image: { width: 4, height: 4, data: new Uint8Array(16), place } }])))
    expect(seen).toHaveLength(1)
    expect(blackCorners(seen[0]!.bytes)).toEqual(['top right', 'bottom left', 'bottom right'])
  })

  test.each(['', '/Group<</S/Transparency/CS/DeviceGray>>'])(
    'a scan inside a form is drawn where the matrix of the form puts it %s',
    async (group) => {
      const { extract, seen } = withReader(() => 'x')
      const { width, height, data } = markedImage()
      const image = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceGray/BitsPerComponent 8`
      const form = `/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Matrix[-612 0 0 -792 612 792]${group}/Resources<</XObject<</Im0 8 0 R>>>>`
      const objects = [pdfStream(data, image), pdfStream(latin1('/Im0 Do'), form)]
      await extract(file(pdf(['/Fm0 Do'], { objects, resources: '/XObject<</Fm0 9 0 R>>' })))
      expect(blackCorners(seen[0]!.bytes)).toEqual(['bottom right'])
    },
  )

  test('without a reader a scan has no text, and a picture is refused with what to do', async () => {
    const extract = fileExtractor()
    closing.push(() => extract.close())
    expect(await extract(file(scannedPdf([{ image: markedImage() }])))).toMatchObject({ sections: [] })
    await expect(extract(file(png(20, 20), 'photo.png'))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'unsupported' },
      message: expect.stringContaining('INLAY_OCR'),
    })
  })
})

/** The header of a picture, which is all that is looked at before it is read. */
function png(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(60)
  bytes.write('89504e470d0a1a0a0000000d49484452', 'hex')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

describe('pictures as documents', () => {
  test('their bytes go to the reader as they are, and the text is theirs', async () => {
    const { extract, seen } = withReader(() => 'Receipt: 12.40 euros')
    const bytes = png(20, 20)
    expect(await extract(file(bytes, 'receipt.png'))).toMatchObject({
      mediaType: 'image/png',
      sections: [{ text: 'Receipt: 12.40 euros' }],
    })
    expect(Buffer.from(seen[0]!.bytes).equals(bytes)).toBe(true)
  })

  test('the size of a JPEG is found behind its other segments', async () => {
    const { extract } = withReader(() => 'x', { maxOcrPixels: 1000 })
    const jpeg = Buffer.from('ffd8ffe000040000ffc0000b08006400640100', 'hex')
    await expect(extract(file(Buffer.concat([jpeg, Buffer.alloc(20)]), 'a.jpg'))).rejects.toMatchObject({
      data: { reason: 'too_large' },
    })
    await expect(extract(file(jpeg.subarray(0, 8), 'a.jpg'))).rejects.toMatchObject({ data: { reason: 'broken' } })
  })

  test('one with too many pixels is refused before it is read', async () => {
    const { extract, seen } = withReader(() => 'x')
    await expect(extract(file(png(30_000, 30_000), 'a.png'))).rejects.toMatchObject({ data: { reason: 'too_large' } })
    expect(seen).toHaveLength(0)
  })

  test('attached to a mail, they are read; the logo of a signature is not', async () => {
    const { extract, seen } = withReader(() => 'Invoice 4711')
    const base64 = Buffer.from(png(20, 20)).toString('base64')
    const part = (name: string, more: string): string =>
      `--b\r\nContent-Type: image/png; name="${name}"\r\n${more}Content-Transfer-Encoding: base64\r\n\r\n${base64}\r\n`
    const mail = `From: a@x.org\r\nTo: b@x.org\r\nSubject: Bill\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>See below.<img src="cid:1">\r\n${part('logo.png', 'Content-ID: <1>\r\nContent-Disposition: inline\r\n')}${part('bill.png', 'Content-Disposition: attachment; filename="bill.png"\r\n')}--b--\r\n`
    const { sections } = await extract(file(utf8(mail), 'a.eml'))
    expect(sections.at(-1)).toMatchObject({ heading: 'bill.png', text: 'Invoice 4711' })
    expect(seen).toHaveLength(1)
  })

  test('one that is too large, or one too many, does not take the mail with it', async () => {
    const { extract } = withReader((picture) => `Bill ${picture}`, { maxOcrPages: 1 })
    const part = (name: string, bytes: Uint8Array): string =>
      `--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(bytes).toString('base64')}\r\n`
    const parts = `${part('huge.png', png(30_000, 30_000))}${part('a.png', png(20, 20))}${part('b.png', png(20, 20))}`
    const mail = `From: a@x.org\r\nTo: b@x.org\r\nSubject: Bills\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nThree bills.\r\n${parts}--b--\r\n`
    const { sections, metadata } = await extract(file(utf8(mail), 'a.eml'))
    expect(sections.map(({ text }) => text)).toEqual(['Three bills.', 'Bill 1'])
    expect(metadata).toMatchObject({ unreadable_attachments: ['huge.png', 'b.png'] })
  })
})

describe('bounds', () => {
  test('a scan of more pages than allowed is refused before a page is read', async () => {
    const { extract, seen } = withReader(() => 'x', { maxOcrPages: 2 })
    const bytes = scannedPdf(Array.from({ length: 3 }, () => ({ image: markedImage() })))
    await expect(extract(file(bytes))).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      data: { reason: 'too_large' },
      message: expect.stringMatching(/more than 2 scanned pages: split it/),
    })
    expect(seen).toHaveLength(0)
  })

  test('a text with more scanned pages than allowed is read, and names those that were not', async () => {
    const { extract } = withReader((page) => `Scan ${page}.`, { maxOcrPages: 1 })
    const bytes = scannedPdf([{ text: own }, { image: markedImage() }, { image: markedImage() }])
    const { sections, metadata } = await extract(file(bytes))
    expect(sections.map(({ text }) => text)).toEqual([own, 'Scan 1.'])
    expect(metadata).toMatchObject({ unreadable_pages: '3' })
  })

  test('a page that takes too long is left, and named', async () => {
    const never = new Promise<string>(() => {})
    const { extract } = withReader((page) => (page === 1 ? never : 'Second.'), { ocrTimeoutMs: 50 })
    const { sections, metadata } = await extract(file(scannedPdf([{ image: markedImage() }, { image: markedImage() }])))
    expect(sections).toMatchObject([{ text: 'Second.', page: 2 }])
    expect(metadata).toMatchObject({ unreadable_pages: '1' })
  })

  test('after three pages that take too long the rest is given up', async () => {
    const { extract, seen } = withReader(() => new Promise<string>(() => {}), { ocrTimeoutMs: 20 })
    const bytes = scannedPdf(Array.from({ length: 10 }, () => ({ image: markedImage() })))
    await expect(extract(file(bytes))).rejects.toMatchObject({ data: { reason: 'too_slow' } })
    expect(seen).toHaveLength(3)
  })

  test('damaged images cost their page alone; nothing but damage is refused', async () => {
    const { extract } = withReader(() => 'Fine.')
    const { sections, metadata } = await extract(file(scannedPdf([{ image: damagedJpeg }, { image: markedImage() }])))
    expect(sections).toMatchObject([{ text: 'Fine.', page: 2 }])
    expect(metadata).toMatchObject({ unreadable_pages: '1' })
    await expect(extract(file(scannedPdf([{ image: damagedJpeg }])))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'broken' },
    })
  })

  test('a page with too many pixels, and one with a thousand layers, are named', async () => {
    const { extract, seen } = withReader(() => 'Fine.')
    const huge = { width: 32_000, height: 32_000, data: latin1('x') }
    const layers = { ...markedImage(), place: `612 0 0 792 0 0 cm ${'/Im1 Do '.repeat(1000)}1 0 0 1 0 0` }
    const { sections, metadata } = await extract(
      file(scannedPdf([{ image: huge }, { image: layers }, { image: markedImage() }])),
    )
    expect(sections).toMatchObject([{ text: 'Fine.', page: 3 }])
    expect(metadata).toMatchObject({ unreadable_pages: ['1', '2'] })
    expect(seen).toHaveLength(1)
    await expect(extract(file(scannedPdf([{ image: huge }])))).rejects.toMatchObject({ data: { reason: 'too_large' } })
  })

  test('a damaged page costs itself alone and is named once', async () => {
    const { extract } = withReader(() => 'Fine.')
    const text = Buffer.from(scannedPdf([{ image: markedImage() }, { image: markedImage() }])).toString('latin1')
    // The content of a page instead of a page.
    const bytes = latin1(text.replace('6 0 R 8 0 R]', '6 0 R 9 0 R]'))
    const { sections, metadata } = await extract(file(bytes))
    expect(sections).toMatchObject([{ text: 'Fine.', page: 1 }])
    expect(metadata).toMatchObject({ unreadable_pages: '2' })
  })

  test('an image that the reader cannot read costs its page, a reader that is not there costs the file', async () => {
    const failing = (code: 'INVALID_INPUT' | 'SERVICE_UNAVAILABLE') =>
      withReader((page) => {
        if (page > 1) return 'Second.'
        throw new InlayError(code, { message: 'No.' })
      })
    const bytes = scannedPdf([{ image: markedImage() }, { image: markedImage() }])
    const { sections } = await failing('INVALID_INPUT').extract(file(bytes))
    expect(sections.map(({ text }) => text)).toEqual(['Second.'])
    const { extract, seen } = failing('SERVICE_UNAVAILABLE')
    await expect(extract(file(bytes))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(seen).toHaveLength(1)
    expect((await extract(file(bytes))).sections).toHaveLength(2)
  })

  test('the time of the recogniser is not that of the file', async () => {
    const { extract } = withReader(() => new Promise((resolve) => void setTimeout(() => resolve('Late.'), 2500)), {
      timeoutMs: 2000,
    })
    expect((await extract(file(scannedPdf([{ image: markedImage() }])))).sections).toMatchObject([{ text: 'Late.' }])
  })

  test('other files are read while a scan is', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const { extract, seen } = withReader(() => promise)
    const scan = extract(file(scannedPdf([{ image: markedImage() }])))
    await expect.poll(() => seen.length).toBe(1)
    const text = await extract(file(pdf([pdfText([[72, 700, 11, own]])]), 'text.pdf'))
    expect(text.sections).toMatchObject([{ text: own }])
    resolve('Scan.')
    expect((await scan).sections).toMatchObject([{ text: 'Scan.' }])
  })

  test('an aborted call tells the reader, and the next file is read', async () => {
    const abort = new AbortController()
    const reason = new Error('enough')
    const { extract, seen } = withReader((page, signal) =>
      page > 1
        ? 'Next.'
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
            abort.abort(reason)
          }),
    )
    const bytes = scannedPdf([{ image: markedImage() }])
    await expect(extract(file(bytes), { signal: abort.signal })).rejects.toBe(reason)
    expect((await extract(file(bytes))).sections).toMatchObject([{ text: 'Next.' }])
    expect(seen).toHaveLength(2)
  })
})
