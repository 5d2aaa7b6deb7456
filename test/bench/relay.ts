/**
 * Measures what it costs to pass a model's tokens on: a bare `node:http` relay, plain Mastra, the AI SDK and Inlay in
 * front of one local model, alternated, each in a separate process like the model and the clients. Takes about six
 * minutes; `--quick` a quarter of one, which is enough to see that it works and too little to judge by.
 *
 *   npm run bench:relay -- [--quick] [--relays bare,mastra,ai,inlay] [--streams 1,50,200]
 *     [--tokens 600] [--delay 40] [--rounds 2] [--long 40000] [--slow 100] [--curves streams.svg]
 *
 * The relay `fetch` is Inlay with the `fetch` of Node in place of its own transport to models. `--curves` draws how the
 * relays grow, for example with `--relays bare,inlay --streams 1,10,100,1000 --tokens 100 --delay 200 --long 0`.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { note } from './figures.ts'
import { toCurves } from './relay/curve.ts'
import {
  printBars,
  printComparison,
  printLong,
  toFigures,
  type Figures,
  type LongFigures,
  type Measured,
} from './relay/figures.ts'
import type { LoadOrder, LoadReport } from './relay/load.ts'
import type { RelayFigures } from './relay/relays.ts'
import { measureStops } from './relay/stops.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    relays: { type: 'string', default: 'bare,mastra,ai,inlay' },
    streams: { type: 'string' },
    tokens: { type: 'string' },
    delay: { type: 'string' },
    /** Repetitions at the largest number of streams; smaller ones are measured once. */
    rounds: { type: 'string' },
    /** Tokens of one answer said at once; 0 leaves it out. */
    long: { type: 'string' },
    /** Readers that rest while 5,000 tokens are said to each at once; 0 leaves them out. */
    slow: { type: 'string' },
    /** File for a picture of the figures of each number of streams. */
    curves: { type: 'string' },
  },
})
const defaults = options.quick
  ? { streams: '1,20', tokens: '60', delay: '20', rounds: '1', long: '4000', slow: '10' }
  : { streams: '1,50,200', tokens: '600', delay: '40', rounds: '2', long: '40000', slow: '100' }
const tokens = Number(options.tokens ?? defaults.tokens)
const delayMs = Number(options.delay ?? defaults.delay)
const rounds = Number(options.rounds ?? defaults.rounds)
const longTokens = Number(options.long ?? defaults.long)
const slowReaders = Number(options.slow ?? defaults.slow)
const streamCounts = (options.streams ?? defaults.streams).split(',').filter(Boolean).map(Number)
/** A short answer beside the long one parts what a token costs from what a run costs. */
const shortTokens = Math.max(1, Math.round(tokens / 12))

interface Relay {
  readonly name: string
  readonly child: ChildProcess
  /** Opens the streams of this relay alone, so that relays can be measured side by side. */
  readonly client: ChildProcess
  readonly port: number
  idleBytes: number
}

const key = 'key-of-the-bench'
const children: ChildProcess[] = []

/** The next message of a child; one that ends instead ends the benchmark. */
async function messageOf(child: ChildProcess): Promise<unknown> {
  const settled = new AbortController()
  const { signal } = settled
  try {
    const ended = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('A process ended by itself.')))
    const [message] = await Promise.race([once(child, 'message', { signal }), ended])
    return message
  } finally {
    settled.abort()
  }
}

function start(file: string, args: readonly string[] = []): ChildProcess {
  const env = {
    ...process.env,
    MASTRA_TELEMETRY_DISABLED: '1',
    LANCEDB_LOG: 'error',
    NODE_ENV: 'production',
    BENCH_RELAY_KEY: key,
  }
  const child = fork(new URL(`relay/${file}.ts`, import.meta.url), args, {
    env,
    execArgv: [...process.execArgv, ...(process.env['BENCH_RELAY_FLAGS']?.split(' ') ?? [])],
  })
  children.push(child)
  return child
}

async function startServer(file: string, args?: readonly string[]): Promise<{ child: ChildProcess; port: number }> {
  const child = start(file, args)
  // Both kinds of servers send their port first.
  const { port } = (await messageOf(child)) as { port: number }
  return { child, port }
}

async function ask<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  const answered = messageOf(child)
  child.send(message)
  // Each child replies to a message.
  return (await answered) as Answer
}

function orderFor({ name, port }: Relay, streams: number, model: string, restMs?: number): LoadOrder {
  if (name !== 'inlay' && name !== 'fetch') return { port, streams, restMs, path: '/', body: JSON.stringify({ model }) }
  const body = { message: 'go', llm_override: { model_provider: 'bench', model_version: model } }
  return { port, streams, restMs, path: '/api/chat/send-chat-message', body: JSON.stringify(body) }
}

interface Said {
  readonly streams: number
  readonly length: number
  readonly paceMs: number
  readonly restMs?: number | undefined
}

async function measure(relay: Relay, { streams, length, paceMs, restMs }: Said): Promise<Measured> {
  const before = await ask<RelayFigures>(relay.child, {})
  const report = await ask<LoadReport>(relay.client, orderFor(relay, streams, `${length}x${paceMs}`, restMs))
  const after = await ask<RelayFigures>(relay.child, {})
  if (report.failures > 0 || report.tokens !== streams * length)
    throw new Error(`${relay.name}: ${report.failures} streams failed, ${report.tokens} tokens of ${streams * length}.`)
  return { ...report, cpuUs: after.cpuUs - before.cpuUs, peakBytes: after.peakRssBytes }
}

/** Figures compared with the baseline: all CPU of a token over that of the bare relay. */
function noteFigures(all: readonly Figures[], growth = Number.NaN, stopMs = Number.NaN): void {
  const bare = all.find(({ name }) => name === 'bare')
  for (const { name, usPerToken } of all)
    if (bare && name !== 'bare') note(`relay, ${name}: CPU of a token over bare`, usPerToken / bare.usPerToken)
  note('relay, inlay: a token of a long answer over one of half its length', growth)
  note('relay, inlay: slowest stop, ms', stopMs)
}

/** Absolute figures for the table of speed. In a quick run the differences among them may be below 0. */
function noteAbsolute(all: readonly Figures[], slowBytes: number | undefined): void {
  if (options.quick) return
  const most = Math.max(...streamCounts)
  for (const { name, streams, split, p50, peakBytes, idleBytes } of all) {
    if (streams === 1) note(`relay, ${name}: µs CPU of a token, one stream`, split.usPerToken)
    if (streams !== most) continue
    note(`relay, ${name}: µs CPU of a token, most streams`, split.usPerToken)
    note(`relay, ${name}: ms CPU of a run`, split.msPerRun)
    note(`relay, ${name}: ms until the first token, p50`, p50)
    note(`relay, ${name}: MB above idle`, (peakBytes - idleBytes) / 2 ** 20)
    note(`relay, ${name}: MB when idle`, idleBytes / 2 ** 20)
  }
  if (slowBytes !== undefined) note('relay, inlay: MB that slow readers take', slowBytes / 2 ** 20)
}

/** Short and long answers of each relay: one relay after the other, the next round the other way round. */
async function compare(relays: readonly Relay[], streams: number): Promise<readonly Figures[]> {
  const long = new Map<string, Measured[]>(relays.map(({ name }) => [name, []]))
  const short = new Map<string, Measured[]>(relays.map(({ name }) => [name, []]))
  const once = async (relay: Relay): Promise<void> => {
    short.get(relay.name)?.push(await measure(relay, { streams, length: shortTokens, paceMs: delayMs }))
    long.get(relay.name)?.push(await measure(relay, { streams, length: tokens, paceMs: delayMs }))
  }
  const times = streams === Math.max(...streamCounts) ? rounds : 1
  for (let round = 0; round < times; round++) {
    // A single stream loads nothing: all relays have theirs at the same time.
    if (streams === 1) await Promise.all(relays.map(once))
    else for (const relay of round % 2 === 0 ? relays : relays.toReversed()) await once(relay)
  }
  const figures = relays.map(({ name, idleBytes }) =>
    toFigures({ name, idleBytes, streams, tokens, delayMs, shortTokens }, long.get(name) ?? [], short.get(name) ?? []),
  )
  printComparison(figures, `${streams} streams × ${tokens} tokens at ${delayMs} ms`)
  return figures
}

function titleOfCurves(): string {
  const date = new Date().toISOString().slice(0, 10)
  const load = (loadavg()[0] ?? 0).toFixed(1)
  return `Answers of ${tokens} tokens, ${delayMs} ms apart (${date}, ${availableParallelism()} cores, load ${load})`
}

/** One answer said as fast as it is taken, in two lengths: twice the length should cost twice as much. */
async function compareLong(relays: readonly Relay[]): Promise<LongFigures | undefined> {
  console.log(`\none answer of ${longTokens} tokens, unpaced: total ms, µs CPU per token; and of half its length`)
  let long: LongFigures | undefined
  for (const relay of relays) {
    const [whole, half] = [[] as Measured[], [] as Measured[]]
    for (let round = 0; round < (options.quick ? 1 : 3); round++) {
      half.push(await measure(relay, { streams: 1, length: longTokens / 2, paceMs: 0 }))
      whole.push(await measure(relay, { streams: 1, length: longTokens, paceMs: 0 }))
    }
    const own = printLong(relay.name, { tokens: longTokens, whole, half })
    note(`relay, ${relay.name}: µs CPU of a token of a long answer`, own.usPerToken)
    if (relay.name === 'inlay') long = own
  }
  return long
}

/** Bytes that slow readers make Inlay hold, above those before. */
async function measureSlow(relay: Relay): Promise<number> {
  const { rssBytes } = await ask<RelayFigures>(relay.child, {})
  const length = options.quick ? 500 : 5_000
  const { peakBytes } = await measure(relay, { streams: slowReaders, length, paceMs: 0, restMs: 100 })
  console.log(
    `\n${slowReaders} slow readers of ${length} tokens: ${Math.round((peakBytes - rssBytes) / 2 ** 20)} MB more`,
  )
  return peakBytes - rssBytes
}

try {
  const model = await startServer('model')
  const relays: Relay[] = []
  for (const name of options.relays.split(',')) {
    const served = await startServer('relays', [name, String(model.port)])
    const relay = { name, idleBytes: 0, client: start('load'), ...served }
    relays.push(relay)
    // Code is loaded and compiled, pools are filled: what follows is the cost of use.
    for (let warm = 0; warm < (options.quick ? 1 : 3); warm++)
      await measure(relay, { streams: 20, length: 40, paceMs: 5 })
    await new Promise((resolve) => setTimeout(resolve, 500))
    relay.idleBytes = (await ask<RelayFigures>(relay.child, {})).rssBytes
    console.log(`${name}: ${Math.round(relay.idleBytes / 2 ** 20)} MB when idle`)
  }
  // Some 8 s after it was last busy, V8 compacts a heap once. A relay that began late would pay for it in its first load.
  // Memory when idle is that of just before, so that a light load may need less.
  if (!options.quick) await new Promise((resolve) => setTimeout(resolve, 10_000))
  let figures: readonly Figures[] = []
  const measured: Figures[] = []
  for (const streams of streamCounts) measured.push(...(figures = await compare(relays, streams)))
  if (options.curves) writeFileSync(options.curves, toCurves(measured, titleOfCurves()))
  const long = longTokens > 0 ? await compareLong(relays) : undefined
  const inlay = relays.find(({ name }) => name === 'inlay')
  const slowBytes = inlay && slowReaders > 0 ? await measureSlow(inlay) : undefined
  const stopMs = inlay && (await measureStops(inlay.port, options.quick ? 3 : 20, key))
  printBars(measured, { long, slowBytes, stopMs })
  noteFigures(figures, long?.growth, stopMs)
  noteAbsolute(measured, slowBytes)
} finally {
  for (const child of children) if (child.connected) child.disconnect()
}
