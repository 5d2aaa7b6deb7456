import type { ChatSessionDetail } from '@inlay/protocol'
import { eventually, type Service } from '../process.ts'

/** A line of a stream, with its number. */
export interface NumberedLine {
  readonly id: number
  readonly data: string
}

/** A stream of an answer that is being read. */
export interface ReadStream {
  /** Lines read by now. */
  readonly lines: readonly NumberedLine[]
  /** Resolves with them once a text was read; rejects when the stream ends before. */
  until(text: string): Promise<readonly NumberedLine[]>
  /** Resolves once the stream has ended. */
  readonly ended: Promise<void>
}

const accept = { accept: 'text/event-stream' }

/** Sends a message and reads its answer. */
export async function send(service: Service): Promise<ReadStream & { readonly session: string }> {
  const body = JSON.stringify({ message: 'Go on.' })
  const stream = read(await service.fetch('/chat/send-chat-message', { method: 'POST', body, headers: accept }))
  const [first] = await stream.until('chat_session_id')
  const { chat_session_id: session } = JSON.parse(first!.data) as { chat_session_id: string }
  return { ...stream, session }
}

/** Reads the newest answer of a session after a line. */
export async function resume(service: Service, session: string, cursor = 0): Promise<ReadStream> {
  const path = `/chat/chat-session/${session}/resume-stream?cursor=${cursor}`
  // Another process learns of an answer soon after it began.
  const response = await eventually('an answer to resume', async () => {
    const reply = await service.fetch(path, { headers: accept })
    if (reply.status === 200) return reply
    await reply.body?.cancel()
    return undefined
  })
  return read(response)
}

/** The newest message of a session as it is stored. */
export async function lastMessage(service: Service, session: string): Promise<ChatSessionDetail['messages'][number]> {
  const response = await service.fetch(`/chat/get-chat-session/${session}`)
  return ((await response.json()) as ChatSessionDetail).messages.at(-1)!
}

/** The objects in the lines. */
export function textOf(lines: readonly NumberedLine[]): string {
  return lines
    .map(({ data }) => (JSON.parse(data) as { obj?: { type: string; content?: string } }).obj)
    .map((packet) => (packet?.type === 'message_delta' ? packet.content : ''))
    .join('')
}

function read(response: Response): ReadStream {
  const lines: NumberedLine[] = []
  const waiting = new Set<() => void>()
  let isOver = false
  const settle = (): void => {
    for (const look of waiting) look()
  }
  const ended = readLines(response, (line) => {
    lines.push(line)
    settle()
  }).finally(() => {
    isOver = true
    settle()
  })
  ended.catch(() => {})
  const until = (text: string): Promise<readonly NumberedLine[]> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines.some(({ data }) => data.includes(text))) resolve(lines)
        else if (isOver) reject(new Error(`the stream ended before "${text}"`))
        else return
        waiting.delete(look)
      }
      waiting.add(look)
      look()
    })
  return { lines, until, ended }
}

async function readLines(response: Response, onLine: (line: NumberedLine) => void): Promise<void> {
  let rest = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).split('\n\n')
    rest = events.pop()!
    for (const event of events) {
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(event) ?? []
      if (id !== undefined) onLine({ id: Number(id), data: data! })
    }
  }
}
