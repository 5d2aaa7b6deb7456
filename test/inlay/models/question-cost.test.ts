import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { estimateTokens } from '@inlay/agent/internal/prompt/context-window'
import { expect, onTestFinished, test } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { post, startWithDocuments } from './with-documents.ts'

const folder = join(import.meta.dirname, '../../../docs/1.guide')
const files = readdirSync(folder).filter((file) => file.endsWith('.md'))
const guide = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))

/** Searches with one query of its own, then answers. */
function reply({ body }: RecordedRequest): Reply {
  const messages = body['messages'] as readonly { readonly role: string; readonly content?: string }[]
  // A reminder to cite may follow the results.
  const isQuestion = ({ role, content }: (typeof messages)[number]): boolean =>
    role === 'user' && content?.startsWith('Instructions') !== true
  const question = messages.findLastIndex(isQuestion)
  const hasResults = messages.slice(question).some(({ role }) => role === 'tool')
  if (!body['tools'] || hasResults) return [{ text: 'So it is told. [1]' }]
  return [{ calls: [{ id: `c${messages.length}`, name: 'internal_search', input: { queries: ['backup folder'] } }] }]
}

test('a question costs a model that calls tools two calls and 5,500 tokens, a follow-up one call more at most', async () => {
  const server = await startOpenAi(reply)
  onTestFinished(() => server.close())
  const model = { name: 'gpt-4.1-mini', baseUrl: `${server.origin}/v1`, contextTokens: 32_000 }
  const inlay = await startWithDocuments(guide, { model })
  const ask = async (message: string, session: object): Promise<{ readonly chat_session_id: string }> => {
    const answer = await post(inlay, '/chat/send-chat-message', { message, stream: false, ...session })
    return (await answer.json()) as { readonly chat_session_id: string }
  }

  const { chat_session_id } = await ask('How do I back up the data folder?', {})
  const first = server.requests.map(({ body }) => body)
  expect(first).toHaveLength(2)
  const tokens = first.map(({ messages, tools }) => estimateTokens(JSON.stringify([messages, tools])))
  expect(tokens[0]! + tokens[1]!).toBeLessThanOrEqual(5_500)
  // The results are most of it.
  expect(tokens[1]!).toBeGreaterThan(3_000)

  await ask('And how is it restored?', { chat_session_id })
  await inlay.close()
  expect(server.requests.length).toBeLessThanOrEqual(2 + 3)
})
