import { hash } from 'node:crypto'
import { fusePassages, toWebDocument, type Passage, type PassageSearch } from '@inlay/agent'
import type { BaseFilters, Principal } from '@inlay/protocol'
import * as v from 'valibot'

/** What a retriever is asked for. */
export interface RetrieverQuery {
  readonly query: string
  /** Filters of the request and of the model. */
  readonly filters: BaseFilters | null
  /** Who asks: the retriever returns only what this caller may read. */
  readonly caller: Principal
  /** Aborts after five seconds, and when the run is stopped. */
  readonly signal: AbortSignal
}

/** A passage of a retriever. */
export interface RetrievedPassage {
  /** Id of its document; several passages can share it. */
  readonly id: string
  readonly title: string
  readonly text: string
  /** Address that a citation opens. Default: none. */
  readonly link?: string | null | undefined
  /** On any scale; all or none of the passages have it. Default: all are alike. */
  readonly score?: number | undefined
}

const passagesSchema: v.GenericSchema<readonly RetrievedPassage[]> = v.array(
  v.object({
    id: v.pipe(v.string(), v.nonEmpty()),
    title: v.string(),
    text: v.string(),
    link: v.nullish(v.string()),
    score: v.optional(v.pipe(v.number(), v.finite())),
  }),
)

/** A search of the host, asked beside the built-in one for each query. */
export interface Retriever {
  readonly name: string
  /** Finds passages, best first. */
  retrieve(query: RetrieverQuery): Promise<readonly RetrievedPassage[]> | readonly RetrievedPassage[]
}

/** Adds retrievers to a search: their passages and its own are fused by rank. One that fails is reported and left out. */
export function searchWith(
  search: PassageSearch,
  retrievers: readonly Retriever[],
  { onError, timeoutMs = 5_000 }: { readonly onError: (error: unknown) => void; readonly timeoutMs?: number },
): PassageSearch {
  return async (query) => {
    const { text, filters = null, caller, limit, signal: stopped } = query
    const ask = async (retriever: Retriever): Promise<readonly RetrievedPassage[]> => {
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = stopped ? AbortSignal.any([stopped, timeout]) : timeout
      try {
        signal.throwIfAborted()
        const { promise: aborted, reject } = Promise.withResolvers<never>()
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        // Also catches what is thrown at once.
        const given = (async () => retriever.retrieve({ query: text, filters, caller, signal }))()
        return v.parse(passagesSchema, await Promise.race([given, aborted])).slice(0, limit)
      } catch (cause) {
        const message = `The retriever ${JSON.stringify(retriever.name)} failed, so its passages are missing.`
        if (!stopped?.aborted) onError(new Error(message, { cause }))
        return []
      }
    }
    const [own, ...others] = await Promise.all([search(query), ...retrievers.map(ask)])
    const top = Math.max(0, ...own.map(({ document }) => document.score ?? 0)) || 1
    const lists = others.map((given, at) => toPassages(given, retrievers[at]?.name ?? '', top))
    const rankings = [own, ...lists].flatMap((items) => (items.length === 0 ? [] : [{ items, weight: 1 }]))
    return fusePassages(rankings).slice(0, limit)
  }
}

/** @param top best score of the built-in search: no list may hide another by its scale */
function toPassages(given: readonly RetrievedPassage[], name: string, top: number): Passage[] {
  const best = Math.max(0, ...given.map(({ score = 1 }) => score)) || 1
  return given.map(({ id, title, text, link = null, score = 1 }) => {
    // More than a model is given.
    const content = text.slice(0, 50_000).toWellFormed()
    const document = {
      ...toWebDocument({ url: '', title: title.trim() === '' ? id : title, blurb: text.slice(0, 480), rank: 0 }),
      document_id: `RETRIEVED_DOC_${name}_${id}`,
      // The same for the same text, whichever query it answers.
      chunk_ind: Number.parseInt(hash('sha256', content).slice(0, 7), 16),
      link,
      source_type: 'not_applicable',
      is_internet: false,
      score: (score / best) * top,
    } as const
    return { content, document }
  })
}
