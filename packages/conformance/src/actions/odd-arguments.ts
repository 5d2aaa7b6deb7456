const oddNumbers = [-1, 0, 1.5, 1e12, Number.MAX_SAFE_INTEGER]
const oddTexts = ['', ' ', '\u0000', '\uD83E', '../../etc/passwd', '"}]', 'x'.repeat(20_000), '図'.repeat(3_000)]
const oddShapes = [null, true, [], [null], [''], [['x']], {}, { x: { y: [] } }]
const oddValues: readonly unknown[] = [...oddNumbers, ...oddTexts, ...oddShapes]

/**
 * Variants of arguments that work: each value in turn is replaced by an unusual one or omitted, or an unknown one is
 * added. [] for arguments that are not an object.
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
