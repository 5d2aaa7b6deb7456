/** Processor time of this thread in milliseconds. What else runs on the machine does not count. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Processor time that a piece of work takes, in milliseconds. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const began = cpuMs()
  await work()
  return cpuMs() - began
}

/** The least of three: the collector, and what else runs on the core, only ever add to it. */
export async function leastCpuMsOf(work: () => unknown): Promise<number> {
  return Math.min(await cpuMsOf(work), await cpuMsOf(work), await cpuMsOf(work))
}
