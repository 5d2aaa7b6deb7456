import {
  indexedSourcesSchema,
  validTagsQuerySchema,
  validTagsSchema,
  type IndexedSources,
  type ValidTags,
} from '@inlay/protocol'
import { defineRoute, type Route } from '../../http/route.ts'

const topic = 'Search'

/** What the filters of a search may name, besides document sets. */
export const filterValueRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/manage/indexed-sources',
    operationId: 'listIndexedSources',
    scope: ['search', 'ingest'],
    owner: 'pair',
    topic,
    summary: 'List sources',
    description: 'Those that documents the caller may see have.',
    answer: { description: 'The sources.', schema: indexedSourcesSchema },
    async handle({ caller, parts }): Promise<IndexedSources> {
      return { sources: await parts.knowledge.sources({ caller }) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/query/valid-tags',
    operationId: 'listValidTags',
    scope: ['search', 'ingest'],
    owner: 'pair',
    topic,
    summary: 'List tags',
    description: 'Metadata that searchable documents have and the caller may see.',
    input: { query: validTagsQuerySchema },
    answer: { description: 'The tags, by key and value.', schema: validTagsSchema },
    async handle({ query, caller, parts }): Promise<ValidTags> {
      const tags = await parts.knowledge.tags({ match: query.match_pattern, limit: query.limit }, { caller })
      return { tags: tags.map(({ key, value, source }) => ({ tag_key: key, tag_value: value, source })) }
    },
  }),
]
