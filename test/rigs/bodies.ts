/**
 * Sends large documents one at a time, and measures what others notice meanwhile: the longest block of the event loop of
 * the assistant, the slowest `/health`, and the memory. Each is accepted, indexed, sent again unchanged, updated and
 * deleted.
 *
 *   npm run -w test/rigs bench:bodies [-- --mebibytes 8,32,95,127] [--kinds prose,sections,CJK,brackets,escapes] [--quick]
 *
 * The assistant is a process of its own, and so is what asks for `/health`. A document of 127 MiB takes about a minute.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { leaveOut, note } from '../bench/figures.ts'
import { startFixture } from './walk/fixture.ts'
import { zipfText } from '../bench/zipf-text.ts'

const { values: options } = parseArgs({
  options: {
    mebibytes: { type: 'string' },
    kinds: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const sizes = (options.mebibytes ?? (options.quick ? '1' : '8,32,95,127')).split(',').map(Number)
const wantedKinds = (options.kinds ?? (options.quick ? 'prose,CJK' : 'prose,sections,CJK,brackets,escapes')).split(',')
const { text } = zipfText(9, 20_000)
const prose = Array.from({ length: 40 }, () => `${text(120)}.\\n\\n`).join('')
/** A piece of JSON text that is repeated, and how many of them go into one section; Infinity for all. */
const kinds: Readonly<Record<string, readonly [piece: string, perSection: number]>> = {
  prose: [prose, Infinity],
  sections: [`${text(600)}.`, 1],
  CJK: ['漢字仮名交じり文。'.repeat(400), Infinity],
  brackets: ['['.repeat(10_000), Infinity],
  escapes: ['\\u0061\\"\\ud83d\\ude00'.repeat(400), Infinity],
}

/** The body of a document of so many bytes, as UTF-8. */
function bodyOf(id: string, kind: string, bytes: number, title: string): Buffer {
  const [piece, perSection] = kinds[kind]!
  const count = Math.floor((bytes - 1000) / (Buffer.byteLength(piece) + (perSection === 1 ? 12 : 0)))
  const texts = perSection === 1 ? Array<string>(count).fill(piece).join('"},{"text":"') : piece.repeat(count)
  const head = JSON.stringify({ id, semantic_identifier: title, metadata: { kind } }).slice(0, -1)
  return Buffer.from(`{"document":${head},"sections":[{"text":"${texts}"}]}}`)
}

const fixture = await startFixture()
const prober = fork(join(import.meta.dirname, 'flood/health-prober.ts'), [fixture.base])
try {
  // The first document loads the index.
  await fixture.call('POST', '/service-api/ingestion', bodyOf('first', 'prose', 20_000, 'First'))
  await fixture.whenIdle()
  console.log('                            ms   longest block   /health max   resident MB')
  if (options.quick) leaveOut('bodies of more than 1 MiB, and three of the kinds')
  for (const kind of wantedKinds) for (const mebibytes of sizes) await measure(kind, mebibytes)
} finally {
  prober.disconnect()
  await fixture.close()
}

async function measure(kind: string, mebibytes: number): Promise<void> {
  const { call, whenIdle } = fixture
  const id = `${kind}-${mebibytes}`
  const body = bodyOf(id, kind, mebibytes * 2 ** 20, 'First')
  const post = (bytes: Buffer): Promise<string> => call('POST', '/service-api/ingestion', bytes)
  console.log(`${kind}, ${mebibytes} MiB`)
  await during('accept', () => post(body))
  await during('index', whenIdle)
  await during('send again', () => post(body))
  await during('update', () => post(bodyOf(id, kind, mebibytes * 2 ** 20, 'Second')))
  await during('index', whenIdle)
  await during('delete', async () => {
    await call('DELETE', `/service-api/ingestion/${id}`)
    await delay(options.quick ? 500 : 5000)
  })
}

async function during(name: string, work: () => Promise<unknown>): Promise<void> {
  await delay(200)
  prober.send('begin')
  await fixture.longestBlockMs()
  const start = performance.now()
  await work()
  const ms = performance.now() - start
  const blockMs = await fixture.longestBlockMs()
  prober.send('end')
  const [{ slowestMs }] = (await once(prober, 'message')) as [{ slowestMs: number }]
  note(`bodies, ${name}, longest block, ms`, blockMs)
  note(`bodies, ${name}, slowest health, ms`, slowestMs)
  const cell = (value: number): string => value.toFixed(0).padStart(13)
  const megabytes = (await fixture.residentBytes()) / 2 ** 20
  console.log(`  ${name.padEnd(14)} ${cell(ms)} ${cell(blockMs)} ${cell(slowestMs)} ${cell(megabytes)}`)
}
