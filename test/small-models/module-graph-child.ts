/** Answers one question over documents, and prints which modules were loaded. The argument says whether its model calls tools. */
import { mkdtempSync, rmSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const urls: string[] = []
registerHooks({
  load: (url, context, next) => {
    urls.push(url)
    return next(url, context)
  },
})

const { createInlay } = await import('inlay')
const { scriptedModel } = await import('@inlay/agent/testing')
const model = scriptedModel(({ tools, prompt }) =>
  tools?.some(({ name }) => name === 'internal_search') && !prompt.some(({ role }) => role === 'tool')
    ? [{ call: { name: 'internal_search', input: { queries: ['leave'] } } }]
    : ['It is 25 days [1].'],
)
const resolved = {
  model,
  provider: 'scripted',
  name: 'm-1',
  displayName: 'Scripted',
  contextTokens: 32_000,
  takesImages: false,
  callsTools: process.argv[2] === 'true',
}
const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-modules-'))
const inlay = createInlay({
  dataFolder,
  apiKey: 'the-key-of-the-test',
  model: { resolve: async () => resolved, list: async () => [] },
})
const post = (path: string, body: object): Promise<Response> =>
  inlay.fetch(
    new Request(`http://host.example/api${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer the-key-of-the-test', prefer: 'wait=60' },
      body: JSON.stringify(body),
    }),
  )
const sections = [{ text: 'Everybody gets 25 days of leave.', link: 'https://docs.example/leave' }]
const document = { id: 'leave', semantic_identifier: 'Leave', sections, source: 'web', metadata: {} }
await post('/service-api/ingestion', { document })
const answer = await post('/chat/send-chat-message', { message: 'How many days of leave do I get?', stream: false })
if (!(await answer.text()).includes('25 days')) throw new Error('No answer.')
await inlay.close()
rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
console.log(JSON.stringify(urls))
