import { pngChunk } from './png.ts'

/** Values of the orientation of Exif: to be turned right, left, upside down. */
export const turns: readonly number[] = [6, 8, 3]

/** A PNG or JPEG with an orientation before any that it has: no pixel has to be decoded to turn it. */
export function withOrientation(image: Uint8Array, orientation: number): Uint8Array {
  // A TIFF header, one entry, no further directory.
  const exif = Buffer.from('4d4d002a00000008' + '0001' + '0112000300000001' + '00000000' + '00000000', 'hex')
  exif.writeUInt16BE(orientation, 18)
  return image[0] === 0x89
    ? // After the signature and the header, which stands first.
      Buffer.concat([image.subarray(0, 33), pngChunk('eXIf', exif), image.subarray(33)])
    : Buffer.concat([image.subarray(0, 2), exifSegment(exif), image.subarray(2)])
}

function exifSegment(exif: Uint8Array): Buffer {
  const head = Buffer.from('ffe10000' + '457869660000', 'hex')
  head.writeUInt16BE(exif.length + 8, 2)
  return Buffer.concat([head, exif])
}
