/**
 * Counts how much code one warm chat message and one warm document walk through.
 *
 *   npm run bench:hops [-- --list] [--functions] [--quick]
 *
 * Rules of counting:
 * - A function counts when V8's precise coverage (call counts) saw a call of it, it has a name, and it stands in
 *   `packages/<package>/src`. V8 names a function by what it is assigned to. Callbacks without a name and the top level
 *   of modules do not count. Two functions of one name in one file are two.
 * - A file counts when one of its functions was called, named or not.
 * - A message is `POST /chat/send-chat-message` over `inlay.fetch`: streamed, in a new session, answered by the
 *   built-in model after one search, and by a model behind HTTP that calls the search and then answers. It lasts until the body has ended and `quietMs` have passed.
 * - A document is `POST /service-api/ingestion` over `inlay.fetch` with `Prefer: wait`. It lasts until the answer says
 *   that it is indexed and `quietMs` have passed.
 * - Warm: the assistant did the same `warmUps` times before. It is measured `rounds` times, and only what every round
 *   called counts, so upkeep that runs beside one of them does not.
 * All packages count together. `--list` prints the files, `--functions` the functions as well.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createInlay, type Inlay } from 'inlay'
import { startOpenAi } from '../stand-in/openai.ts'
import { note } from './figures.ts'

const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    functions: { type: 'boolean', default: false },
    /** One warm-up and one round: what upkeep calls beside it may count as well. */
    quick: { type: 'boolean', default: false },
  },
})
const warmUps = options.quick ? 1 : 5
const rounds = options.quick ? 1 : 3
const quietMs = 300
const root = join(import.meta.dirname, '../..')

/** Names of called functions by file; a file may have none that is named. */
type Called = ReadonlyMap<string, ReadonlySet<string>>

const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-bench-hops-'))
const apiKey = crypto.randomUUID()
const server = await startOpenAi(({ body }) =>
  JSON.stringify(body['messages']).includes('"role":"tool"')
    ? [{ text: 'So it is told. [1]' }]
    : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['paid leave'] } }] }],
)
const capable = { name: 'gpt-4.1-mini', provider: 'http', baseUrl: `${server.origin}/v1` }
const inlay = createInlay({ dataFolder, apiKey, model: [{ name: 'extractive' }, capable] })
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
try {
  print('one document', await measure(sendDocument))
  print('one message', await measure(sendMessage))
  const override = { model_provider: capable.provider, model_version: capable.name }
  const overHttp = await measure((assistant, count) => sendMessage(assistant, count, { llm_override: override }))
  print('one message, a model behind HTTP', overHttp)
} finally {
  session.disconnect()
  await inlay.close()
  await server.close()
  rmSync(dataFolder, { recursive: true, force: true })
}

async function measure(send: (inlay: Inlay, count: number) => Promise<void>): Promise<Called> {
  for (let count = 0; count < warmUps; count += 1) await send(inlay, count)
  const seen: Called[] = []
  for (let round = 0; round < rounds; round += 1) {
    await delay(quietMs)
    await takeCalled()
    await send(inlay, warmUps + round)
    await delay(quietMs)
    seen.push(await takeCalled())
  }
  return calledInEach(seen)
}

async function sendDocument({ fetch }: Inlay, count: number): Promise<void> {
  const text = `Staff of office ${count} receive ${20 + count} days of paid leave a year. What is left in March is lost.`
  const link = `https://docs.example/leave-${count}`
  const document = {
    id: `leave-${count}`,
    semantic_identifier: `Leave ${count}`,
    metadata: {},
    sections: [{ text, link }],
  }
  const response = await fetch(toRequest('/service-api/ingestion', { document }, { prefer: 'wait=20' }))
  const answer = await response.text()
  if (!response.headers.has('preference-applied')) throw new Error(`The document was not waited for: ${answer}`)
}

async function sendMessage({ fetch }: Inlay, count: number, more: object = {}): Promise<void> {
  const message = `How many days of paid leave do staff of office ${count} receive?`
  const response = await fetch(toRequest('/chat/send-chat-message', { message, ...more }))
  const text = await response.text()
  if (!text.includes('citation_info')) throw new Error(`The message was not answered from documents: ${text}`)
}

function toRequest(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`http://localhost/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** Functions called since the last call. */
async function takeCalled(): Promise<Called> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const called = new Map<string, Set<string>>()
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : ''
    if (!/^packages\/[^/]+\/src\//.test(file)) continue
    const names = functions.filter(isCalled).map(({ functionName, ranges }) => [functionName, ranges[0]] as const)
    if (names.length === 0) continue
    called.set(file, new Set(names.flatMap(([name, range]) => (name === '' ? [] : [`${name}@${range?.startOffset}`]))))
  }
  return called
}

/** Whether a function, not the top level of a module, was called. */
function isCalled({ ranges }: Profiler.FunctionCoverage): boolean {
  return (ranges[0]?.count ?? 0) > 0 && ranges[0]?.startOffset !== 0
}

function calledInEach([first, ...others]: readonly Called[]): Called {
  const kept = [...(first ?? [])].filter(([file]) => others.every((other) => other.has(file)))
  return new Map(
    kept.map(([file, names]) => [
      file,
      new Set([...names].filter((name) => others.every((other) => other.get(file)?.has(name)))),
    ]),
  )
}

function print(title: string, called: Called): void {
  const count = (entries: readonly (readonly [string, ReadonlySet<string>])[]): [number, number] => [
    entries.length,
    entries.reduce((sum, [, names]) => sum + names.size, 0),
  ]
  const entries = [...called].toSorted(([left], [right]) => (left < right ? -1 : 1))
  const [files, functions] = count(entries)
  note(`hops, ${title}, files`, files)
  note(`hops, ${title}, functions`, functions)
  console.log(`\n${title}: ${files} files, ${functions} functions`)
  for (const [name, ofPackage] of Map.groupBy(entries, ([file]) => file.split('/')[1] ?? '')) {
    const [packageFiles, packageFunctions] = count(ofPackage)
    console.log(`  ${name.padEnd(14)} ${String(packageFiles).padStart(4)} ${String(packageFunctions).padStart(5)}`)
    if (!options.list && !options.functions) continue
    for (const [file, names] of ofPackage) {
      console.log(`    ${String(names.size).padStart(4)}  ${file}`)
      if (options.functions) for (const name of names) console.log(`          ${name.split('@')[0]}`)
    }
  }
}
