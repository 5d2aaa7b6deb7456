import { InlayError, isJsonObject, type RequiredOption } from '@inlay/protocol'

/** Vector lengths that every index supports. */
export const requiredDimensions: RequiredOption = [
  'the length of its vectors, a whole number from 1 to 8192',
  (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 8192,
]

/**
 * Vectors of an embeddings reply, in the order of the texts (by `index`, which servers need not send in order).
 * @throws BAD_GATEWAY for another shape or number of vectors, INDEX_MISMATCH for another length
 */
export function readVectors(reply: unknown, expected: { count: number; dimensions: number }): Float32Array[] {
  const data = isJsonObject(reply) && Array.isArray(reply['data']) ? reply['data'] : undefined
  if (!data) throw unusable('The embedding service sent something else than embeddings: check its base URL.')
  if (data.length !== expected.count)
    throw unusable(`The embedding service sent ${data.length} vectors for ${expected.count} texts.`)
  const vectors: (Float32Array | undefined)[] = Array.from({ length: expected.count }, () => undefined)
  for (const [at, item] of data.entries()) {
    const index = isJsonObject(item) && typeof item['index'] === 'number' ? item['index'] : at
    if (!isJsonObject(item) || !Number.isInteger(index) || index < 0 || index >= vectors.length || vectors[index])
      throw unusable('The embedding service did not say which vector belongs to which text.')
    vectors[index] = readVector(item['embedding'], expected.dimensions)
  }
  // Every index was filled once: as many items as texts, none twice.
  return vectors as Float32Array[]
}

function readVector(value: unknown, dimensions: number): Float32Array {
  const vector =
    typeof value === 'string'
      ? fromBase64(value)
      : Array.isArray(value)
        ? Float32Array.from(value, toNumber)
        : undefined
  if (!vector) throw unusable('The embedding service sent a vector in a form that is not known.')
  return checkedVector(vector, dimensions)
}

/** @throws INDEX_MISMATCH for another length, BAD_GATEWAY for a value that is not a number */
export function checkedVector(vector: Float32Array, dimensions: number): Float32Array {
  if (vector.length !== dimensions)
    throw new InlayError('INDEX_MISMATCH', {
      message: `The embedding model makes vectors of ${vector.length} dimensions, not ${dimensions}: set the dimensions to what it makes.`,
      data: { dimensions: vector.length },
    })
  if (!vector.every(Number.isFinite))
    throw unusable('The embedding model made a vector with a value that is no number.')
  return vector
}

/** Numbers only: anything else becomes NaN, where Float32Array alone would read null as 0. */
function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN
}

/** Little-endian 32-bit floats, as in the protocol. */
function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
}

function unusable(message: string): InlayError {
  return new InlayError('BAD_GATEWAY', { message })
}
