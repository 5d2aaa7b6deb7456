/** How long something took, since the process started. */
export interface Latency {
  readonly name: LatencyName
  readonly count: number
  /** Seconds that half of them took at most; null when they took longer than what is measured. */
  readonly median: number | null
  /** Seconds that 95 % of them took at most; null when they took longer than what is measured. */
  readonly slow: number | null
}

/** Metric of each duration, with the labels of its series if others of the metric measure something else. */
const histograms = {
  search: ['inlay_search_duration_seconds'],
  answer: ['gen_ai_invoke_agent_duration_seconds'],
  firstText: ['gen_ai_client_operation_time_to_first_chunk_seconds'],
  indexing: ['db_client_operation_duration_seconds', 'inlay_engine="index"', 'db_operation_name="append"'],
  request: ['http_server_request_duration_seconds'],
} as const

export type LatencyName = keyof typeof histograms

/** Reads durations from metrics in the text format of Prometheus; those that nothing was measured of are left out. */
export function latenciesOf(metrics: string): readonly Latency[] {
  const buckets = new Map<string, Map<number, number>>()
  for (const line of metrics.split('\n')) {
    const [, metric, end, count] = /^(\w+)_bucket\{.*\ble="([^"]+)".*\} (\S+)/.exec(line) ?? []
    const name = Object.entries(histograms).find(
      ([, [of, ...labels]]) => of === metric && labels.every((label) => line.includes(label)),
    )?.[0]
    if (name === undefined) continue
    const known = buckets.get(name) ?? new Map<number, number>()
    const upTo = end === '+Inf' ? Infinity : Number(end)
    // Series of one metric differ in their labels.
    buckets.set(name, known.set(upTo, (known.get(upTo) ?? 0) + Number(count)))
  }
  return Object.keys(histograms).flatMap((name) => {
    const counts = [...(buckets.get(name) ?? [])].toSorted(([left], [right]) => left - right)
    const total = counts.at(-1)?.[1] ?? 0
    if (total === 0) return []
    const [median, slow] = [quantile(counts, total * 0.5), quantile(counts, total * 0.95)]
    return [{ name: name as LatencyName, count: total, median, slow }]
  })
}

/** The value that so many are at most, between the ends of its bucket; null behind the last end. */
function quantile(counts: readonly (readonly [end: number, upTo: number])[], rank: number): number | null {
  let [start, before] = [0, 0]
  for (const [end, upTo] of counts) {
    if (upTo >= rank) return end === Infinity ? null : start + ((end - start) * (rank - before)) / (upTo - before)
    ;[start, before] = [end, upTo]
  }
  return null
}
