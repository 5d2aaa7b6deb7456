/** Inverse document frequency of BM25 (Robertson and Zaragoza 2009), with 1 added so that it stays positive. */
export function rarityOf(rowsWithTerm: number, rows: number): number {
  return Math.log((Math.max(0, rows - rowsWithTerm) + 0.5) / (rowsWithTerm + 0.5) + 1)
}

/** Term frequency factor of BM25, with the engine's constants k1 = 1.2 and b = 0.75. */
export function saturation(times: number, length: number, averageLength: number): number {
  return (times * 2.2) / (times + 1.2 * (0.25 + (0.75 * length) / Math.max(1, averageLength)))
}
