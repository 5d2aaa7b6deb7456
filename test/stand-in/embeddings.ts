import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from './loopback.ts'

/** Fault of a single request; the next one is answered normally. */
export interface Mishap {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent instead of embeddings, unchanged. */
  readonly body?: string
  /** Changes the reply that would have been sent. */
  readonly change?: (reply: EmbeddingsReply) => unknown
  /** Cuts the connection: before any byte, or in the middle of the body. */
  readonly cut?: 'at once' | 'midway'
  /** Never answers. */
  readonly hangs?: boolean
}

/** A reply of the protocol. */
export interface EmbeddingsReply {
  object: 'list'
  data: { object: 'embedding'; index: number; embedding: number[] | string }[]
  model: string
  usage: { prompt_tokens: number; total_tokens: number }
}

/** One request as it came in. */
export interface SeenRequest {
  readonly authorization: string | undefined
  readonly body: { model: string; input: string[]; encoding_format?: string; dimensions?: number }
}

/** A local server that speaks `POST /v1/embeddings`; vectors tell how alike texts are by the words they share. */
export interface EmbeddingsStandIn {
  /** Base URL for clients, ending in `/v1`. */
  readonly baseUrl: string
  readonly dimensions: number
  readonly seen: SeenRequest[]
  /** Things that go wrong, one a request, first come first served. */
  readonly mishaps: Mishap[]
  close(): Promise<void>
}

/**
 * Starts a stand-in on a free port of the loopback.
 * @param options.apiKey what a client must send; absent: anything goes
 * @param options.dimensions length of its vectors, unless a request asks for fewer. Default 64
 */
export async function startEmbeddings(
  options: { apiKey?: string; dimensions?: number } = {},
): Promise<EmbeddingsStandIn> {
  const { apiKey, dimensions = 64 } = options
  const seen: SeenRequest[] = []
  const mishaps: Mishap[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: SeenRequest['body'] = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    seen.push({ authorization: request.headers.authorization, body })
    const mishap = mishaps.shift() ?? {}
    if (mishap.hangs) return
    if (mishap.cut === 'at once') return void response.destroy()
    const refused = refusalOf(request, body, apiKey)
    if (refused) return send(response, refused.status, {}, JSON.stringify({ error: { message: refused.message } }))
    const reply = embed(body, dimensions)
    const text = mishap.body ?? JSON.stringify(mishap.change ? mishap.change(reply) : reply)
    if (mishap.cut === 'midway') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.write(text.slice(0, text.length / 2), () => response.destroy())
      return
    }
    send(response, mishap.status ?? 200, mishap.headers ?? {}, text)
  }

  const { origin, close } = await listen(answer)
  return {
    baseUrl: `${origin}/v1`,
    dimensions,
    seen,
    mishaps,
    close,
  }
}

function refusalOf(
  request: IncomingMessage,
  body: SeenRequest['body'],
  apiKey: string | undefined,
): { status: number; message: string } | undefined {
  if (request.method !== 'POST' || request.url?.split('?')[0] !== '/v1/embeddings')
    return { status: 404, message: 'no such address' }
  if (apiKey && request.headers.authorization !== `Bearer ${apiKey}`)
    return { status: 401, message: `Incorrect API key provided: ${request.headers.authorization}` }
  if (!Array.isArray(body.input) || body.input.some((text) => typeof text !== 'string' || text === ''))
    return { status: 400, message: `bad input: ${JSON.stringify(body.input)}` }
  return undefined
}

function embed(body: SeenRequest['body'], dimensions: number): EmbeddingsReply {
  const length = body.dimensions ?? dimensions
  const data = body.input.map((text, index) => {
    const vector = vectorOf(text, length)
    const embedding = body.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
    return { object: 'embedding' as const, index, embedding }
  })
  return { object: 'list', data, model: body.model, usage: { prompt_tokens: 1, total_tokens: 1 } }
}

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(text)
}

/** Words and their three-letter parts, hashed into a vector of length 1: alike when texts share words. */
function vectorOf(text: string, length: number): Float32Array {
  const vector = new Float32Array(length)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    const parts = [word, ...Array.from({ length: Math.max(0, word.length - 2) }, (_, at) => word.slice(at, at + 3))]
    for (const part of parts) {
      let hash = 2166136261
      for (const character of part) hash = Math.imul(hash ^ character.codePointAt(0)!, 16777619) >>> 0
      vector[hash % length]! += hash & 65536 ? 1 : -1
    }
  }
  const norm = Math.hypot(...vector)
  if (norm === 0) vector[0] = 1
  return norm === 0 ? vector : vector.map((value) => value / norm)
}
