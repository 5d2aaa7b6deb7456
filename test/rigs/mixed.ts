/**
 * A day at the office: 100 people talk to an assistant with a scripted model (70 % chat, 20 % with a search, 8 % several
 * tools, 2 % research), while documents come in. No turn may fail; memory, handles and disk stay the same once it is
 * warm; `/health` answers within 50 ms in 99 of 100 cases.
 *
 *   npm run -w test/rigs bench:mixed [-- --minutes 30] [--people 100] [--break 4000] [--quick]
 *
 * The assistant is `inlay serve` in a separate process; people, model and documents come from this one. Linux only.
 */
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { startAssistant, type Assistant, type Occupied } from './mixed/assistant.ts'
import { startScriptedModel } from './mixed/model.ts'
import { person, type Turn } from './mixed/people.ts'
import { leaveOut, note } from '../bench/figures.ts'
import { percentile, timesLine } from '../bench/timing.ts'
import { zipfText } from '../bench/zipf-text.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string' },
    people: { type: 'string' },
    break: { type: 'string' },
    /** Ten seconds of ten people: no turn may fail, and no bar of growth or time is held. */
    quick: { type: 'boolean', default: false },
  },
})
const lengthMs = Number(options.minutes ?? (options.quick ? 1 / 6 : 30)) * 60_000
const people = Number(options.people ?? (options.quick ? 10 : 100))
const breakMs = Number(options.break ?? (options.quick ? 200 : 4000))
/** The first third, at most ten minutes, warms it up. */
const warmMs = Math.min(600_000, lengthMs / 3)
const documents = options.quick ? 25 : 500
const sampleMs = options.quick ? 500 : 5_000
const ingestedPerSecond = 2

interface Sample extends Occupied {
  readonly at: number
}

interface Health {
  readonly at: number
  readonly ms: number
}

const model = await startScriptedModel()
const assistant = await startAssistant(`${model.origin}/v1`)
try {
  process.exitCode = (await run(assistant)) ? 0 : 1
} finally {
  await assistant.close()
  await model.close()
}

async function run(assistant: Assistant): Promise<boolean> {
  const { text } = zipfText(11, 20_000)
  for (let at = 0; at < documents; at++) await ingest(assistant, at, text(300))
  const begun = Date.now()
  const until = begun + lengthMs
  const [turns, health, samples]: [Turn[], Health[], Sample[]] = [[], [], []]
  const failures: string[] = []
  const keys = await Promise.all(Array.from({ length: people }, () => newKey(assistant)))
  await Promise.all([
    ...keys.map((key, seed) =>
      person({ base: assistant.base, key }, { seed, until, breakMs, onTurn: (turn) => turns.push(turn) }).catch(
        (error: unknown) => failures.push(String(error)),
      ),
    ),
    // The same documents again and again, each time with another text.
    each(1_000 / ingestedPerSecond, until, async () => {
      await ingest(assistant, Math.floor(Math.random() * documents), text(300)).catch((error: unknown) =>
        failures.push(String(error)),
      )
    }),
    each(100, until, async () => {
      const sentAt = performance.now()
      const reply = await fetch(`${assistant.base}/health`)
      await reply.text()
      health.push({ at: Date.now() - begun, ms: performance.now() - sentAt })
    }),
    each(sampleMs, until, async () => {
      samples.push({ at: Date.now() - begun, ...assistant.occupied() })
    }),
    each(60_000, until, async () => say(begun, turns, samples, health)),
  ])
  failures.push(...turns.flatMap(({ failure }) => failure ?? []))
  return report(turns, health, samples, failures)
}

async function each(everyMs: number, until: number, work: () => Promise<void>): Promise<void> {
  for (let next = Date.now(); next < until; next += everyMs) {
    await delay(Math.max(0, next - Date.now()))
    await work()
  }
}

async function call({ base, key }: Assistant, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await reply.text()
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${answer.slice(0, 200)}`)
  return answer
}

async function ingest(assistant: Assistant, at: number, text: string): Promise<void> {
  const id = `document ${at}`
  const document = { id, semantic_identifier: id, source: 'file', metadata: {}, sections: [{ text }] }
  await call(assistant, '/service-api/ingestion', { document })
}

async function newKey(assistant: Assistant): Promise<string> {
  const { api_key: key } = JSON.parse(await call(assistant, '/admin/api-key', { scopes: ['chat'] })) as {
    api_key: string
  }
  return key
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`
}

function p99Of(health: readonly Health[], from: number): number {
  const times = health.filter(({ at }) => at > from).map(({ ms }) => ms)
  return percentile(
    times.toSorted((a, b) => a - b),
    0.99,
  )
}

function say(begun: number, turns: readonly Turn[], samples: readonly Sample[], health: readonly Health[]): void {
  const last = samples.at(-1)
  const slowest = p99Of(health, Date.now() - begun - 60_000)
  const failed = turns.filter(({ failure }) => failure !== undefined).length
  if (last)
    console.error(
      `${Math.round((Date.now() - begun) / 60_000)} min: ${turns.length} turns, ${failed} failed, ${mega(last.memory)}, ${last.handles} handles ${JSON.stringify(last.kinds)}, ${mega(last.disk)} on disk, /health p99 ${slowest.toFixed(0)} ms`,
    )
}

/** Whether every bar was met. */
function report(
  turns: readonly Turn[],
  health: readonly Health[],
  samples: readonly Sample[],
  failures: readonly string[],
): boolean {
  for (const kind of new Set(turns.map(({ kind }) => kind))) {
    const times = turns.filter((turn) => turn.kind === kind).map(({ ms }) => ms)
    console.log(
      timesLine(
        `${kind}, ${times.length} turns`,
        times.toSorted((a, b) => a - b),
      ),
    )
  }
  const p99 = p99Of(health, warmMs)
  console.log(`failures: ${failures.length} (at most 0)`)
  for (const failure of new Set(failures.slice(0, 10))) console.log(`  ${failure}`)
  console.log(`/health p99: ${p99.toFixed(1)} ms (at most 50)`)
  const warm = samples.filter(({ at }) => at >= warmMs)
  const isFlat = [
    growth('memory', warm, ({ memory }) => memory, 0.05),
    growth('handles', warm, ({ handles }) => handles, 0.05),
    growth('disk', warm, ({ disk }) => disk, 0.05),
  ]
  note('mixed, turns', turns.length)
  note('mixed, health p99, ms', p99)
  if (options.quick) leaveOut('the bars of growth and of /health: ten seconds tell nothing of them')
  if (options.quick) return failures.length === 0
  return failures.length === 0 && p99 <= 50 && isFlat.every(Boolean)
}

/** Compares the median of the last third with that of the first, once warm: peaks come and go with upkeep and collections. */
function growth(name: string, samples: readonly Sample[], of: (sample: Sample) => number, most: number): boolean {
  const third = Math.ceil(samples.length / 3)
  const median = (part: readonly Sample[]): number =>
    percentile(
      part.map(of).toSorted((a, b) => a - b),
      0.5,
    )
  const [first, last] = [median(samples.slice(0, third)), median(samples.slice(-third))]
  const share = last / first - 1
  const shown = (value: number): string => (name === 'handles' ? String(value) : mega(value))
  console.log(`${name}: ${shown(first)} -> ${shown(last)}, ${(share * 100).toFixed(1)} % (at most ${most * 100})`)
  return share <= most
}
