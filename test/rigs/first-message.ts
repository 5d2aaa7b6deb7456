/**
 * Measures what the first message of a process costs, and later ones: CPU time, wall time and memory. The index is
 * opened by a search before, so that only the answer counts.
 *
 *   npm run -w test/rigs bench:first-message            Inlay's own loop, with the built-in model
 *   npm run -w test/rigs bench:first-message -- mastra  an agent of Mastra with the same model
 *   --quick asks five questions instead of thirty
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createInlay } from 'inlay'
import { note } from '../bench/figures.ts'
import { mastraGuide } from '../../playground/server/mastra-guide.ts'

const isMastra = process.argv.includes('mastra')
const messages = process.argv.includes('--quick') ? 5 : 30
const apiKey = 'bench-key-of-the-first-message'
const dataFolder = await mkdtemp(join(tmpdir(), 'inlay-first-'))
const inlay = createInlay({ dataFolder, apiKey, agents: [mastraGuide] })
const caller = { id: 'bench', scopes: ['chat', 'admin'] as const }

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const request = new Request(`http://inlay.example/api${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const response = await inlay.fetch(request)
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

async function indexDocument(): Promise<void> {
  const sections = [{ text: 'Employees have 28 days of paid leave a year.', link: 'https://wiki.example/leave' }]
  const document = { id: 'leave', semantic_identifier: 'Leave', sections, metadata: {}, source: 'web' }
  await call('POST', '/service-api/ingestion', { document })
  while ((await inlay.knowledge.figures()).documents.indexed === 0) await delay(20)
  await inlay.knowledge.search({ text: 'leave', caller: { ...caller, scopes: [...caller.scopes] }, limit: 5 })
}

async function ask(personaId: number): Promise<{ readonly cpuMs: number; readonly wallMs: number }> {
  const cpu = process.cpuUsage()
  const began = performance.now()
  const { answer } = (await call('POST', '/chat/send-chat-message', {
    message: 'How many days of paid leave do employees have?',
    stream: false,
    chat_session_info: { persona_id: personaId },
  })) as { readonly answer: string }
  const { user, system } = process.cpuUsage(cpu)
  if (!answer.includes('28 days')) throw new Error(`An answer without its fact: ${answer}`)
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - began }
}

const megabytes = (): number => Math.round(process.memoryUsage.rss() / 2 ** 20)
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

await indexDocument()
const personas = (await call('GET', '/persona')) as readonly { readonly id: number; readonly name: string }[]
const personaId = isMastra ? (personas.find(({ name }) => name === 'Mastra guide')?.id ?? 0) : 0
const before = megabytes()
const first = await ask(personaId)
const afterFirst = megabytes()
const later: Awaited<ReturnType<typeof ask>>[] = []
for (let count = 0; count < messages; count++) later.push(await ask(personaId))

console.log(isMastra ? 'an agent of Mastra' : 'the own loop')
console.log(`first message: ${first.cpuMs.toFixed(0)} ms CPU, ${first.wallMs.toFixed(0)} ms`)
const cpu = median(later.map(({ cpuMs }) => cpuMs))
const wall = median(later.map(({ wallMs }) => wallMs))
console.log(`later messages (median of ${messages}): ${cpu.toFixed(1)} ms CPU, ${wall.toFixed(1)} ms`)
note('first message, ms CPU', first.cpuMs)
note('later messages, ms CPU', cpu)
console.log(`memory: ${before} MB before, ${afterFirst} MB after the first, ${megabytes()} MB after all`)
await inlay.close()
await rm(dataFolder, { recursive: true, force: true })
