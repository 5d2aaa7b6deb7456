/**
 * Measures the start of a host: importing the library, mounting it and answering `/health`, then the memory of the idle
 * process; a bare `node:http` server, Express and Inlay in turn. Uses the built packages, and builds them if they are not there.
 *
 *   npm run bench:start -- [--quick] [--rounds 9]
 */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { note } from './figures.ts'

/** Figures of a process; CPU times include all its threads. */
interface Start {
  readonly status: number
  readonly importMs: number
  readonly mountMs: number
  readonly answerMs: number
  /** From the start of the process to the answer. */
  readonly wallMs: number
  readonly idleBytes: number
}

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string' } },
})
const rounds = Number(options.rounds ?? (options.quick ? 3 : 9))
const root = join(import.meta.dirname, '../..')
// A quick run takes the build that is there, whatever its age.
if (!options.quick || !existsSync(join(root, 'packages/inlay/dist/index.js')))
  execFileSync(join(root, 'node_modules/.bin/tsdown'), { cwd: root, stdio: 'ignore' })

async function start(host: string): Promise<Start> {
  const child = fork(new URL('start/host.mjs', import.meta.url), [host], {
    // Not the sources, as the benchmarks themselves.
    execArgv: [],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const ended = once(child, 'exit')
  const report = once(child, 'message')
  await Promise.race([report, ended.then(() => Promise.reject(new Error(`${host} ended by itself.`)))])
  // The host sends nothing else.
  const [figures] = (await report) as [Start]
  await ended
  if (figures.status !== 200) throw new Error(`${host} answered ${figures.status}.`)
  return figures
}

const hosts = ['bare', 'express', 'inlay'] as const
const starts = new Map<string, Start[]>(hosts.map((host) => [host, []]))
for (let round = 0; round < rounds; round++)
  for (const host of round % 2 === 0 ? hosts : hosts.toReversed()) starts.get(host)?.push(await start(host))

const median = (host: string, figure: (start: Start) => number): number =>
  starts
    .get(host)!
    .map(figure)
    .toSorted((a, b) => a - b)[rounds >> 1] ?? 0
const cpuOf = ({ importMs, mountMs, answerMs }: Start): number => importMs + mountMs + answerMs
const megabytesOf = ({ idleBytes }: Start): number => idleBytes / 2 ** 20

console.log(
  `medians of ${rounds} starts            import     mount    answer       all, ms CPU      wall, ms   idle, MB`,
)
for (const host of hosts) {
  const figures: readonly ((start: Start) => number)[] = [
    ({ importMs }) => importMs,
    ({ mountMs }) => mountMs,
    ({ answerMs }) => answerMs,
    cpuOf,
    ({ wallMs }) => wallMs,
    megabytesOf,
  ]
  console.log(`${host.padEnd(26)} ${figures.map((figure) => median(host, figure).toFixed(1).padStart(11)).join('')}`)
}
const ratio = median('inlay', cpuOf) / median('express', cpuOf)
const megabytes = median('inlay', megabytesOf)
const holds = (value: number, most: number): string => (value <= most ? 'holds ' : 'misses')
console.log(`\n${holds(ratio, 1.5)}  CPU of a start, over Express: ${ratio.toFixed(2)} (at most 1.5)`)
console.log(`${holds(megabytes, 70)}  memory when idle, MB: ${megabytes.toFixed(0)} (at most 70)`)
note('start, inlay: CPU over Express', ratio)
for (const host of hosts) {
  note(`start, ${host}: ms CPU`, median(host, cpuOf))
  note(`start, ${host}: MB when idle`, median(host, megabytesOf))
}
