import { BadField } from '../../admin/parts.tsx'
import { documentTexts } from '../../texts/view-texts.ts'

export interface Tag {
  readonly key: string
  readonly value: string
}

export const lineOf = ({ key, value }: Tag): string => `${key}: ${value}`.replaceAll(/\s+/g, ' ').trim()

/** Tags of lines. One that did not change stays what it is, and keys stay whole, whatever characters they have. */
export function tagsOf(lines: readonly string[], before: readonly Tag[]): readonly Tag[] {
  const known = new Map(before.map((tag) => [lineOf(tag), tag]))
  const keys = new Map(before.map(({ key }) => [lineOf({ key, value: '' }), key]))
  const heads = [...keys.keys()].toSorted((a, b) => b.length - a.length)
  return lines.map((line) => {
    const tag = known.get(line)
    if (tag !== undefined) return tag
    const head = heads.find((start) => line.startsWith(start)) ?? line.slice(0, line.indexOf(':') + 1)
    const [key, value] = [keys.get(head) ?? head.slice(0, -1).trim(), line.slice(head.length).trim()]
    if (key === '' || value === '') throw new BadField(documentTexts.badTag)
    return { key, value }
  })
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
