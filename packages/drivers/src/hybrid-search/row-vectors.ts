/** Rows with their vectors, concatenated; `vectors` is empty if they have none. */
export interface RowVectors {
  readonly ids: readonly bigint[]
  readonly vectors: Float32Array
  /** Euclidean length of each vector. */
  readonly norms: Float64Array
}

/** @param vectors all of equal length, or empty */
export function vectorsOf(ids: readonly bigint[], vectors: readonly Float32Array[]): RowVectors {
  const dimensions = vectors[0]?.length ?? 0
  const all = new Float32Array(vectors.length * dimensions)
  const norms = new Float64Array(vectors.length)
  for (const [at, vector] of vectors.entries()) {
    all.set(vector, at * dimensions)
    norms[at] = Math.sqrt(dot(vector, vector, 0))
  }
  return { ids, vectors: all, norms }
}

/** Finds the rows with the nearest vectors by cosine, nearest first. A vector of zeros has a nearness of 0. */
export function nearestOf(
  wanted: Float32Array,
  { ids, vectors, norms }: RowVectors,
  limit: number,
): { id: bigint; nearness: number }[] {
  const norm = Math.sqrt(dot(wanted, wanted, 0))
  const nearness = norms.map((length, at) =>
    length * norm > 0 ? dot(wanted, vectors, at * wanted.length) / (length * norm) : 0,
  )
  // Creates objects only for the few rows that are needed.
  const least = nearness.toSorted().at(-limit) ?? -Infinity
  const nearest: { id: bigint; nearness: number }[] = []
  for (const [at, value] of nearness.entries()) if (value >= least) nearest.push({ id: ids[at]!, nearness: value })
  return nearest.sort((a, b) => b.nearness - a.nearness).slice(0, limit)
}

/** Four independent sums, which the processor can compute in parallel. */
function dot(a: Float32Array, b: Float32Array, from: number): number {
  let [first, second, third, fourth] = [0, 0, 0, 0]
  let at = 0
  for (; at + 3 < a.length; at += 4) {
    first += a[at]! * b[from + at]!
    second += a[at + 1]! * b[from + at + 1]!
    third += a[at + 2]! * b[from + at + 2]!
    fourth += a[at + 3]! * b[from + at + 3]!
  }
  for (; at < a.length; at++) first += a[at]! * b[from + at]!
  return first + second + third + fourth
}
