import type { Embedder } from '@inlay/knowledge'
import { groupsOf } from '../http/batches.ts'
import type { RetryOptions } from '../http/retrying.ts'
import { isEnglishModel, knownPrefixes, spaceOfPrefix, type EmbedderPrefixes } from './known-prefixes.ts'

export interface EmbedderOptions {
  /** Length of the vectors, 1 to 8192; a vector of another length is refused. */
  readonly dimensions: number
  /**
   * Prefixes of texts, for models that distinguish documents from queries, e.g. `{ document: 'passage: ', query: 'query: ' }`.
   * Default: known by the name of the model for E5, BGE, Nomic, Snowflake Arctic, GTE, Jina, Qwen3 and some more.
   */
  readonly prefixes?: Partial<EmbedderPrefixes>
}

export interface RemoteEmbedderOptions extends EmbedderOptions, RetryOptions {
  /** Maximum number of texts per request. Default 96. */
  readonly maxBatchSize?: number
  /** Maximum number of characters per request; a single longer text is sent alone. Default 400 000. */
  readonly maxBatchCharacters?: number
  /** Timeout of one attempt, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
}

interface EmbedderModel extends EmbedderOptions {
  /** Name of the model, from which its prefixes are known. */
  readonly model: string
  /** Begins the id of the vector space; the document prefix and the dimensions follow. */
  readonly space: string
  readonly maxBatchSize: number
  /** Limits of the groups that a call is split into. */
  readonly limits: () => Promise<GroupLimits> | GroupLimits
}

type GroupLimits = Parameters<typeof groupsOf>[1]

type EmbedGroup = (
  inputs: string[],
  use: Parameters<Embedder['embed']>[1],
  signal: AbortSignal | undefined,
) => Promise<readonly Float32Array[]>

export function createEmbedder({ model, space, dimensions, ...options }: EmbedderModel, embed: EmbedGroup): Embedder {
  const prefixes = { ...knownPrefixes(model), ...options.prefixes }
  return {
    id: `${space}${spaceOfPrefix(prefixes)}@${dimensions}`,
    dimensions,
    maxBatchSize: options.maxBatchSize,
    isLatinOnly: isEnglishModel(model),
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      // An empty input is refused by many services.
      const inputs = texts.map((text) => `${prefixes[use]}${text}` || ' ')
      const vectors: Float32Array[] = []
      for (const group of groupsOf(inputs, await options.limits())) {
        signal?.throwIfAborted()
        vectors.push(...(await embed(group, use, signal)))
      }
      signal?.throwIfAborted()
      return vectors
    },
  }
}
