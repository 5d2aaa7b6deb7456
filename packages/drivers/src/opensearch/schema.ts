import { InlayError } from '@inlay/protocol'
import { spaceName, type Space } from '../hybrid-search/open-state.ts'

/** Layout of the index, applied when it is created. */
export interface OpenSearchLayout {
  /** Number of shards, of about 20 to 50 GB each. Default 1. */
  readonly shards?: number
  /** Number of replicas of each shard. Default: one if there are at least two nodes. */
  readonly replicas?: number
  /** Language for stemming and stop words, as named by OpenSearch. Default `english`. */
  readonly language?: string
}

/** Validates a prefix as the alias name, which becomes part of URL paths. */
export function nameOf(prefix: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,99}$/.test(prefix)) return prefix
  throw new InlayError('INVALID_INPUT', {
    message:
      'The prefix of search indexes may contain lower-case letters, digits, "-" and "_", at most 100 characters.',
  })
}

/**
 * Settings and fields. Rows become visible only when an append requests a refresh, all of them together. The search
 * text already contains pairs of characters for scripts without spaces, so the tokenizer only splits at separators.
 */
export function schemaOf(
  { shards = 1, replicas, language = 'english' }: OpenSearchLayout,
  space: Space | undefined,
): Record<string, unknown> {
  return {
    settings: {
      number_of_shards: shards,
      ...(replicas === undefined ? { auto_expand_replicas: '0-1' } : { number_of_replicas: replicas }),
      refresh_interval: '-1',
      max_terms_count: 1_000_000,
      // Any deleted row makes its segment eligible for `expunge_deletes`.
      'merge.policy.expunge_deletes_allowed': 0,
      ...(space && { knn: true }),
      analysis: {
        tokenizer: {
          separated: {
            type: 'char_group',
            tokenize_on_chars: ['whitespace', 'punctuation', 'symbol', '\u00a0', '\u2007', '\u202f'],
          },
        },
        filter: { stems: { type: 'stemmer', language }, common: { type: 'stop', stopwords: `_${language}_` } },
        analyzer: {
          words: { type: 'custom', tokenizer: 'separated', filter: ['lowercase', 'common', 'asciifolding', 'stems'] },
        },
      },
    },
    mappings: {
      dynamic: false,
      _meta: { space: spaceName(space) },
      properties: {
        documentId: { type: 'keyword' },
        generation: { type: 'keyword' },
        position: { type: 'integer' },
        text: kept,
        searchText: { type: 'text', analyzer: 'words', index_options: 'freqs' },
        source: { type: 'keyword' },
        tags: { type: 'keyword' },
        pairs: { type: 'integer' },
        updatedAt: { type: 'long' },
        ownUpdatedAt: { type: 'long' },
        createdAt: { type: 'long' },
        chunkMetadata: kept,
        ...(space && { vector: vectorField(space.dimensions) }),
      },
    },
  }
}

const kept = { type: 'keyword', index: false, doc_values: false } as const

const vectorField = (dimension: number): Record<string, unknown> => ({
  type: 'knn_vector',
  dimension,
  // Lucene applies filters while it walks the graph, so the limit is reached if enough rows match.
  method: { name: 'hnsw', engine: 'lucene', space_type: 'cosinesimil', parameters: { m: 16, ef_construction: 128 } },
})
