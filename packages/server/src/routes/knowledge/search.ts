import type { Passage } from '@inlay/agent'
import { searchRequestSchema, searchResponseSchema, type BaseFilters } from '@inlay/protocol'
import { routesOf, type Route } from '../../http/route.ts'

/** Maximum number of passages. */
const limit = 25

const route = routesOf('Search', { scope: 'search', owner: 'pair' })

export const searchRoutes: readonly Route[] = [
  route('POST /search', 'search', 'Search documents', {
    description:
      'Returns passages that the caller can see, best first. The document sets and the start date of ' +
      'an agent restrict the search as in a chat, and its model suggests further queries unless ' +
      '`skip_query_expansion` is true. A query that depends on `message_history` is rewritten by the ' +
      'model, or without a model combined with words of the last messages.',
    input: { body: searchRequestSchema },
    answer: { description: 'The results.', schema: searchResponseSchema },
    errors: ['PERSONA_NOT_FOUND', 'NOT_FOUND', 'VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, request, parts }) {
      const filters: BaseFilters = {
        source_type: body.sources,
        document_set: body.document_sets,
        tags: body.tags,
        time_cutoff: body.time_cutoff,
        created_at_range: body.created_at_range,
        updated_at_range: body.updated_at_range,
      }
      const passages = await parts.agent.search({
        text: body.query,
        filters,
        caller,
        personaId: body.persona_id ?? 0,
        model: body.provider === null || body.model === null ? null : { provider: body.provider, version: body.model },
        skipsExpansion: body.skip_query_expansion,
        messages: (body.message_history ?? []).flatMap(({ message, message_type: role }) =>
          role === 'user' || role === 'assistant' ? [{ role, text: message }] : [],
        ),
        limit,
        signal: request.signal,
      })
      const numbers = new Map<string, number>()
      return {
        results: passages.map((passage) => {
          const { document, content } = passage
          const number = numbers.get(document.document_id) ?? numbers.size + 1
          numbers.set(document.document_id, number)
          return {
            citation_id: number,
            title: document.semantic_identifier,
            content,
            link: document.link,
            source_type: document.source_type,
            updated_at: document.updated_at,
            ...(body.include_ranking === true && rankingFields(passage)),
          }
        }),
      }
    },
  }),
]

function rankingFields({ document, span, ranking = {} }: Passage) {
  return {
    document_id: document.document_id,
    chunk: span?.first ?? document.chunk_ind,
    ranking: {
      score: document.score ?? 0,
      words: ranking.words ?? null,
      vector: ranking.vector ?? null,
      vector_weight: ranking.vectorWeight ?? null,
      recency: ranking.recency ?? null,
      reranked: ranking.isReranked === true,
      named: ranking.isNamed === true,
    },
  }
}
