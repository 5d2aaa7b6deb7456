import type { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { createCanvas, type Matrix, type Pixels } from './gray-canvas.ts'

type PdfPageProxy = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>
type Operations = Awaited<ReturnType<typeof getResolvedPDFJS>>['OPS']

/** An image on a page, not yet decoded, and the matrix that puts its unit square there. */
interface PlacedImage {
  readonly source: unknown
  readonly matrix: Matrix
  readonly width: number
  /** Gray of the colour that a mask is filled with; absent for pictures. */
  readonly fill?: number
}

/** Resolution in dots per inch at which text is recognised best. */
const bestResolution = 300
/** Smaller images, together, hold no page of text. In points, about 2 cm by 2 cm. */
const minArea = 3600
/** Share of a page that images cover at least, if there is some text besides, such as a stamp. */
const minShare = 0.3

/** More images, or more layers over each other, are no scan: a page may repeat an image to keep its reader busy. */
const [maxImages, maxLayers] = [10_000, 30]

/**
 * Draws its images together, in the direction it is read: a scan may be one image, strips, or layers with a mask.
 * Undefined without images that could hold its text. @throws if it would take too long
 */
export async function pageImage(
  page: PdfPageProxy,
  ops: Operations,
  { maxPixels, hasText }: { readonly maxPixels: number; readonly hasText: boolean },
) {
  // Annotations, such as the fields of a form, are no part of a scan.
  const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: 0 })
  const { width, height, transform } = page.getViewport({ scale: 1 })
  const images = placedImages(fnArray, argsArray, ops, transform as unknown as Matrix)
  const area = images.reduce((sum, { matrix }) => sum + areaOf(matrix), 0)
  if (area < (hasText ? minShare * width * height : Math.min(minArea, 0.1 * width * height))) return undefined
  const sharpest = Math.max(...images.map((image) => image.width / Math.hypot(image.matrix[0], image.matrix[1])))
  const drawnArea = images.reduce((sum, { matrix }) => sum + Math.min(areaOf(matrix), width * height), 0)
  if (images.length > maxImages || drawnArea > maxLayers * width * height) throw new Error('Too many images on a page.')
  // Some programs give each pixel a point, which makes a page of metres.
  const scale = Math.min(bestResolution / 72, sharpest, Math.sqrt(maxPixels / (width * height)))
  const canvas = createCanvas(Math.ceil(width * scale), Math.ceil(height * scale))
  let drawn = 0
  for (const { source, matrix, fill } of images) {
    const pixels = await pixelsOf(page, source)
    if (!pixels) continue
    canvas.draw(pixels, times([scale, 0, 0, scale, 0, 0], matrix), fill)
    drawn++
  }
  return { canvas, drawn }
}

function areaOf([a, b, c, d]: Matrix): number {
  return Math.abs(a * d - b * c)
}

/** Applies the second matrix first. */
function times(m: Matrix, n: Matrix): Matrix {
  return [
    m[0] * n[0] + m[2] * n[1],
    m[1] * n[0] + m[3] * n[1],
    m[0] * n[2] + m[2] * n[3],
    m[1] * n[2] + m[3] * n[3],
    m[0] * n[4] + m[2] * n[5] + m[4],
    m[1] * n[4] + m[3] * n[5] + m[5],
  ]
}

/** Follows the changes of matrix and colour through the operations of a page. */
function placedImages(
  fnArray: readonly number[],
  argsArray: readonly unknown[],
  ops: Operations,
  base: Matrix,
): PlacedImage[] {
  const images: PlacedImage[] = []
  const saved: { matrix: Matrix; fill: number }[] = []
  let state = { matrix: base, fill: 0 }
  const transform = (matrix: unknown): void => {
    // The matrices of forms are typed arrays.
    const numbers = Array.isArray(matrix) || ArrayBuffer.isView(matrix) ? Array.from(matrix as ArrayLike<number>) : []
    if (numbers.length === 6) state = { ...state, matrix: times(state.matrix, numbers as never) }
  }
  for (const [at, operation] of fnArray.entries()) {
    const args = (argsArray[at] ?? []) as readonly unknown[]
    switch (operation) {
      case ops.save:
        saved.push(state)
        break
      case ops.restore:
      case ops.paintFormXObjectEnd:
      case ops.endGroup:
        state = saved.pop() ?? state
        break
      case ops.transform:
        transform(args)
        break
      case ops.paintFormXObjectBegin:
        saved.push(state)
        transform(args[0])
        break
      case ops.beginGroup:
        // The form within it has the same matrix.
        saved.push(state)
        break
      case ops.setFillRGBColor:
        state = { ...state, fill: grayOf(args[0]) }
        break
      case ops.paintImageXObject:
        images.push({ source: args[0], matrix: state.matrix, width: Number(args[1]) })
        break
      case ops.paintInlineImageXObject:
      case ops.paintImageMaskXObject: {
        const source = args[0] as { readonly width: number; readonly data?: unknown }
        const fill = operation === ops.paintImageMaskXObject ? state.fill : undefined
        // The data of a mask that several pages share stands elsewhere.
        const isShared = typeof source.data === 'string'
        images.push({
          source: isShared ? { ...source, id: source.data } : source,
          matrix: state.matrix,
          width: source.width,
          ...(fill === undefined ? {} : { fill }),
        })
        break
      }
    }
  }
  return images.filter(({ width, matrix }) => width > 0 && areaOf(matrix) > 0)
}

/** Gray of `#rrggbb`; black for any other colour. */
function grayOf(colour: unknown): number {
  const [, red = '0', green = '0', blue = '0'] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(String(colour)) ?? []
  return 0.299 * parseInt(red, 16) + 0.587 * parseInt(green, 16) + 0.114 * parseInt(blue, 16)
}

async function pixelsOf(page: PdfPageProxy, source: unknown): Promise<Pixels | undefined> {
  const id = typeof source === 'string' ? source : (source as { readonly id?: unknown }).id
  if (typeof id !== 'string') return toPixels(source)
  const store = id.startsWith('g_') ? page.commonObjs : page.objs
  const image = await new Promise<unknown>((resolve) => void store.get(id, resolve))
  return toPixels(image)
}

function toPixels(image: unknown): Pixels | undefined {
  const { width, height, data, kind = 1 } = (image ?? {}) as Partial<Pixels>
  if (!width || !height || !(data instanceof Uint8Array || data instanceof Uint8ClampedArray)) return undefined
  return { width, height, data, kind }
}
