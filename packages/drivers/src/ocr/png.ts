import { crc32, deflateSync } from 'node:zlib'

/** Packed lightly: it only goes to the reader of images. @param image rows from the top, one byte a pixel */
export function toPng(image: {
  readonly width: number
  readonly height: number
  readonly gray: Uint8Array
}): Uint8Array {
  const { width, height, gray } = image
  const rows = Buffer.alloc((width + 1) * height)
  // Each row begins with its filter, 0 for none.
  for (let y = 0; y < height; y++) rows.set(gray.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows, { level: 1 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  chunk.set(body, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return chunk
}
