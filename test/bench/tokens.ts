/**
 * Tokens that are sent to a model for a first question, follow-ups and a deep research over the project's own docs, and
 * how much of a prompt stood at the beginning of the one before, where providers find it in their caches. The model is
 * scripted: it searches once a turn and cites the first result. Tokens are estimated, four characters of English each.
 *
 * `npm run bench:tokens`; `-- --quick` takes two questions in one window.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay } from 'inlay'
import { note } from './figures.ts'
import type { RecordedRequest, Reply, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'

const isQuick = process.argv.includes('--quick')
const questions = [
  'How do I back up the data folder?',
  'And how is it restored?',
  'Which file formats can be ingested?',
  'Can a document be deleted while it is indexed?',
  'What does that cost?',
].slice(0, isQuick ? 2 : Infinity)
const headers = { authorization: 'Bearer the-key-of-the-bench', prefer: 'wait=60' }

async function measure(contextTokens: number): Promise<void> {
  const server = await startOpenAi(reply)
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-tokens-'))
  const model = { name: 'm-1', baseUrl: `${server.origin}/v1`, contextTokens, grounding: 'tools' } as const
  const inlay = createInlay({ dataFolder, apiKey: 'the-key-of-the-bench', model })
  try {
    await ingestDocs(inlay)
    console.log(`\nwindow of ${contextTokens} tokens`)
    await measureTurns(inlay, server)
    const before = server.requests.length
    await post(inlay, '/chat/send-chat-message', { message: questions[0], stream: false, deep_research: true })
    const research = server.requests.slice(before)
    const sum = research.map(textOf).reduce((total, text) => total + tokensOf(text), 0)
    note('tokens, research', sum)
    console.log(`  research: ${research.length} calls of the model, ${sum} tokens`)
  } finally {
    await inlay.close()
    await server.close()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

async function measureTurns(inlay: Inlay, server: StandIn): Promise<void> {
  const session = (await (await post(inlay, '/chat/create-chat-session', {})).json()) as { chat_session_id: string }
  let parent: number | null = null
  for (const [turn, message] of questions.entries()) {
    const before = server.requests.length
    const sent = { ...session, message, stream: false, parent_message_id: parent }
    const answer = (await (await post(inlay, '/chat/send-chat-message', sent)).json()) as { message_id: number }
    parent = answer.message_id
    const prompts = server.requests.slice(before).map(textOf)
    const last = server.requests[before - 1]
    const shared = last ? sharedLength(textOf(last), prompts[0] ?? '') / (prompts[0]?.length ?? 1) : 0
    const within = sharedLength(prompts[0] ?? '', prompts[1] ?? '') / (prompts[1]?.length ?? 1)
    const sizes = prompts.map(tokensOf)
    const sum = sizes.reduce((total, size) => total + size, 0)
    note(`tokens, turn ${turn + 1}`, sum)
    note(`model calls, turn ${turn + 1}`, sizes.length)
    console.log(
      `  turn ${turn + 1}: ${sizes.length} calls, ${sizes.join(' + ')} = ${sum} tokens; of its first prompt ${percent(shared)} stood in the last of the ` +
        `turn before, of its second ${percent(within)} in its first`,
    )
  }
}

/** The cacheable parts of a prompt, in the order of a provider. */
function textOf({ body }: RecordedRequest): string {
  const messages = body['messages'] as readonly unknown[]
  return [body['tools'] ?? [], ...messages].map((part) => JSON.stringify(part)).join('\n')
}

const tokensOf = (text: string): number => Math.round(text.length / 4)
const percent = (share: number): string => `${Math.round(share * 100)} %`

function sharedLength(before: string, after: string): number {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  return at
}

/** Searches with the newest question, then answers; follows the steps of a research. */
function reply({ body }: RecordedRequest): Reply {
  const messages = body['messages'] as readonly { readonly role: string; readonly content?: unknown }[]
  const offered = JSON.stringify(body['tools'] ?? [])
  const isReminder = (content: unknown): boolean => JSON.stringify(content ?? '').startsWith('"Instructions')
  const lastUser = messages.findLastIndex(({ role, content }) => role === 'user' && !isReminder(content))
  const question = JSON.stringify(messages[lastUser]?.content ?? '').slice(0, 200)
  const hasResults = messages.slice(lastUser).some(({ role }) => role === 'tool')
  if (JSON.stringify(messages[0]).includes('You prepare a search')) return [{ text: '{}' }]
  const call = (name: string, input: object): Reply => [{ calls: [{ id: `c${messages.length}`, name, input }] }]
  if (offered.includes('generate_plan')) return call('generate_plan', {})
  if (offered.includes('generate_report') && JSON.stringify(messages).includes('"role":"tool"'))
    return call('generate_report', {})
  if (offered.includes('research_agent')) return call('research_agent', { task: questions[0] })
  if (hasResults || !offered.includes('internal_search')) return [{ text: 'It is told in the documents. [1]' }]
  return call('internal_search', { queries: [question] })
}

async function ingestDocs(inlay: Inlay): Promise<void> {
  const folder = join(import.meta.dirname, '../../docs')
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.md'))
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8')
    const document = { id: file, semantic_identifier: file, sections: [{ text }], source: 'file', metadata: {} }
    await post(inlay, '/service-api/ingestion', { document })
  }
}

const post = (inlay: Inlay, path: string, body: object): Promise<Response> =>
  inlay.fetch(new Request(`http://host.example/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))

for (const contextTokens of isQuick ? [32_000] : [8_192, 32_000, 128_000]) await measure(contextTokens)
