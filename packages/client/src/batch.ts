import { type BatchLine, batchLineSchema, type IngestionDocumentInput, parseAnswer } from '@inlay/protocol'
import type { Transport } from './transport.ts'

/** How a batch is sent. */
export interface BatchOptions {
  /** Connector/credential pair of all documents; default the public one. */
  readonly ccPairId?: number
  /** Most characters of one request; default 4 million. One document may be longer. */
  readonly requestCharacters?: number
  readonly signal?: AbortSignal
}

/** Groups of request lines, each group one request. */
async function* groupsOf(
  documents: Iterable<IngestionDocumentInput> | AsyncIterable<IngestionDocumentInput>,
  options: BatchOptions,
): AsyncGenerator<string> {
  const most = options.requestCharacters ?? 4_000_000
  let group = ''
  for await (const document of documents) {
    const line = `${JSON.stringify({ document, cc_pair_id: options.ccPairId ?? null })}\n`
    if (group !== '' && group.length + line.length > most) {
      yield group
      group = ''
    }
    group += line
  }
  if (group !== '') yield group
}

/** JSON values of a body, one per line, as they come. */
async function* valuesOf(response: Response): AsyncGenerator<unknown> {
  if (!response.body) return
  let rest = ''
  for await (const piece of textOf(response.body)) {
    const [first = '', ...more] = piece.split('\n')
    rest += first
    for (const next of more) {
      if (rest.trim() !== '') yield JSON.parse(rest)
      rest = next
    }
  }
  if (rest.trim() !== '') yield JSON.parse(rest)
}

/** Not every browser iterates a stream by itself. */
async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      yield decoder.decode(piece.value, { stream: true })
    yield decoder.decode()
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** Sends documents in as few requests as fit, one after the other. */
export async function* sendBatch(
  transport: Transport,
  documents: Iterable<IngestionDocumentInput> | AsyncIterable<IngestionDocumentInput>,
  options: BatchOptions,
): AsyncGenerator<BatchLine> {
  let before = 0
  for await (const body of groupsOf(documents, options)) {
    const response = await transport.send('/service-api/ingestion/batch', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body,
      signal: options.signal,
    })
    for await (const value of valuesOf(response)) {
      const answer = parseAnswer(batchLineSchema, value)
      // The service counts within one request.
      yield { ...answer, line: before + answer.line }
    }
    before += body.split('\n').length - 1
  }
}
