const oddNumbers = [-1, 0, 1.5, 1e12, Number.MAX_SAFE_INTEGER]
const oddTexts = ['', ' ', '\u0000', '\uD83E', '../../etc/passwd', '"}]', 'x'.repeat(20_000), '図'.repeat(3_000)]
const oddShapes = [null, true, [], [null], [''], [['x']], {}, { x: { y: [] } }]
const oddValues: readonly unknown[] = [...oddNumbers, ...oddTexts, ...oddShapes]

/**
 * Arguments that work, with each of their values in turn replaced by something odd, left out, or joined by one that
 * nobody asked for. [] for arguments that are no object.
 */
export function oddArguments(works: unknown): unknown[] {
  if (typeof works !== 'object' || works === null) return []
  const entries = Object.entries(works)
  const odd = entries.flatMap(([name, value]) => [
    ...oddValues.map((other) => ({ ...works, [name]: other })),
    ...(Array.isArray(value) ? oddValues.map((other) => ({ ...works, [name]: [other] })) : []),
    Object.fromEntries(entries.filter(([other]) => other !== name)),
  ])
  return [...odd, { ...works, nobody_asked: 'for this' }]
}
