/** Times in milliseconds, sorted. */
export type Times = readonly number[]

/** Runs work again and again, one after the other, and times each run. */
export async function timeEach(runs: number, work: (run: number) => Promise<unknown>): Promise<Times> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const begun = performance.now()
    await work(run)
    times.push(performance.now() - begun)
  }
  return times.sort((a, b) => a - b)
}

/** The time that a share of the runs stayed below. */
export function percentile(times: Times, share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
}

/** A line with p50 and p95. */
export function timesLine(label: string, times: Times): string {
  const cell = (share: number): string => percentile(times, share).toFixed(1).padStart(7)
  return `${label.padEnd(46)} p50 ${cell(0.5)} ms   p95 ${cell(0.95)} ms`
}
