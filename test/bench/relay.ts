/**
 * Measures what it costs to pass a model's tokens on: a bare `node:http` relay, plain Mastra, the AI SDK and Inlay in
 * front of one local model, alternated, each in a process of its own like the model and the clients.
 *
 *   node --conditions=@inlay/source test/bench/relay.ts [--relays bare,mastra,ai,inlay] [--streams 1,50,200]
 *     [--tokens 600] [--delay 40] [--rounds 1] [--long 40000]
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import type { LoadOrder, LoadReport } from './relay/load.ts'
import type { RelayFigures } from './relay/relays.ts'
import { percentile } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    relays: { type: 'string', default: 'bare,mastra,ai,inlay' },
    streams: { type: 'string', default: '1,50,200' },
    tokens: { type: 'string', default: '600' },
    delay: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '1' },
    /** Tokens of one answer said at once; 0 leaves it out. */
    long: { type: 'string', default: '40000' },
  },
})
const names = options.relays.split(',')
const tokens = Number(options.tokens)
const delayMs = Number(options.delay)
/** A short answer beside the long one parts what a token costs from what a run costs. */
const shortTokens = Math.max(1, Math.round(tokens / 6))

interface Relay {
  readonly name: string
  readonly child: ChildProcess
  readonly port: number
  idleBytes: number
}

/** One load on one relay. */
interface Measured extends LoadReport {
  readonly cpuUs: number
  readonly peakBytes: number
}

const children: ChildProcess[] = []

async function start(file: string, args: readonly string[] = []): Promise<{ child: ChildProcess; port: number }> {
  const env = { ...process.env, MASTRA_TELEMETRY_DISABLED: '1', LANCEDB_LOG: 'error', NODE_ENV: 'production' }
  const child = fork(new URL(`relay/${file}.ts`, import.meta.url), args, {
    env,
    execArgv: [...process.execArgv, ...(process.env['BENCH_RELAY_FLAGS']?.split(' ') ?? [])],
  })
  children.push(child)
  const [{ port }] = file === 'load' ? [{ port: 0 }] : await once(child, 'message')
  return { child, port }
}

async function ask<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  const answered = once(child, 'message')
  child.send(message)
  // Each child answers a message with one of its own.
  return (await answered)[0] as Answer
}

function orderFor({ name, port }: Relay, streams: number, model: string): LoadOrder {
  if (name !== 'inlay') return { port, streams, path: '/', body: JSON.stringify({ model }) }
  const body = { message: 'go', llm_override: { model_provider: 'bench', model_version: model } }
  return { port, streams, path: '/api/chat/send-chat-message', body: JSON.stringify(body) }
}

async function measure(client: ChildProcess, relay: Relay, streams: number, model: string): Promise<Measured> {
  const before = await ask<RelayFigures>(relay.child, {})
  const report = await ask<LoadReport>(client, orderFor(relay, streams, model))
  const after = await ask<RelayFigures>(relay.child, {})
  const expected = streams * Number(model.split('x')[0])
  if (report.failures > 0 || report.tokens !== expected)
    throw new Error(`${relay.name}: ${report.failures} streams failed, ${report.tokens} of ${expected} tokens came.`)
  return { ...report, cpuUs: after.cpuUs - before.cpuUs, peakBytes: after.peakRssBytes }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`
const cell = (value: number, digits = 0): string => value.toFixed(digits).padStart(9)
const median = (values: readonly number[]): number =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  )

/** Figures of one load, several rounds of it: the median of each. */
function summarize(rounds: readonly Measured[], streams: number, each: number) {
  const of = (figure: (one: Measured) => number): number => median(rounds.map(figure))
  const first = (share: number): number =>
    of(({ firstTokens }) =>
      percentile(
        [...firstTokens].sort((a, b) => a - b),
        share,
      ),
    )
  return {
    p50: first(0.5),
    p95: first(0.95),
    usPerToken: of(({ cpuUs }) => cpuUs / streams / each),
    msPerRun: of(({ cpuUs }) => cpuUs / streams / 1000),
    peakBytes: Math.max(...rounds.map(({ peakBytes }) => peakBytes)),
    totalMs: of(({ totalMs }) => totalMs),
  }
}

async function compare(client: ChildProcess, relays: readonly Relay[], streams: number): Promise<void> {
  const long = new Map<string, Measured[]>(relays.map(({ name }) => [name, []]))
  const short = new Map<string, Measured[]>(relays.map(({ name }) => [name, []]))
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const relay of round % 2 === 0 ? relays : relays.toReversed()) {
      short.get(relay.name)?.push(await measure(client, relay, streams, `${shortTokens}x${delayMs}`))
      long.get(relay.name)?.push(await measure(client, relay, streams, `${tokens}x${delayMs}`))
    }
  }
  console.log(`\n${streams} streams × ${tokens} tokens at ${delayMs} ms`)
  console.log(
    '            first p50  first p95  µs/token   × bare  | split: µs/token  × bare   ms/run | peak RSS  above idle',
  )
  const figures = relays.map((relay) => {
    const whole = summarize(long.get(relay.name) ?? [], streams, tokens)
    const brief = summarize(short.get(relay.name) ?? [], streams, shortTokens)
    const usPerToken = ((whole.msPerRun - brief.msPerRun) * 1000) / (tokens - shortTokens)
    const msPerRun = brief.msPerRun - (usPerToken * shortTokens) / 1000
    return { relay, ...whole, split: { usPerToken, msPerRun } }
  })
  const bare = figures.find(({ relay }) => relay.name === 'bare')
  for (const { relay, p50, p95, usPerToken, split, peakBytes } of figures) {
    const times = (own: number, other: number | undefined): string =>
      (other ? (own / other).toFixed(2) : '-').padStart(9)
    console.log(
      `${relay.name.padEnd(10)} ${cell(p50)}  ${cell(p95)} ${cell(usPerToken, 1)}${times(usPerToken, bare?.usPerToken)}  |       ` +
        `${cell(split.usPerToken, 1)}${times(split.usPerToken, bare?.split.usPerToken)}${cell(split.msPerRun, 2)} | ` +
        `${megabytes(peakBytes).padStart(8)}  ${megabytes(peakBytes - relay.idleBytes)}`,
    )
  }
}

/** One answer said as fast as it is taken, in two lengths: twice the length should cost twice as much. */
async function compareLong(client: ChildProcess, relays: readonly Relay[], length: number): Promise<void> {
  console.log(`\none answer of ${length} tokens, unpaced: total ms, µs CPU per token; and of half its length`)
  for (const relay of relays) {
    const [whole, half] = [[] as Measured[], [] as Measured[]]
    for (let round = 0; round < 3; round++) {
      half.push(await measure(client, relay, 1, `${length / 2}x0`))
      whole.push(await measure(client, relay, 1, `${length}x0`))
    }
    const [of, ofHalf] = [summarize(whole, 1, length), summarize(half, 1, length / 2)]
    console.log(
      `${relay.name.padEnd(10)} ${cell(of.totalMs)} ${cell(of.usPerToken, 2)}   half: ${cell(ofHalf.totalMs)} ${cell(ofHalf.usPerToken, 2)}` +
        `   peak ${megabytes(of.peakBytes)}`,
    )
  }
}

try {
  const model = await start('model')
  const { child: client } = await start('load')
  const relays: Relay[] = []
  for (const name of names) {
    const relay = { name, idleBytes: 0, ...(await start('relays', [name, String(model.port)])) }
    relays.push(relay)
    // Code is loaded and compiled, pools are filled: what follows is the cost of use.
    for (let warm = 0; warm < 3; warm++) await measure(client, relay, 20, '40x5')
    await new Promise((resolve) => setTimeout(resolve, 500))
    relay.idleBytes = (await ask<RelayFigures>(relay.child, {})).rssBytes
    console.log(`${name}: ${megabytes(relay.idleBytes)} when idle`)
  }
  for (const streams of options.streams.split(',').filter(Boolean)) await compare(client, relays, Number(streams))
  if (Number(options.long) > 0) await compareLong(client, relays, Number(options.long))
} finally {
  for (const child of children) child.disconnect()
}
