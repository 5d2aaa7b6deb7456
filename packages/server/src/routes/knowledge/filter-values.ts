import { indexedSourcesSchema, validTagsQuerySchema, validTagsSchema } from '@inlay/protocol'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Search', { scope: ['search', 'ingest'], owner: 'pair' })

export const filterValueRoutes: readonly Route[] = [
  route('GET /manage/indexed-sources', 'listIndexedSources', 'List sources', {
    description: 'Sources of documents that the caller can see.',
    answer: { description: 'The sources.', schema: indexedSourcesSchema },
    handle: async ({ caller, parts }) => ({ sources: await parts.knowledge.sources({ caller }) }),
  }),
  route('GET /query/valid-tags', 'listValidTags', 'List tags', {
    description: 'Metadata of searchable documents that the caller can see.',
    input: { query: validTagsQuerySchema },
    answer: { description: 'The tags, by key and value.', schema: validTagsSchema },
    async handle({ query, caller, parts }) {
      const tags = await parts.knowledge.tags({ match: query.match_pattern, limit: query.limit }, { caller })
      return { tags: tags.map(({ key, value, source }) => ({ tag_key: key, tag_value: value, source })) }
    },
  }),
]
