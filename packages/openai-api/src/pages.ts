import { jsonReply, type Reply } from '@inlay/server'
import * as v from 'valibot'
import { invalid } from './errors.ts'

/** Query of a list, as all lists of this API have it. */
export const pageQuery = v.object({
  after: v.optional(v.string()),
  before: v.optional(v.string()),
  limit: v.optional(v.string()),
  order: v.optional(v.picklist(['asc', 'desc'])),
})

export const pageSchema = <Item extends v.GenericSchema>(item: Item) =>
  v.object({
    object: v.literal('list'),
    data: v.array(item),
    first_id: v.nullable(v.string()),
    last_id: v.nullable(v.string()),
    has_more: v.boolean(),
  })

/** The answer to deleting something, by its kind. */
export const deletionOf = <Kind extends string>(kind: Kind, description = 'Deleted.') => ({
  description,
  schema: v.object({ id: v.string(), object: v.literal(kind), deleted: v.literal(true) }),
})

/** A page of a list, which is sorted by time; clients go on behind the last id while `has_more`. */
export function pageOf<Item extends { readonly id: string; readonly created_at: number }>(
  items: readonly Item[],
  { after, before, limit, order = 'desc' }: v.InferOutput<typeof pageQuery>,
  { maxLimit, usual }: { readonly maxLimit: number; readonly usual: number },
) {
  const direction = order === 'asc' ? 1 : -1
  const sorted = items.toSorted(
    (left, right) => direction * (left.created_at - right.created_at || (left.id < right.id ? -1 : 1)),
  )
  const size = limit === undefined ? usual : Number(limit)
  if (!/^\d{1,5}$/.test(limit ?? '1') || size < 1 || size > maxLimit)
    throw invalid('limit', `limit must be a whole number from 1 to ${maxLimit}.`)
  const placeOf = (id: string, param: string): number => {
    const place = sorted.findIndex((item) => item.id === id)
    if (place >= 0) return place
    throw invalid(param, `${param} must be an id of this list: read the list from its start.`)
  }
  const from = after === undefined ? 0 : placeOf(after, 'after') + 1
  const to = before === undefined ? sorted.length : placeOf(before, 'before')
  // With `before` alone the page is the one that ends there, and more is in front of it.
  const isBackward = before !== undefined && after === undefined
  const data = isBackward ? sorted.slice(Math.max(0, to - size), to) : sorted.slice(from, Math.min(to, from + size))
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: isBackward ? to > size : from + data.length < to,
  }
}

/** The reply with what clients poll, who wait five seconds unless they are asked for less. */
export const polled = (value: object | undefined): Reply =>
  jsonReply(value, { headers: { 'openai-poll-after-ms': '250' } })
