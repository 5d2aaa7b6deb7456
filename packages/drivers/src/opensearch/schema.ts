import { InlayError } from '@inlay/protocol'

/** How an index is laid out; it binds when the index is created. */
export interface OpenSearchLayout {
  /** Parts of the index, which nodes share among them; some 20 to 50 GB each. Default 1. */
  readonly shards?: number
  /** Copies of each part besides the first. Default: one, as soon as there are two nodes. */
  readonly replicas?: number
  /** Language of stems and common words, as OpenSearch names it. Default `english`. */
  readonly language?: string
}

/** Name of the alias from a prefix; it becomes part of paths. */
export function nameOf(prefix: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,99}$/.test(prefix)) return prefix
  throw new InlayError('INVALID_INPUT', {
    message: 'A prefix of search indexes has lower-case letters, digits, "-" and "_", at most 100 of them.',
  })
}

/**
 * Settings and fields. Segments appear only when an append asks for it, all rows of it together. Search text comes with
 * pairs of characters for scripts without spaces, so words are kept as they stand between separators.
 */
export function schemaOf(
  { shards = 1, replicas, language = 'english' }: OpenSearchLayout,
  space: { readonly id: string; readonly dimensions: number } | undefined,
): Record<string, unknown> {
  return {
    settings: {
      number_of_shards: shards,
      ...(replicas === undefined ? { auto_expand_replicas: '0-1' } : { number_of_replicas: replicas }),
      refresh_interval: '-1',
      max_terms_count: 1_000_000,
      // An idle upkeep leaves nothing of deleted rows in the segments.
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
  // Lucene applies filters while it walks the graph, so no row is lost to the limit.
  method: { name: 'hnsw', engine: 'lucene', space_type: 'cosinesimil', parameters: { m: 16, ef_construction: 128 } },
})

/** How a space is written down; "" for none. */
export function spaceName(space: { readonly id: string; readonly dimensions: number } | undefined): string {
  return space ? `${space.id} ${space.dimensions}` : ''
}
