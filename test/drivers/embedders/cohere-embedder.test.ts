import { embedderConformance } from '@inlay/conformance'
import { cohereEmbedder, type CohereEmbedderOptions } from '@inlay/drivers/cohere-embedder'
import type { Embedder } from '@inlay/knowledge'
import { describe, expect, it, test } from 'vitest'
import { apiKey, failureTests, useEmbeddings } from './failing-server.ts'

const embeddings = useEmbeddings()
const seen: { address: string; body: Record<string, unknown> }[] = []

/** Puts the shape of Cohere's `POST /v2/embed`, as documented, in front of the stand-in. */
const asCohere: typeof fetch = async (address, init) => {
  const body = JSON.parse(String(init?.body)) as { model: string; texts: string[]; output_dimension?: number }
  seen.push({ address: String(address), body })
  const dimensions = body.output_dimension
  const response = await fetch(`${embeddings.server.baseUrl}/embeddings`, {
    ...init,
    body: JSON.stringify({ model: body.model, input: body.texts, ...(dimensions && { dimensions }) }),
  })
  if (!response.ok) return new Response(JSON.stringify({ message: 'refused' }), response)
  const { data } = (await response.json()) as { data: { embedding: number[] }[] }
  return Response.json({
    id: 'da6e531f-54c5-4a73-bf92-f60566d8d753',
    embeddings: { float: data.map(({ embedding }) => embedding) },
    texts: body.texts,
    response_type: 'embeddings_by_type',
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: 2 } },
  })
}

function embedder(options: Partial<CohereEmbedderOptions> = {}): Embedder {
  seen.length = 0
  return cohereEmbedder({
    apiKey,
    model: 'embed-multilingual-v3.0',
    dimensions: embeddings.server.dimensions,
    sleep: async (delayMs) => void embeddings.delays.push(delayMs),
    fetch: asCohere,
    ...options,
  })
}

/** An embedder whose service always sends this. */
const answering = (reply: unknown): Embedder => embedder({ dimensions: 2, fetch: async () => Response.json(reply) })

describe('conformance of an embedder', () => {
  for (const [title, run] of embedderConformance(() => embedder())) test(title, run)
  for (const [title, run] of embedderConformance(() => embedder({ maxBatchSize: 2 }))) test(`${title} (in twos)`, run)
})

failureTests(embeddings, embedder, [
  [400, 'UNPROCESSABLE_ENTITY'],
  [401, 'AUTH_ERROR'],
  [404, 'NOT_FOUND'],
  [413, 'REQUEST_TOO_LARGE'],
])

it('needs a key', () => {
  expect(() => embedder({ apiKey: undefined })).toThrow(/apiKey/)
})

describe('a request', () => {
  it('says whether texts are documents or a query', async () => {
    const cohere = embedder()
    await cohere.embed(['25 days of leave'], 'document')
    await cohere.embed(['leave?'], 'query')
    expect(seen).toEqual([
      { address: 'https://api.cohere.com/v2/embed', body: expect.objectContaining({ input_type: 'search_document' }) },
      { address: 'https://api.cohere.com/v2/embed', body: expect.objectContaining({ input_type: 'search_query' }) },
    ])
  })

  it('asks for the length where the model has several', async () => {
    await embedder({ model: 'embed-v4.0', dimensions: 16 }).embed(['a'], 'query')
    expect(seen[0]?.body).toMatchObject({ output_dimension: 16 })
    await embedder().embed(['a'], 'query')
    expect(seen[0]?.body).not.toHaveProperty('output_dimension')
  })

  it('has no more texts than Cohere accepts, and keeps their order', async () => {
    const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`)
    const many = embedder({ maxBatchSize: 1000 })
    const vectors = await many.embed(texts, 'document')
    expect(seen.map(({ body }) => (body['texts'] as string[]).length)).toEqual([96, 4])
    expect(vectors[98]).toEqual((await many.embed(['text 98'], 'document'))[0])
  })
})

it('leaves queries in other scripts to keywords if the model is English', () => {
  const names = ['embed-english-v3.0', 'embed-multilingual-v3.0', 'embed-v4.0']
  expect(names.map((model) => embedder({ model }).isLatinOnly)).toEqual([true, false, false])
})

describe('a reply', () => {
  it.each([
    ['of the OpenAI-compatible endpoint', { data: [{ index: 0, embedding: [1, 0] }] }],
    ['of version 1', { embeddings: [[1, 0]] }],
    ['with too few vectors', { embeddings: { float: [] } }],
    ['with something else than numbers', { embeddings: { float: [[1, null]] } }],
  ])('%s is refused', async (_, reply) => {
    await expect(answering(reply).embed(['a'], 'query')).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })

  it('with vectors of another length is refused', async () => {
    await expect(answering({ embeddings: { float: [[1, 2, 3]] } }).embed(['a'], 'query')).rejects.toMatchObject({
      code: 'INDEX_MISMATCH',
    })
  })
})
