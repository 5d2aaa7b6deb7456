import type { Principal, Tag } from '@inlay/protocol'
import { routesOf, type Route, type ServerParts } from '@inlay/server'
import * as v from 'valibot'
import { toFileId } from './content.ts'
import { invalid } from './errors.ts'
import { recordsOf } from './kept-records.ts'
import { documentIdOf, fileTag, type Attributes } from './vector-store-additions.ts'
import { findStore, storePath, type Store } from './vector-stores.ts'

const route = routesOf('OpenAI vector stores', { scope: 'search', owner: 'pair' })

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(4096))
const searchSchema = v.object({
  query: v.union([text, v.pipe(v.array(text), v.minLength(1), v.maxLength(20))]),
  max_num_results: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50))),
  filters: v.optional(v.unknown()),
  ranking_options: v.nullish(v.object({ score_threshold: v.nullish(v.number()) })),
})

const scalar = v.union([v.string(), v.number(), v.boolean()])
const filterSchema = v.variant('type', [
  v.object({ type: v.picklist(['and', 'or']), filters: v.array(v.unknown()) }),
  v.object({ type: v.picklist(['eq', 'ne', 'gt', 'gte', 'lt', 'lte']), key: v.string(), value: scalar }),
  v.object({ type: v.picklist(['in', 'nin']), key: v.string(), value: v.array(scalar) }),
])
type Comparison = Exclude<v.InferOutput<typeof filterSchema>, { filters: unknown }>

const maxFilterParts = 1000

/** @throws INVALID_INPUT for what is no filter */
function toPredicate(given: unknown, param: string, budget = { left: maxFilterParts }): (of: Attributes) => boolean {
  const read = v.safeParse(filterSchema, given)
  if (!read.success)
    throw invalid(
      param,
      'A filter is eq, ne, gt, gte, lt or lte with key and value, in or nin with key and a list as value, or and or or with filters.',
    )
  const { output } = read
  budget.left -= 1 + ('filters' in output ? 0 : [output.value].flat().length)
  if (budget.left < 0)
    throw invalid(param, `Filters must not have more than ${maxFilterParts} parts and values in all.`)
  if (!('filters' in output))
    return (attributes) => matches(output, Object.hasOwn(attributes, output.key) ? attributes[output.key] : undefined)
  const predicates = output.filters.map((each) => toPredicate(each, param, budget))
  return output.type === 'and'
    ? (attributes) => predicates.every((matchesOne) => matchesOne(attributes))
    : (attributes) => predicates.some((matchesOne) => matchesOne(attributes))
}

/** Values of another type differ and have no order, as an absent one. */
function matches({ type, value }: Comparison, actual: v.InferOutput<typeof scalar> | undefined): boolean {
  if (Array.isArray(value)) return value.some((each) => each === actual) === (type === 'in')
  if (type === 'eq' || type === 'ne') return (actual === value) === (type === 'eq')
  if (actual === undefined || typeof actual !== typeof value) return false
  if (type === 'gt' || type === 'lte') return actual > value === (type === 'gt')
  return actual < value === (type === 'lt')
}

/** Tags of the files that a filter matches. @throws INVALID_INPUT for a document set whose documents are no files */
async function tagsOf(
  parts: ServerParts,
  { id, own }: Store,
  { filters, param }: { readonly filters: unknown; readonly param: string },
): Promise<Tag[]> {
  const matchesFilter = toPredicate(filters, param)
  if (!own) throw invalid(param, `The documents of ${id} have no attributes: leave filters out.`)
  const files = (await recordsOf(parts).list('vector_store_file', id)).map(({ value }) => value)
  return files
    .filter(({ attributes }) => matchesFilter(attributes))
    .map(({ fileId }) => ({ tag_key: fileTag, tag_value: documentIdOf(id, fileId) }))
}

const maxTags = 1000

/**
 * The filters of Inlay's search for a `file_search` of a turn: stores, and filters over the attributes of their files.
 * @throws NOT_FOUND (store); INVALID_INPUT for filters that are none, or that match too many files for one search
 */
export async function filtersOfStores(
  parts: ServerParts,
  {
    storeIds,
    filters,
    param,
  }: { readonly storeIds: readonly string[]; readonly filters: unknown; readonly param: string },
  caller: Principal,
): Promise<{ readonly document_set: string[]; readonly tags: Tag[] | null }> {
  const stores = await Promise.all([...new Set(storeIds)].map(async (id) => findStore(parts, id, caller)))
  const names = stores.map(({ set }) => set.name)
  if (filters === undefined || filters === null) return { document_set: names, tags: null }
  if (stores.length === 0) throw invalid(param, 'Filters need vector_store_ids: name the stores.')
  const tags = (await Promise.all(stores.map(async (store) => tagsOf(parts, store, { filters, param })))).flat()
  if (tags.length > maxTags)
    throw invalid(
      param,
      `The filters match ${tags.length} files, more than ${maxTags}: narrow them, or leave them out.`,
    )
  // No document has the empty tag: what matches no file finds nothing.
  return { document_set: names, tags: tags.length > 0 ? tags : [{ tag_key: fileTag, tag_value: '' }] }
}

export const vectorStoreSearchRoutes: readonly Route[] = [
  route('POST /v1/vector_stores/{vector_store_id}/search', 'searchVectorStore', 'Search a vector store', {
    description:
      'Several queries are searched one by one. Filters compare exactly; a file without the attribute matches `ne` and `nin`. `rewrite_query` and `ranker` change nothing.',
    readsOnly: true,
    input: { path: storePath, body: searchSchema },
    answer: { description: 'A page of passages, best first; documents that are no files have their own id.' },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: { vector_store_id: id }, body, caller, parts, request: { signal } }) {
      const store = await findStore(parts, id, caller)
      const { filters } = body
      const tags = filters ? await tagsOf(parts, store, { filters, param: 'filters' }) : undefined
      const groups = tags
        ? Array.from({ length: Math.ceil(tags.length / maxTags) }, (_, at) =>
            tags.slice(at * maxTags, (at + 1) * maxTags),
          )
        : [null]
      const files = (await recordsOf(parts).list('vector_store_file', id)).map(({ value }) => value)
      const known = new Map(files.map((file) => [documentIdOf(id, file.fileId), file]))
      const [queries, limit] = [[body.query].flat(), body.max_num_results ?? 10]
      const searches = queries.flatMap((query) => groups.map((group) => ({ text: query, tags: group })))
      const best = new Map<string, { score: number; [key: string]: unknown }>()
      for (const { text: query, tags: group } of searches)
        for (const { document, content, span } of await parts.knowledge.search({
          text: query,
          filters: { document_set: [store.set.name], tags: group },
          caller,
          limit,
          signal,
        })) {
          const [file, score] = [known.get(document.document_id), Math.min(1, Math.max(0, document.score ?? 0))]
          const key = `${span.first} ${document.document_id}`
          if (score < (body.ranking_options?.score_threshold ?? 0) || score <= (best.get(key)?.score ?? -1)) continue
          best.set(key, {
            file_id: file ? toFileId(file.fileId) : document.document_id,
            filename: file?.name ?? document.semantic_identifier,
            score,
            attributes: { ...file?.attributes },
            content: [{ type: 'text', text: content }],
          })
        }
      const data = [...best.values()].toSorted((left, right) => right.score - left.score).slice(0, limit)
      const object = 'vector_store.search_results.page'
      return { object, search_query: queries, data, has_more: false, next_page: null }
    },
  }),
]
