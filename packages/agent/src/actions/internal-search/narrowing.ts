import { sourceValues } from '@inlay/protocol'
import type { BaseFilters, PacketOf, SourceValue } from '@inlay/protocol'

export interface Narrowing {
  /** Names of sources; unknown ones are ignored. */
  readonly sources?: readonly string[] | null
  /** Dates or date-times, both inclusive; invalid ones are ignored. A day ends with its last second, in UTC. */
  readonly updated_from?: string | null
  readonly updated_to?: string | null
}

/**
 * Narrows the filters of a request by those of the model, and never widens them. If the two exclude each other, the
 * filters of the request stay unchanged, so a wrong guess of the model does not cost the answer.
 */
export function narrowFilters(filters: BaseFilters | null, narrowing: Narrowing): BaseFilters | null {
  const narrowed = narrowTime(narrowSources(filters ?? {}, narrowing.sources ?? []), narrowing)
  return filters === null && Object.keys(narrowed).length === 0 ? null : narrowed
}

function narrowSources(filters: BaseFilters, names: readonly string[]): BaseFilters {
  const allowed = filters.source_type ?? []
  const wanted = [...new Set(names.map((name) => name.trim().toLowerCase()))].filter(isSource)
  const common = allowed.length === 0 ? wanted : wanted.filter((source) => allowed.includes(source))
  return common.length === 0 ? filters : { ...filters, source_type: common }
}

function isSource(name: string): name is SourceValue {
  return (sourceValues as readonly string[]).includes(name)
}

function narrowTime(filters: BaseFilters, { updated_from: from, updated_to: to }: Narrowing): BaseFilters {
  const [first, last] = [readDate(from, 'T00:00:00Z'), readDate(to, 'T23:59:59Z')]
  if (first === undefined && last === undefined) return filters
  const range = filters.updated_at_range
  const start = latest(filters.time_cutoff, first)
  const end = earliest(range?.end, last)
  const begins = latest(range?.start, start)
  if (begins !== null && end !== null && Date.parse(begins) > Date.parse(end)) return filters
  return {
    ...filters,
    ...(start === null ? {} : { time_cutoff: start }),
    ...(end === null ? {} : { updated_at_range: { start: range?.start ?? null, end } }),
  }
}

/** @param time appended to a date without a time */
function readDate(text: string | null | undefined, time: string): string | undefined {
  const given = (text ?? '').trim()
  if (!/^\d{4}-\d{2}-\d{2}/.test(given)) return undefined
  const timestamp = Date.parse(given.length === 10 ? given + time : given)
  return Number.isNaN(timestamp) ? undefined : new Date(timestamp).toISOString()
}

function latest(a: string | null | undefined, b: string | null | undefined): string | null {
  if (!a || !b) return a ?? b ?? null
  return Date.parse(a) >= Date.parse(b) ? a : b
}

function earliest(a: string | null | undefined, b: string | null | undefined): string | null {
  if (!a || !b) return a ?? b ?? null
  return Date.parse(a) <= Date.parse(b) ? a : b
}

/** The packet that shows how a search is narrowed; undefined when it is not. */
export function toFilterPacket(filters: BaseFilters | null): PacketOf<'search_tool_filter_delta'> | undefined {
  const sources = filters?.source_type ?? []
  const start = latest(filters?.updated_at_range?.start, filters?.time_cutoff)
  const end = filters?.updated_at_range?.end ?? null
  if (sources.length === 0 && start === null && end === null) return undefined
  return { type: 'search_tool_filter_delta', sources, time_filter_start: start, time_filter_end: end }
}
