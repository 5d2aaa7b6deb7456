/** Results of the relay measurements, and whether they hold the bars. */
import { percentile } from '../timing.ts'
import type { LoadReport } from './load.ts'

/** One load on one relay. */
export interface Measured extends LoadReport {
  /** User and system time of the relay's process, in microseconds. */
  readonly cpuUs: number
  readonly peakBytes: number
}

/** Which load was measured. */
export interface Load {
  readonly name: string
  /** Memory of the warm relay before the load. */
  readonly idleBytes: number
  readonly streams: number
  readonly tokens: number
  readonly delayMs: number
  readonly shortTokens: number
}

/** Figures of one relay under one load: medians over the rounds. */
export interface Figures extends Load {
  /** First tokens, in milliseconds from the start of their streams. */
  readonly p50: number
  readonly p95: number
  /** All CPU time over all tokens. */
  readonly usPerToken: number
  /** Cost of one more token, without the fixed cost of a run. */
  readonly split: { readonly usPerToken: number; readonly msPerRun: number }
  readonly peakBytes: number
  /** Time of the load over the time its tokens were given; well above 1 when the machine was saturated. */
  readonly stretch: number
}

const byValue = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)
const medianOf = (rounds: readonly Measured[], figure: (item: Measured) => number): number =>
  percentile(byValue(rounds.map(figure)), 0.5)

/** Makes the figures of the long answers and, beside them, the short ones. */
export function toFigures(load: Load, long: readonly Measured[], short: readonly Measured[]): Figures {
  const { streams, tokens, shortTokens, delayMs } = load
  const runMs = (rounds: readonly Measured[]): number => medianOf(rounds, ({ cpuUs }) => cpuUs / streams / 1000)
  const first = (share: number): number => medianOf(long, ({ firstTokens }) => percentile(byValue(firstTokens), share))
  const usPerToken = ((runMs(long) - runMs(short)) * 1000) / (tokens - shortTokens)
  return {
    ...load,
    p50: first(0.5),
    p95: first(0.95),
    usPerToken: (runMs(long) * 1000) / tokens,
    split: { usPerToken, msPerRun: runMs(short) - (usPerToken * shortTokens) / 1000 },
    peakBytes: Math.max(...long.map(({ peakBytes }) => peakBytes)),
    stretch: medianOf(long, ({ totalMs }) => totalMs) / (tokens * delayMs),
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`
const cell = (value: number, digits = 0): string => value.toFixed(digits).padStart(9)
const times = (own: number, other: number | undefined): string => (other ? (own / other).toFixed(2) : '-').padStart(9)

/** Prints a row for each relay. */
export function printComparison(all: readonly Figures[], title: string): void {
  console.log(`\n${title}`)
  console.log(
    '            first p50  first p95  µs/token   × bare  | split: µs/token  × bare   ms/run | peak RSS  above idle',
  )
  const bare = all.find(({ name }) => name === 'bare')
  for (const { name, p50, p95, usPerToken, split, peakBytes, idleBytes, stretch } of all) {
    console.log(
      `${name.padEnd(10)} ${cell(p50)}  ${cell(p95)} ${cell(usPerToken, 1)}${times(usPerToken, bare?.usPerToken)}  |       ` +
        `${cell(split.usPerToken, 1)}${times(split.usPerToken, bare?.split.usPerToken)}${cell(split.msPerRun, 2)} | ` +
        `${megabytes(peakBytes).padStart(8)}  ${megabytes(peakBytes - idleBytes)}` +
        (isSaturated(stretch) ? '   (the machine was saturated: these figures say little)' : ''),
    )
  }
}

const isSaturated = (stretch: number): boolean => stretch > 1.15

/** Cost of a token of an answer that is sent at once. */
export interface LongFigures {
  readonly usPerToken: number
  /** How it compares with a token of an answer of half the length: 1 when the cost is linear. */
  readonly growth: number
}

/** Prints one long answer beside one of half its length. */
export function printLong(
  name: string,
  { tokens, whole, half }: { tokens: number; whole: readonly Measured[]; half: readonly Measured[] },
): LongFigures {
  const us = (rounds: readonly Measured[], length: number): number => medianOf(rounds, ({ cpuUs }) => cpuUs / length)
  const total = (rounds: readonly Measured[]): number => medianOf(rounds, ({ totalMs }) => totalMs)
  const [ofWhole, ofHalf] = [us(whole, tokens), us(half, tokens / 2)]
  console.log(
    `${name.padEnd(10)} ${cell(total(whole))} ${cell(ofWhole, 2)}   half: ${cell(total(half))} ${cell(ofHalf, 2)}` +
      `   peak ${megabytes(Math.max(...whole.map(({ peakBytes }) => peakBytes)))}`,
  )
  return { usPerToken: ofWhole, growth: ofWhole / ofHalf }
}

/** Measurements besides paced streams; undefined: left out. */
export interface BesideStreams {
  readonly long: LongFigures | undefined
  /** Bytes that slow readers make Inlay hold. */
  readonly slowBytes: number | undefined
  /** The slowest stop. */
  readonly stopMs: number | undefined
}

/**
 * Prints what Inlay is held to, by a single stream and the largest number of streams.
 */
export function printBars(all: readonly Figures[], { long, slowBytes, stopMs }: BesideStreams): void {
  const most = Math.max(...all.map(({ streams }) => streams))
  const by = (name: string, streams = most): Figures | undefined =>
    all.find((item) => item.name === name && item.streams === streams)
  const inlay = by('inlay')
  if (!inlay) return
  const overBare = (streams: number): number | undefined => {
    const [own, bare] = [by('inlay', streams), by('bare', streams)]
    return own && bare && own.split.usPerToken / bare.split.usPerToken
  }
  const bars: readonly (readonly [string, number | undefined, number])[] = [
    ['CPU of a token of a single stream, over bare', most === 1 ? undefined : overBare(1), 2],
    ['CPU of a token, over bare', overBare(most), 1.5],
    ['CPU of a run beside it, ms', inlay.split.msPerRun, 2],
    ['first token p50, ms', inlay.p50, 120],
    ['memory above idle, MB', (inlay.peakBytes - inlay.idleBytes) / 2 ** 20, 100],
    ['CPU of a token of the long answer, µs', long?.usPerToken, 5],
    ['a token of the long answer, over one of half its length', long?.growth, 1.25],
    ['memory that slow readers take, MB', slowBytes && slowBytes / 2 ** 20, 60],
    ['slowest stop, ms until the stream has ended', stopMs, 200],
  ]
  console.log(`\nbars, at ${inlay.streams} streams`)
  for (const [what, value, most] of bars) {
    if (value === undefined) continue
    console.log(`${value <= most ? 'holds ' : 'misses'}  ${what}: ${value.toFixed(2)} (at most ${most})`)
  }
}
