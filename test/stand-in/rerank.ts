import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from './loopback.ts'

/** Fault of a single request; the next one is answered normally. */
export interface RerankMishap {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent instead of scores, unchanged. */
  readonly body?: string
  readonly cut?: true
  readonly hangs?: true
}

/** One request as it came in. */
export interface RerankRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** A local server that reranks as Cohere, Jina and TEI do; a text scores by the share of the query's words it has. */
export interface RerankStandIn {
  /** Base URL for clients, by protocol. */
  readonly baseUrls: Readonly<Record<'cohere' | 'jina' | 'tei', string>>
  readonly seen: RerankRequest[]
  /** Things that go wrong, one a request, first come first served. */
  readonly mishaps: RerankMishap[]
  close(): Promise<void>
}

interface Scored {
  readonly index: number
  readonly score: number
  readonly text: string
}

/** A kind of service: what it takes, and how it answers. */
interface Protocol {
  /** Fields a request may have; those with `true` must be there. */
  readonly fields: Readonly<Record<string, boolean>>
  readonly texts: string
  readonly maxTexts: number
  readonly status: number
  answer(scored: readonly Scored[], body: Readonly<Record<string, unknown>>): unknown
}

const protocols: Readonly<Record<string, Protocol>> = {
  '/v2/rerank': {
    fields: { model: true, query: true, documents: true, top_n: false, max_tokens_per_doc: false, priority: false },
    texts: 'documents',
    maxTexts: 10_000,
    status: 400,
    answer: (scored) => ({
      id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
      results: scored.map(({ index, score }) => ({ index, relevance_score: score })),
      meta: { api_version: { version: '2', is_experimental: false }, billed_units: { search_units: 1 } },
    }),
  },
  '/v1/rerank': {
    fields: { model: true, query: true, documents: true, top_n: false, return_documents: false, truncation: false },
    texts: 'documents',
    maxTexts: 2048,
    status: 422,
    answer: (scored, body) => ({
      model: body['model'],
      object: 'list',
      usage: { total_tokens: 15, prompt_tokens: 15 },
      results: scored.map(({ index, score, text }) => ({
        index,
        relevance_score: score,
        ...(body['return_documents'] === false ? {} : { document: { text } }),
      })),
    }),
  },
  '/rerank': {
    fields: {
      query: true,
      texts: true,
      raw_scores: false,
      return_text: false,
      truncate: false,
      truncation_direction: false,
    },
    texts: 'texts',
    maxTexts: 32,
    status: 422,
    answer: (scored) => scored.map(({ index, score }) => ({ index, score })),
  },
}

/**
 * Starts a stand-in on a free port of the loopback.
 * @param options.apiKey what a client must send; absent: anything goes
 */
export async function startRerank(options: { apiKey?: string } = {}): Promise<RerankStandIn> {
  const { apiKey } = options
  const seen: RerankRequest[] = []
  const mishaps: RerankMishap[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: RerankRequest['body'] = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const path = request.url?.split('?')[0] ?? ''
    seen.push({ path, authorization: request.headers.authorization, body })
    const mishap = mishaps.shift() ?? {}
    if (mishap.hangs) return
    if (mishap.cut) return void response.destroy()
    const protocol = protocols[path]
    const refused = apiKey && request.headers.authorization !== `Bearer ${apiKey}`
    if (refused) return send(response, 401, {}, `{"message":"invalid api token ${request.headers.authorization}"}`)
    if (!protocol) return send(response, 404, {}, '{"message":"no such address"}')
    const fault = faultOf(protocol, body)
    if (fault) return send(response, protocol.status, {}, JSON.stringify({ message: fault }))
    const scored = scoresOf(String(body['query']), body[protocol.texts] as string[])
    send(
      response,
      mishap.status ?? 200,
      mishap.headers ?? {},
      mishap.body ?? JSON.stringify(protocol.answer(scored, body)),
    )
  }

  const { origin, close } = await listen(answer)
  return {
    baseUrls: { cohere: `${origin}/v2`, jina: `${origin}/v1`, tei: origin },
    seen,
    mishaps,
    close,
  }
}

function faultOf({ fields, texts, maxTexts }: Protocol, body: RerankRequest['body']): string | undefined {
  for (const name of Object.keys(body)) if (!(name in fields)) return `unknown field ${name}`
  for (const [name, isNeeded] of Object.entries(fields)) if (isNeeded && !body[name]) return `missing field ${name}`
  const given = body[texts]
  if (!Array.isArray(given) || given.some((text) => typeof text !== 'string' || text === '')) return `bad ${texts}`
  return given.length > maxTexts ? `batch size ${given.length} > maximum allowed batch size ${maxTexts}` : undefined
}

/** By descending score, like all such services. */
function scoresOf(query: string, texts: readonly string[]): Scored[] {
  const wanted = wordsOf(query)
  return texts
    .map((text, index) => {
      const there = new Set(wordsOf(text))
      return { index, text, score: wanted.filter((word) => there.has(word)).length / Math.max(1, wanted.length) }
    })
    .toSorted((left, right) => right.score - left.score)
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(text)
}
