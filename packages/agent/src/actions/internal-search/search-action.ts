import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import type { BaseFilters } from '@inlay/protocol'
import type { Action, ActionTurn } from '../../contracts/action.ts'
import type { ExcerptReader, Passage, PassageSearch } from '../../contracts/search.ts'
import {
  chooseSections,
  cleanQueries,
  expandQueries,
  queryLimit,
  queryWeights,
  searchesFirstMessage,
  type WeightedQuery,
} from './query-expansion.ts'
import { withoutHiddenMarkup } from './hidden-markup.ts'
import { narrowFilters, toFilterPacket, type Narrowing } from './narrowing.ts'
import {
  defaultResultTokens,
  distinctDocuments,
  mostRelevant,
  toResultText,
  addNeighbours,
  mergeSections,
  type Section,
} from './sections.ts'
import { fuseRankings, passageKey, rankDown } from '../merged-queries.ts'

/** Steps of a search that may use the model of the run; a model that only quotes documents is never used. */
export interface SearchHelp {
  /** It thinks of further queries, while those it gave are searched. Default true. */
  readonly expand?: boolean
  /** It chooses among what was found, when that is much. Default true. */
  readonly choose?: boolean
  /** Longest time of each of these questions, in milliseconds; without an answer the search goes on. Default 6000. */
  readonly limitMs?: number
}

/** Options of the search action. */
export interface InternalSearchOptions {
  readonly search: PassageSearch
  /** Reads what stands around a passage. Default: passages stay as they were found. */
  readonly readExcerpt?: ExcerptReader
  readonly help?: SearchHelp
  /** Most documents found, 1 to 200. Default 50. */
  readonly foundLimit?: number
  /** Most documents shown with the call. Default 10. */
  readonly shownLimit?: number
  /** Most passages the model reads. Default 25. */
  readonly passageLimit?: number
}

/** Arguments from the model. */
export interface InternalSearchInput extends Narrowing {
  readonly queries: readonly string[]
}

const dateSchema = (description: string) =>
  v.optional(v.nullable(v.pipe(v.string(), v.description(`${description}, YYYY-MM-DD; seldom of use`))))

const inputSchema = v.object({
  queries: v.pipe(
    v.array(v.pipe(v.string(), v.description('A short query in the words a document would use'))),
    v.minLength(1),
    v.description(`Queries to search for at once, most important first; ${queryLimit} at most`),
  ),
  sources: v.optional(
    v.nullable(
      v.pipe(
        v.array(v.string()),
        v.description(
          'Only documents of these sources, by their names in source_type of earlier results. Leave it out ' +
            'unless the person says where to look',
        ),
      ),
    ),
  ),
  updated_from: dateSchema('Only documents changed on this day or later'),
  updated_to: dateSchema('Only documents last changed on this day or earlier'),
})

/** Id of the search action, the same in every installation. */
export const internalSearchId = 1

/**
 * Makes the action `internal_search`: searches the organisation's documents for several queries at once, its own and
 * those a model adds, fuses what they find by weighted reciprocal rank, shows the best documents and gives the model
 * their passages as numbered data.
 */
export function createInternalSearch(options: InternalSearchOptions): Action<InternalSearchInput> {
  const { foundLimit = 50, shownLimit = 10, passageLimit = 25 } = options
  return {
    id: internalSearchId,
    name: 'internal_search',
    displayName: 'Internal Search',
    description: "Searches the organisation's own documents and gives numbered passages to answer from and to cite.",
    builtIn: 'SearchTool',
    input: toStandardJsonSchema(inputSchema),
    mergeArgument: 'queries',
    isCiting: true,
    start: () => ({ type: 'search_tool_start', is_internet_search: false }),
    run: async ({ queries: given, ...narrowing }, turn) => {
      const requested = turn.filters ?? null
      const asksForLess = narrowing.sources || narrowing.updated_from || narrowing.updated_to
      const filters = asksForLess ? narrowFilters(requested, narrowing) : requested
      const narrowed = filters && toFilterPacket(filters)
      if (narrowed) turn.emit(narrowed)
      const queries = cleanQueries(given, turn.userMessage)
      const narrowedFound = await searchAll(queries, { ...options, foundLimit, filters }, turn)
      const isNarrowed = JSON.stringify(filters) !== JSON.stringify(requested)
      // A model that made up its filters still gets what there is.
      const wasWidened = isNarrowed && narrowedFound.passages.length === 0
      const { passages, question } = wasWidened
        ? await searchAll(
            queries,
            { ...options, foundLimit, filters: requested, help: { expand: false } },
            silent(turn),
          )
        : narrowedFound
      const documents = distinctDocuments(passages).slice(0, foundLimit)
      const { sections, wereChosen } = await selectSections(
        passages,
        { queries, question },
        { ...options, passageLimit },
        turn,
      )
      const shown = (wereChosen ? distinctDocuments(sections) : mostRelevant(documents)).slice(0, shownLimit)
      if (shown.length > 0) turn.emit({ type: 'search_tool_documents_delta', documents: shown })
      const sought = [question, ...queries].join(' ')
      const text = toResultText(sections.slice(0, passageLimit), turn, { sought, wasWidened })
      return { text, documents: shown, foundDocuments: documents }
    },
  }
}

const silent = (turn: ActionTurn): ActionTurn => ({ ...turn, emit: () => {} })

const defaultHelpMs = 6_000
/** With so many queries of its own the model has thought of other words already. */
const enoughQueries = 2

interface Found {
  readonly passages: readonly Passage[]
  /** The message of the turn, on its own where a model has made it so. */
  readonly question: string
}

interface SearchAllOptions extends InternalSearchOptions {
  readonly foundLimit: number
  readonly filters: BaseFilters | null
}

/** Searches for the given queries and, meanwhile, asks for more; tells clients all of them by falling weight. */
async function searchAll(
  given: readonly string[],
  { search, help = {}, foundLimit, filters }: SearchAllOptions,
  turn: ActionTurn,
): Promise<Found> {
  const { caller, signal } = turn
  const find = ({ text }: WeightedQuery): Promise<readonly Passage[]> =>
    search({ text, filters, caller, limit: foundLimit, signal })
  const own = given.map((text): WeightedQuery => ({ text, weight: queryWeights.given }))
  const begun = Promise.allSettled(own.map(find))
  const mayExpand = (help.expand ?? true) && given.length < enoughQueries && !searchesFirstMessage(given, turn)
  const more = mayExpand ? await expandQueries(given, turn, help.limitMs ?? defaultHelpMs) : []
  const all = [...own, ...more].toSorted((a, b) => b.weight - a.weight)
  turn.emit({ type: 'search_tool_queries_delta', queries: all.map(({ text }) => text) })
  const outcomes = [...(await begun), ...(await Promise.allSettled(more.map(find)))]
  const rankings = [...own, ...more].flatMap(({ weight }, index) => {
    const outcome = outcomes[index]
    return outcome?.status === 'fulfilled' ? [{ items: outcome.value, weight }] : []
  })
  // One failing query leaves the others' passages; when all fail, the reason of the first does for all.
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (rankings.length === 0 && failed) throw failed.reason
  const question = more.find(({ weight }) => weight === queryWeights.question)?.text ?? turn.userMessage
  return { passages: fusePassages(rankings), question }
}

/** Further queries for a text and the conversation before it; none without a model to ask. */
export function askForQueries(
  text: string,
  turn: Pick<ActionTurn, 'ask' | 'messages' | 'signal'>,
  { limitMs = defaultHelpMs }: SearchHelp = {},
): Promise<readonly WeightedQuery[]> {
  return expandQueries([text], { ...turn, userMessage: text }, limitMs)
}

/** One ranking of several, by weighted reciprocal rank; a lone one stays as it is. */
export function fusePassages(
  rankings: readonly { readonly items: readonly Passage[]; readonly weight: number }[],
): Passage[] {
  const [first, ...others] = rankings
  if (first && others.length === 0) return [...first.items]
  const best = new Map<string, number>()
  for (const passage of rankings.flatMap(({ items }) => items)) {
    best.set(passageKey(passage), Math.max(best.get(passageKey(passage)) ?? 0, passage.document.score ?? 0))
  }
  return fuseRankings(rankings, passageKey).map(({ item }) => ({
    ...item,
    document: { ...item.document, score: item.document.score === null ? null : (best.get(passageKey(item)) ?? null) },
  }))
}

interface SelectOptions extends InternalSearchOptions {
  readonly passageLimit: number
}

// With less room, several passages tell more than one with what stands around it.
const tightTokens = 4_000
const mostChosen = 10
const mostJudged = 30
const mostKept = 3

/** Selects the sections for the model: merges passages, picks the best and adds their surrounding text. */
async function selectSections(
  passages: readonly Passage[],
  { queries, question }: { readonly queries: readonly string[]; readonly question: string },
  { readExcerpt, help = {}, passageLimit }: SelectOptions,
  turn: ActionTurn,
): Promise<{ readonly sections: readonly Section[]; readonly wereChosen: boolean }> {
  const best = passages.slice(0, passageLimit * 2)
  const isTight = (turn.resultTokens ?? defaultResultTokens) < tightTokens
  const merged = rankDown(isTight ? best : mergeSections(best))
  const choice = { shown: mostJudged, limit: mostChosen, limitMs: help.limitMs ?? defaultHelpMs }
  // To choose would cost more than all that fits.
  const mayChoose = turn.ask && (help.choose ?? true) && !isTight
  const chosen = mayChoose ? await chooseSections(merged, turn, queries, choice, question) : undefined
  // The best of the ranking stay whatever is chosen, so that no document can talk a model into hiding all others.
  const kept = merged.slice(0, mostKept).filter((section) => !chosen?.includes(section))
  const sections = chosen ? [...chosen, ...kept] : merged.slice(0, passageLimit)
  // A model that only quotes finds its sentences best where the search found them.
  if (!turn.ask) return { sections, wereChosen: false }
  const limitTokens = (turn.resultTokens ?? defaultResultTokens) * 0.8
  const grown = readExcerpt
    ? await addNeighbours(sections, turn, { readExcerpt, sections: 5, chunks: 1, limitTokens })
    : sections
  return { sections: isTight ? grown.map(toPlain) : grown, wereChosen: chosen !== undefined }
}

/** When space is short, drops decoration without information. */
function toPlain({ content, core, ...section }: Section): Section {
  return { ...section, content: withoutHiddenMarkup(content), ...(core && { core: withoutHiddenMarkup(core) }) }
}
