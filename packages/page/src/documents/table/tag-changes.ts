export interface Tag {
  readonly key: string
  readonly value: string
}

/** The change from one list of tags to another: all values of each key that differs, null for a removed key. */
export function tagChanges(
  before: readonly Tag[],
  after: readonly Tag[],
): Readonly<Record<string, readonly string[] | null>> {
  const [old, wanted] = [valuesByKey(before), valuesByKey(after)]
  const changes: Record<string, readonly string[] | null> = {}
  for (const key of new Set([...old.keys(), ...wanted.keys()])) {
    const values = wanted.get(key) ?? []
    const known = new Set(old.get(key))
    if (values.length === known.size && values.every((value) => known.has(value))) continue
    changes[key] = values.length === 0 ? null : values
  }
  return changes
}

function valuesByKey(tags: readonly Tag[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(tags, ({ key }) => key)
  return new Map([...groups].map(([key, group]) => [key, [...new Set(group.map(({ value }) => value))]]))
}
