import { inflateSync } from 'node:zlib'
import { latin1, pdf, pdfStream, pdfText } from './samples.ts'

/** Data of an image as it stands in a PDF. */
export interface PdfImage {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
  /** Default: gray, one byte a pixel, not packed. */
  readonly entries?: string
  /** Matrix of its place. Default: the whole page. */
  readonly place?: string
}

/** A page: an image, and text. */
export interface ScannedPage {
  readonly image?: PdfImage
  readonly text?: string
}

/** A PDF with images as scanners make them, US Letter. */
export function scannedPdf(pages: readonly ScannedPage[], about = ''): Uint8Array {
  const objects: Uint8Array[] = []
  const names: string[] = []
  const first = 6 + 2 * pages.length
  const contents = pages.map(({ image, text }) => {
    const lines = text === undefined ? '' : pdfText([[72, 760, 11, text]])
    if (!image) return lines
    const number = objects.length
    const { width, height, data, entries = '/ColorSpace/DeviceGray/BitsPerComponent 8', place } = image
    objects.push(pdfStream(data, `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}${entries}`))
    names.push(`/Im${number} ${first + number} 0 R`)
    return `q ${place ?? '612 0 0 792 0 0'} cm /Im${number} Do Q ${lines}`
  })
  return pdf(contents, { objects, resources: `/XObject<<${names.join('')}>>>>${about}/Unused<<` })
}

/** A white picture with a black square in its upper left corner. */
export function markedImage(width = 60, height = 80): PdfImage {
  const data = new Uint8Array(width * height).fill(255)
  for (let y = 0; y < height / 4; y++) data.fill(0, y * width, y * width + width / 4)
  return { width, height, data }
}

/** The same as fax machines pack it (CCITT group 4). */
export function markedFax(): PdfImage {
  // White 0, black 15, then white as in the row above.
  const first = '001' + '00110101' + '000011000' + '1'
  const rows = [
    first,
    ...Array.from({ length: 19 }, () => '111'),
    '0001' + '1',
    ...Array.from({ length: 59 }, () => '1'),
  ]
  const bits = `${rows.join('')}${'000000000001'.repeat(2)}`
  const bytes = bits.match(/.{1,8}/g)!.map((byte) => parseInt(byte.padEnd(8, '0'), 2))
  const entries =
    '/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 60/Rows 80>>'
  return { width: 60, height: 80, data: Uint8Array.from(bytes), entries }
}

/** Corners of a gray PNG that are black, e.g. `top left`. */
export function blackCorners(png: Uint8Array): string[] {
  const bytes = Buffer.from(png)
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const at = bytes.indexOf('IDAT')
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)))
  const isBlack = (x: number, y: number): boolean => rows[y * (width + 1) + 1 + x]! < 64
  const places = [
    ['top left', 2, 2],
    ['top right', width - 3, 2],
    ['bottom left', 2, height - 3],
    ['bottom right', width - 3, height - 3],
  ] as const
  return places.filter(([, x, y]) => isBlack(x, y)).map(([name]) => name)
}

/** Not the data of any JPEG. */
export const damagedJpeg: PdfImage = {
  width: 60,
  height: 80,
  data: latin1('x'.repeat(4800)),
  entries: '/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/DCTDecode',
}
