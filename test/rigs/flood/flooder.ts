/**
 * One caller who sends everything at once, and again when it has been answered, until told to stop: large bodies that
 * are slow to chunk, searches whose callers leave at once, and a message of megabytes. A separate process, so that
 * whoever measures does not wait for what this one does.
 *
 *   node flooder.ts <address of the API> <key> [documents,searches,messages]
 */
import { setTimeout as delay } from 'node:timers/promises'
import { zipfText } from '../../bench/zipf-text.ts'

const [base = '', key = '', kinds = 'documents,searches,messages'] = process.argv.slice(2)
const { text, word } = zipfText(8, 20_000)
const queries = Array.from({ length: 200 }, () => `${word(5)} ${word(5)}`)
const contents = [
  ['brackets', '['.repeat(2_000_000)],
  ['prose', text(400_000)],
  ['CJK', '漢字仮名交じり文。'.repeat(100_000)],
] as const
// Made once: writing megabytes of JSON for each request would slow the flood down.
const bodies = contents.map(([name, content]) => {
  const document = { id: '{id}', semantic_identifier: name, metadata: {}, sections: [{ text: content }] }
  return [name, JSON.stringify({ document }).split('{id}')] as const
})
const message = JSON.stringify({ message: text(300_000), stream: false })
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const statuses = new Map<string, number>()
let isOver = false

async function send(name: string, path: string, body: string, signal?: AbortSignal): Promise<void> {
  const label = await fetch(`${base}${path}`, { method: 'POST', headers, body, signal }).then(
    async (response) => {
      await response.text().catch(() => {})
      return response.status
    },
    (error: Error) => (signal?.aborted ? 'left' : ((error.cause as { code?: string } | undefined)?.code ?? error.name)),
  )
  statuses.set(`${name}: ${label}`, (statuses.get(`${name}: ${label}`) ?? 0) + 1)
}

async function endless(work: (count: number) => Promise<void>): Promise<void> {
  for (let count = 0; !isOver; count++) {
    await work(count)
    await delay(5)
  }
}

const posts = Array.from({ length: kinds.includes('documents') ? 16 : 0 }, (_, lane) =>
  endless((count) => {
    const [name, parts] = bodies[(lane + count) % bodies.length]!
    return send(`document of ${name}`, '/service-api/ingestion', parts.join(`flood-${lane}-${count}`))
  }),
)
const searches = Array.from({ length: kinds.includes('searches') ? 50 : 0 }, (_, lane) =>
  endless((count) => {
    const query = JSON.stringify({ query: queries[(lane * 7 + count) % queries.length] })
    return send('search, left after 50 ms', '/search', query, AbortSignal.timeout(50))
  }),
)
const messages = kinds.includes('messages')
  ? [endless(() => send('message of 1.5 MB', '/chat/send-chat-message', message))]
  : []

process.on('message', () => (isOver = true))
process.on('disconnect', () => process.exit())
await Promise.all([...posts, ...searches, ...messages])
process.send?.({ statuses: [...statuses].toSorted() })
