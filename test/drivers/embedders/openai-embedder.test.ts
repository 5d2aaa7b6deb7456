import { openaiEmbedder, type OpenaiEmbedderOptions } from '@inlay/drivers/openai-embedder'
import type { Embedder } from '@inlay/knowledge'
import { embedderConformance } from '@inlay/conformance'
import { describe, expect, it, test } from 'vitest'
import { startEmbeddings, type EmbeddingsReply } from '../../stand-in/embeddings.ts'
import { apiKey, failureTests, useEmbeddings } from './failing-server.ts'

const embeddings = useEmbeddings()
const { failing } = embeddings

function embedder(options: Partial<OpenaiEmbedderOptions> = {}): Embedder {
  return openaiEmbedder({
    baseUrl: embeddings.server.baseUrl,
    apiKey,
    model: 'stand-in',
    dimensions: embeddings.server.dimensions,
    sleep: async (delayMs) => void embeddings.delays.push(delayMs),
    ...options,
  })
}

describe('conformance of an embedder', () => {
  for (const [title, run] of embedderConformance(() => embedder())) test(title, run)
  for (const [title, run] of embedderConformance(() => embedder({ maxBatchSize: 2 }))) test(`${title} (in twos)`, run)
})

failureTests(embeddings, embedder, [
  [400, 'UNPROCESSABLE_ENTITY'],
  [401, 'AUTH_ERROR'],
  [402, 'BUDGET_EXCEEDED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [413, 'REQUEST_TOO_LARGE'],
  [418, 'API_ERROR'],
  [301, 'API_ERROR'],
])

describe('texts that a server refuses', () => {
  /** An embedder whose server refuses what this says of a request; and the lengths of texts it took, by request. */
  function refusing(refuses: (texts: readonly string[]) => readonly [status: number, message: string] | undefined) {
    const taken: number[][] = []
    const refused: number[] = []
    const answer = async (_: unknown, init?: RequestInit): Promise<Response> => {
      const { input } = JSON.parse(String(init?.body)) as { input: string[] }
      const refusal = refuses(input)
      if (refusal) {
        refused.push(input.length)
        return Response.json({ error: { code: refusal[0], message: refusal[1] } }, { status: refusal[0] })
      }
      taken.push(input.map(({ length }) => length))
      return Response.json({ data: input.map((text, index) => ({ index, embedding: [text.length, 1] })) })
    }
    return { taken, refused, embedder: embedder({ dimensions: 2, fetch: answer }) }
  }

  test.each([
    ['text-embeddings-inference', 422, 'batch size 96 > maximum allowed batch size 32', 32],
    [
      'DashScope',
      400,
      '<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, it should not be larger than 10.: input.contents',
      10,
    ],
    ['a proxy', 413, 'Request Entity Too Large', 48],
  ])('together go in smaller requests, as %s wants', async (_, status, message, most) => {
    const {
      taken,
      refused,
      embedder: small,
    } = refusing((texts) => (texts.length > most ? [status, message] : undefined))
    const texts = Array.from({ length: 96 }, (_, at) => 'x'.repeat(at + 1))
    expect((await small.embed(texts, 'document')).map(([first]) => first)).toEqual(texts.map(({ length }) => length))
    expect(Math.max(...taken.map(({ length }) => length))).toBe(most)
    await small.embed(texts, 'document')
    // A number that was said is kept to.
    expect(refused).toHaveLength(status === 413 ? 2 : 1)
  })

  test.each([
    [
      'llama.cpp',
      500,
      'input (596 tokens) is too large to process. increase the physical batch size (current batch size: 512)',
    ],
    [
      'vLLM',
      400,
      "This model's maximum context length is 512 tokens. However, you requested 596 tokens in the input for embedding generation.",
    ],
    ['text-embeddings-inference', 413, 'Input validation error: `inputs` must have less than 512 tokens. Given: 596'],
    ['Ollama', 400, 'the input length exceeds the context length'],
  ])('as too long are cut as other servers cut them: %s', async (_, status, message) => {
    const { taken, embedder: strict } = refusing((texts) =>
      texts.some(({ length }) => length > 1_000) ? [status, message] : undefined,
    )
    const vectors = await strict.embed(['short', 'x'.repeat(1_200), 'short too'], 'document')
    const [, [cut = 0] = []] = vectors
    expect(vectors.map(([first]) => first)).toEqual([5, cut, 9])
    expect(cut).toBeGreaterThan(500)
    expect(taken.flat()).toHaveLength(3)
  })
})

describe('a request', () => {
  it('carries the key, the model and the texts, as many as a batch takes', async () => {
    const vectors = await embedder({ maxBatchSize: 2 }).embed(['a', 'b', 'c', 'd', 'e'], 'document')
    expect(vectors).toHaveLength(5)
    expect(embeddings.server.seen.map(({ body }) => body.input)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(embeddings.server.seen[0]).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      body: { model: 'stand-in', encoding_format: 'float' },
    })
    expect(embeddings.server.seen[0]?.body).not.toHaveProperty('dimensions')
  })

  it('is split by size as well, and a text that is too long alone goes alone', async () => {
    await embedder({ maxBatchCharacters: 10 }).embed(['aaaa', 'bbbb', 'cccc', 'd'.repeat(50), 'e'], 'document')
    expect(embeddings.server.seen.map(({ body }) => body.input.length)).toEqual([2, 1, 1, 1])
  })

  it('asks for the length of models that can shorten, or when told to', async () => {
    await embedder({ model: 'text-embedding-3-small', dimensions: 32 }).embed(['a'], 'query')
    await embedder({ asksForDimensions: true, dimensions: 16 }).embed(['a'], 'query')
    expect(embeddings.server.seen.map(({ body }) => body.dimensions)).toEqual([32, 16])
  })

  it('tells documents from queries by prefixes, and never sends an empty text', async () => {
    const prefixed = embedder({ prefixes: { document: 'passage: ', query: 'query: ' } })
    await prefixed.embed(['x'], 'document')
    await prefixed.embed(['x'], 'query')
    await embedder().embed([''], 'document')
    expect(embeddings.server.seen.map(({ body }) => body.input)).toEqual([['passage: x'], ['query: x'], [' ']])
  })

  it('keeps the query of the base URL and its own headers, and goes through the fetch handed in', async () => {
    const addresses: string[] = []
    await embedder({
      baseUrl: `${embeddings.server.baseUrl}/?api-version=7`,
      headers: { 'x-team': 'search' },
      fetch: (input, init) => {
        addresses.push(String(input), new Headers(init?.headers).get('x-team') ?? '')
        return fetch(input, init)
      },
    }).embed(['a'], 'query')
    expect(addresses).toEqual([`${embeddings.server.baseUrl}/embeddings?api-version=7`, 'search'])
  })

  it('goes without a key to a server that needs none', async () => {
    const open = await startEmbeddings()
    await embedder({ baseUrl: open.baseUrl, apiKey: undefined }).embed(['a'], 'query')
    expect(open.seen[0]?.authorization).toBeUndefined()
    await open.close()
  })
})

describe('a failure that may pass', () => {
  it('is tried again: rate limits, server errors, cut connections', async () => {
    failing({ status: 429 }, { status: 500 }, { cut: 'at once' })
    expect(await embedder().embed(['a'], 'query')).toHaveLength(1)
    failing({ status: 503 }, { cut: 'midway' })
    expect(await embedder().embed(['a'], 'query')).toHaveLength(1)
    expect(embeddings.server.seen).toHaveLength(7)
  })

  it('is waited out as the server asks, in seconds, milliseconds or by a date', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString()
    failing(
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after-ms': '250' } },
      { status: 429, headers: { 'retry-after': date } },
    )
    await embedder().embed(['a'], 'query')
    expect(embeddings.delays.slice(0, 2)).toEqual([7000, 250])
    expect(embeddings.delays[2]).toBeGreaterThan(15_000)
    expect(embeddings.delays[2]).toBeLessThanOrEqual(20_000)
  })

  it('is otherwise waited out longer each time', async () => {
    failing({ status: 500 }, { status: 500 }, { status: 500 })
    await embedder().embed(['a'], 'query')
    expect(embeddings.delays[1]! > embeddings.delays[0]! && embeddings.delays[2]! > embeddings.delays[1]!).toBe(true)
  })

  it('ends the call after the last try', async () => {
    failing({ status: 500 }, { status: 500 }, { status: 500 })
    await expect(embedder({ attempts: 3 }).embed(['a'], 'query')).rejects.toMatchObject({
      code: 'API_ERROR',
      retryable: true,
    })
    expect(embeddings.server.seen).toHaveLength(3)
  })

  it('ends the call when the server wants a longer wait than allowed, and says how long', async () => {
    failing({ status: 429, headers: { 'retry-after': '3600' } })
    await expect(embedder().embed(['a'], 'query')).rejects.toMatchObject({
      code: 'RATE_LIMIT',
      retryable: true,
      data: { retryAfterSeconds: 3600 },
    })
    expect(embeddings.server.seen).toHaveLength(1)
  })
})

describe('a failure that will not pass', () => {
  it('is a used-up quota, though it comes as a rate limit', async () => {
    failing({ status: 429, body: JSON.stringify({ error: { type: 'insufficient_quota' } }) })
    await expect(embedder().embed(['a'], 'query')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(embeddings.server.seen).toHaveLength(1)
  })

  it('never shows the key, the texts or the reply', async () => {
    const wrong = 'sk-wrong-key'
    const error: Error = await embedder({ apiKey: wrong })
      .embed(['private text'], 'document')
      .then(
        () => new Error('none'),
        (reason) => reason,
      )
    const shown = [
      error.message,
      String(error),
      JSON.stringify(error),
      JSON.stringify((error as { data?: unknown }).data),
    ].join(' ')
    expect(error).toMatchObject({ code: 'AUTH_ERROR' })
    for (const secret of [wrong, 'private text', 'Incorrect API key']) expect(shown).not.toContain(secret)
  })
})

describe('a reply', () => {
  const first = (change: (item: EmbeddingsReply['data'][number]) => unknown) => (reply: EmbeddingsReply) => ({
    ...reply,
    data: reply.data.map((item, at) => (at === 0 ? change(item) : item)),
  })

  it('is put in order by its indexes', async () => {
    const straight = await embedder().embed(['one', 'two', 'three'], 'document')
    failing({ change: (reply) => ({ ...reply, data: [...reply.data].reverse() }) })
    expect(await embedder().embed(['one', 'two', 'three'], 'document')).toEqual(straight)
  })

  it('may leave out the indexes, and may come as base64 unasked', async () => {
    const [plain] = await embedder().embed(['one'], 'document')
    failing({ change: first(({ embedding }) => ({ embedding })) })
    expect(await embedder().embed(['one'], 'document')).toEqual([plain])
    failing({ change: first((item) => ({ ...item, embedding: Buffer.from(plain!.buffer).toString('base64') })) })
    expect(await embedder().embed(['one'], 'document')).toEqual([plain])
  })

  it.each<[string, (reply: EmbeddingsReply) => unknown]>([
    ['too few vectors', (reply) => ({ ...reply, data: reply.data.slice(1) })],
    ['too many vectors', (reply) => ({ ...reply, data: [...reply.data, reply.data[0]] })],
    ['one index twice', first((item) => ({ ...item, index: 1 }))],
    ['an index out of range', first((item) => ({ ...item, index: 7 }))],
    ['null in a vector', first((item) => ({ ...item, embedding: [null, ...(item.embedding as number[]).slice(1)] }))],
    [
      'a number beyond floats',
      first((item) => ({ ...item, embedding: [1e300, ...(item.embedding as number[]).slice(1)] })),
    ],
    ['no vector', first(({ index }) => ({ index }))],
    ['broken base64', first((item) => ({ ...item, embedding: 'AAA' }))],
    ['something else', () => ({ ok: true })],
    ['a list', () => []],
  ])('with %s is refused', async (_, change) => {
    failing({ change })
    await expect(embedder({ attempts: 1 }).embed(['one', 'two'], 'document')).rejects.toMatchObject({
      code: 'BAD_GATEWAY',
    })
  })

  it('that is no JSON is refused', async () => {
    failing({ body: '<html>' })
    await expect(embedder({ attempts: 1 }).embed(['one'], 'document')).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })

  it('with vectors of another length says which length to set', async () => {
    const short = first((item) => ({ ...item, embedding: (item.embedding as number[]).slice(0, 10) }))
    failing({ change: short })
    await expect(embedder().embed(['one'], 'document')).rejects.toMatchObject({
      code: 'INDEX_MISMATCH',
      message: expect.stringContaining('10 dimensions'),
    })
  })
})

describe('options', () => {
  it.each([
    { baseUrl: 'not an address' },
    { baseUrl: 'ftp://127.0.0.1/v1' },
    { baseUrl: 'https://user:password@example.org/v1' },
    { dimensions: 0 },
    { dimensions: 1.5 },
    { model: '' },
  ])('that cannot work are refused at once: %j', (options) => {
    expect(() => embedder(options)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  })

  it('make the name of the space', () => {
    expect(embedder({ provider: 'ollama', model: 'nomic', dimensions: 768 }).id).toBe('ollama/nomic@768')
  })
})
