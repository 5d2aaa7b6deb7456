import { type BatchLine, batchLineSchema, type IngestionDocumentInput, parseAnswer, readJson } from '@inlay/protocol'
import { lost, type Transport } from './transport.ts'

export interface BatchOptions {
  /** Connector/credential pair of all documents. Default: the public default pair. */
  readonly ccPairId?: number
  /** Maximum number of characters per request; a single document may be longer. Default 4 million. */
  readonly requestCharacters?: number
  readonly signal?: AbortSignal
}

/** Groups request lines; each group is one request. */
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

/** The JSON values of a response, one per line, as they arrive; undefined for a line that is no JSON. */
async function* valuesOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
  if (!response.body) return
  let rest = ''
  for await (const piece of textOf(response.body, signal)) {
    const [first = '', ...more] = piece.split('\n')
    rest += first
    for (const next of more) {
      if (rest.trim() !== '') yield readJson(rest)
      rest = next
    }
  }
  if (rest.trim() !== '') yield readJson(rest)
}

/** Not every browser supports async iteration of streams. */
async function* textOf(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  const read = (): ReturnType<typeof reader.read> =>
    reader.read().catch((cause: unknown) => {
      throw lost(cause, signal)
    })
  try {
    for (let piece = await read(); !piece.done; piece = await read())
      yield decoder.decode(piece.value, { stream: true })
    yield decoder.decode()
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** Sends documents in as few requests as possible, sequentially. */
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
    for await (const value of valuesOf(response, options.signal)) {
      const answer = parseAnswer(batchLineSchema, value)
      // The service counts lines per request.
      yield { ...answer, line: before + answer.line }
    }
    before += body.split('\n').length - 1
  }
}
