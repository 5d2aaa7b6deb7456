/** Names what a claim writes into a space. The first space has no mark: most installations never have another. */
export function toGeneration(space: number, claimId: string, at: number): string {
  return `${space === 0 ? '' : `${space}:`}${claimId}.${at}`
}

/** The space whose index holds a generation. */
export function spaceOf(generation: string): number {
  const mark = generation.indexOf(':')
  return mark < 0 ? 0 : Number(generation.slice(0, mark))
}
