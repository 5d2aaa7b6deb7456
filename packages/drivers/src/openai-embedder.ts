import type { Embedder } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'

/** An embeddings endpoint that speaks OpenAI's protocol. */
export interface OpenaiEmbedderOptions {
  /** Address before `/embeddings`, e.g. `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`; local servers often need none. */
  readonly apiKey?: string
  readonly model: string
  /** Length of the vectors, 1 to 8192; a vector of another length is refused. */
  readonly dimensions: number
  /** Most texts in one request. Default 96. */
  readonly batch?: number
  /** Tries per request, at least 1. Default 4. */
  readonly attempts?: number
  /** Longest time one try may take, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
}

/** `Embedder` over an OpenAI-compatible embeddings endpoint. */
export function openaiEmbedder(options: OpenaiEmbedderOptions): Embedder {
  throw new InlayError('NOT_IMPLEMENTED', { cause: options.model })
}
