import { encodeLine, frameLine, type StreamFormat, type StreamLine } from '@inlay/protocol'

/** A request as a test looks at it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

/** Handles one request; a returned string is thrown as a network failure. */
export type Reply = (request: Seen) => Response | Promise<Response> | 'unreachable'

/** A service that answers each request by the next reply and remembers what it saw. */
export interface Service {
  readonly fetch: (input: string, init: RequestInit) => Promise<Response>
  readonly seen: Seen[]
}

export function service(...replies: Reply[]): Service {
  const seen: Seen[] = []
  return {
    seen,
    async fetch(input, init) {
      const request = new Request(new URL(input, 'http://inlay.example'), init)
      const url = new URL(request.url)
      seen.push({
        method: request.method,
        path: url.pathname + url.search,
        headers: request.headers,
        body: await request.text(),
      })
      const reply = replies[seen.length - 1]
      if (!reply) throw new TypeError('no reply left')
      const response = await reply(seen.at(-1)!)
      if (response === 'unreachable') throw new TypeError('fetch failed')
      return response
    },
  }
}

export const json = (body: unknown, init: ResponseInit = {}): Response => Response.json(body, init)

/** How a stream ends: as it should, by a cut, with half a line, or never. */
export type Ending = 'closed' | 'broken' | 'half' | 'open'

/** A stream of lines numbered from `from`. */
export function stream(
  lines: readonly StreamLine[],
  options: { from?: number; ending?: Ending; format?: StreamFormat } = {},
): Response {
  const { from = 1, ending = 'closed', format = 'sse' } = options
  const text = lines
    .map((line, at) => {
      const isHeartbeat = 'obj' in line && line.obj.type === 'chat_heartbeat'
      return frameLine(encodeLine(line), { format, sequence: isHeartbeat ? undefined : from + at })
    })
    .join('')
  const bytes = new TextEncoder().encode(ending === 'half' ? text.slice(0, -9) : text)
  let isSent = false
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!isSent && bytes.length > 0) {
          isSent = true
          controller.enqueue(bytes)
        } else if (ending === 'broken') controller.error(new TypeError('terminated'))
        else if (ending !== 'open') controller.close()
        else return new Promise(() => {})
        return undefined
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )
}
