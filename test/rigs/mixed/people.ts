import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../bench/typos.ts'
import { zipfText } from '../../bench/zipf-text.ts'
import type { Assistant } from './assistant.ts'

/** Activities of people, and how often they do them. */
const mix = [
  ['chat', 0.7],
  ['search', 0.2],
  ['tools', 0.08],
  ['research', 0.02],
] as const

export type Kind = (typeof mix)[number][0]

/** Turns a person takes in a session before it is deleted: what is kept stays the same. */
const turnsInSession = 5

export interface Turn {
  readonly kind: Kind
  readonly ms: number
  /** Why it failed; undefined when it went well. */
  readonly failure: string | undefined
}

/** Talks until `until`, with its own key and a break of `breakMs` on average between turns. */
export async function person(
  { base, key }: Pick<Assistant, 'base' | 'key'>,
  { seed, until, breakMs, onTurn }: { seed: number; until: number; breakMs: number; onTurn(turn: Turn): void },
): Promise<void> {
  const random = seededRandom(seed)
  const { word } = zipfText(seed, 2_000)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/x-ndjson' }
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  // Not all at once.
  await delay(random() * breakMs)
  while (Date.now() < until) {
    const created = await post('/chat/create-chat-session', {})
    const { chat_session_id: session } = (await created.json()) as { chat_session_id: string }
    for (let turn = 0; turn < turnsInSession && Date.now() < until; turn++) {
      const kind = kindOf(random())
      const begun = performance.now()
      const failure = await post('/chat/send-chat-message', {
        chat_session_id: session,
        message: `Please ${kind} about ${word(4)}.`,
        deep_research: kind === 'research',
      })
        .then(failureOf)
        .catch(String)
      onTurn({ kind, ms: performance.now() - begun, failure })
      await delay(random() * 2 * breakMs)
    }
    await fetch(`${base}/chat/delete-chat-session/${session}?hard_delete=true`, { method: 'DELETE', headers })
  }
}

function kindOf(share: number): Kind {
  let sum = 0
  return mix.find(([, part]) => share < (sum += part))?.[0] ?? 'chat'
}

/** A turn succeeded when it was sent to its end, without an error in any packet. */
async function failureOf(response: Response): Promise<string | undefined> {
  const text = await response.text()
  if (response.status !== 200) return `${response.status} ${text.slice(0, 200)}`
  const lines = text.trim().split('\n')
  const error = lines.find((line) => /"type":"error"|^\{"error"/.test(line))
  if (error !== undefined) return error.slice(0, 300)
  return lines.at(-1)?.includes('"type":"stop"') ? undefined : `ended with ${lines.at(-1)?.slice(0, 200)}`
}
