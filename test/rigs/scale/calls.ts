import type { ChatSessionDetail } from '@inlay/protocol'
import { eventually } from '../../life/process.ts'
import { apiKey } from './processes.ts'

/** A line of a stream, with when it came. */
export interface Line {
  readonly id: number
  readonly json: string
  readonly at: number
}

const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }

export function call(base: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(base + path, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
}

/** A stream of an answer. */
export interface AnswerStream {
  /** Port of the process that sends it. */
  readonly process: string | null
  readonly lines: readonly Line[]
  /** Resolves with whether the stream came to its own end; never rejects. */
  readonly ended: Promise<boolean>
}

/** Sends a message. @throws when it is not taken, with the response as the cause */
export async function send(base: string, body: object, key?: string): Promise<AnswerStream> {
  const response = await call(base, '/chat/send-chat-message', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
  if (response.status !== 200)
    throw new Error(`send: ${response.status} ${await response.clone().text()}`, { cause: response })
  return follow(response)
}

/** Follows the newest answer of a session after a line. @throws when there is none */
export async function resume(base: string, session: string, cursor = 0): Promise<AnswerStream> {
  const response = await call(base, `/chat/chat-session/${session}/resume-stream?cursor=${cursor}`)
  if (response.status !== 200) throw new Error(`resume: ${response.status} ${await response.text()}`)
  return follow(response)
}

function follow(response: Response): AnswerStream {
  const lines: Line[] = []
  const read = async (): Promise<boolean> => {
    let rest = ''
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (rest + part).split('\n\n')
      rest = events.pop()!
      for (const event of events) {
        const [, id, json] = /^id: (\d+)\ndata: (.*)$/.exec(event) ?? []
        if (id !== undefined) lines.push({ id: Number(id), json: json!, at: performance.now() })
      }
    }
    return /"type":"stop"|"error":/.test(lines.at(-1)?.json ?? '')
  }
  return { process: response.headers.get('x-process'), lines, ended: read().catch(() => false) }
}

/** The session of an answer, once its stream has named it. */
export function sessionOf(stream: AnswerStream): Promise<string> {
  return eventually('the session', async () => /"chat_session_id":"([^"]+)"/.exec(stream.lines[0]?.json ?? '')?.[1])
}

export async function lastMessage(base: string, session: string): Promise<ChatSessionDetail['messages'][number]> {
  const response = await call(base, `/chat/get-chat-session/${session}`)
  return ((await response.json()) as ChatSessionDetail).messages.at(-1)!
}

/** The objects in the lines. */
export function textOf(lines: readonly Line[]): string {
  return lines
    .map(({ json }) => (JSON.parse(json) as { obj?: { type: string; content?: string } }).obj)
    .map((packet) => (packet?.type === 'message_delta' ? packet.content : ''))
    .join('')
}

/** So many words as the model says them. */
export const words = (count: number): string => Array.from({ length: count }, (_, number) => `word${number} `).join('')

export function ingest(base: string, id: string, text: string): Promise<Response> {
  const document = { id, semantic_identifier: id, metadata: {}, sections: [{ text }] }
  return call(base, '/service-api/ingestion', { method: 'POST', body: JSON.stringify({ document }) })
}

/** Ids of the documents whose passages hold the words. */
export async function find(base: string, query: string): Promise<string[]> {
  const response = await call(base, '/search', { method: 'POST', body: JSON.stringify({ query }) })
  if (response.status !== 200) throw new Error(`search: ${response.status} ${await response.text()}`)
  const { results } = (await response.json()) as { results: { title: string; content: string }[] }
  return results.filter(({ content }) => content.includes(query)).map(({ title }) => title)
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}
