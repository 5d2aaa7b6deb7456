/** [a, b, c, d, e, f]: x' = a·x + c·y + e, y' = b·x + d·y + f. */
export type Matrix = readonly [number, number, number, number, number, number]

/** Decoded image; rows of one bit a pixel begin with a new byte. */
export interface Pixels {
  readonly width: number
  readonly height: number
  /** 1: a bit a pixel, 1 is white; 2: red, green, blue; 3: red, green, blue, alpha. */
  readonly kind: number
  readonly data: Uint8Array | Uint8ClampedArray
}

/** Points taken of the pixels under one dot, across and down. Fewer would break thin strokes. */
const maxSamples = 4

/** White at first. */
export function createCanvas(width: number, height: number) {
  const gray = new Uint8Array(width * height).fill(255)
  return {
    width,
    height,
    /** Rows from the top, one byte a pixel. */
    gray,
    /**
     * Draws an image on the place of the unit square, its top edge at y = 1.
     * @param fill gray of a mask, which is painted where its bit is 0; absent: the image is drawn with its own colours
     */
    draw(image: Pixels, matrix: Matrix, fill?: number): void {
      const [a, b, c, d, e, f] = matrix
      const determinant = a * d - b * c
      const xs = [e, e + a, e + c, e + a + c]
      const ys = [f, f + b, f + d, f + b + d]
      const [left, right] = [Math.max(0, Math.floor(Math.min(...xs))), Math.min(width, Math.ceil(Math.max(...xs)))]
      const [top, bottom] = [Math.max(0, Math.floor(Math.min(...ys))), Math.min(height, Math.ceil(Math.max(...ys)))]
      const step = Math.max(image.width / Math.hypot(a, b), image.height / Math.hypot(c, d))
      const samples = Math.min(maxSamples, Math.max(1, Math.round(step)))
      const read = readerOf(image, fill)
      for (let y = top; y < bottom; y++)
        for (let x = left; x < right; x++) {
          let sum = 0
          const below = gray[y * width + x]!
          for (let v = 0; v < samples; v++)
            for (let u = 0; u < samples; u++) {
              const dx = x + (u + 0.5) / samples - e
              const dy = y + (v + 0.5) / samples - f
              const column = Math.floor(((d * dx - c * dy) / determinant) * image.width)
              const row = Math.floor((1 - (a * dy - b * dx) / determinant) * image.height)
              const isInside = column >= 0 && column < image.width && row >= 0 && row < image.height
              sum += isInside ? read(column, row, below) : below
            }
          gray[y * width + x] = sum / samples ** 2
        }
    },
  }
}

/** Gives the gray of a pixel that lies over another. */
function readerOf(
  { width, kind, data }: Pixels,
  fill: number | undefined,
): (x: number, y: number, below: number) => number {
  if (kind === 1) {
    const rowBytes = (width + 7) >> 3
    const bit = (x: number, y: number): number => (data[y * rowBytes + (x >> 3)]! >> (7 - (x & 7))) & 1
    return fill === undefined ? (x, y) => bit(x, y) * 255 : (x, y, below) => (bit(x, y) === 1 ? below : fill)
  }
  const bytes = kind === 3 ? 4 : 3
  return (x, y, below) => {
    const at = (y * width + x) * bytes
    const shade = 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!
    const alpha = kind === 3 ? data[at + 3]! / 255 : 1
    return shade * alpha + below * (1 - alpha)
  }
}
