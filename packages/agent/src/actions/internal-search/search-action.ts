import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import type { BaseFilters } from '@inlay/protocol'
import type { Action, ActionTurn } from '../../contracts/action.ts'
import type { ExcerptReader, Passage, PassageSearch } from '../../contracts/search.ts'
import { cleanQueries, expandQueries, maxQueries, queryWeights, type WeightedQuery } from './query-expansion.ts'
import { joinHistory } from './joined-history.ts'
import { withoutHiddenMarkup } from './hidden-markup.ts'
import { narrowFilters, toFilterPacket, type Narrowing } from './narrowing.ts'
import {
  defaultResultTokens,
  distinctDocuments,
  mostRelevant,
  toResultText,
  addNeighbours,
  withoutWeak,
  mergeSections,
} from './sections.ts'
import { alternate, fuseRankings, passageKey, rankDown } from '../merged-queries.ts'

/** Help of the model of the run with a search. A model that only quotes documents is never asked. */
export interface SearchHelp {
  /** Lets the model add queries while its own are searched. Default true. */
  readonly expand?: boolean
  /** Timeout of this question, in milliseconds; the search continues without the answer. Default 6000. */
  readonly timeoutMs?: number
}

export interface InternalSearchOptions {
  readonly search: PassageSearch
  /** Reads the text around a passage. Default: passages are used as found. */
  readonly readExcerpt?: ExcerptReader
  readonly help?: SearchHelp
}

/** Documents found, documents shown with the call and passages given to the model, unless the turn takes fewer. */
const usual = { found: 50, shown: 10, passages: 25 }

export interface InternalSearchInput extends Narrowing {
  readonly queries: readonly string[]
}

const dateSchema = (description: string) =>
  v.optional(v.pipe(v.string(), v.description(`${description}, YYYY-MM-DD; seldom of use`)))

const inputSchema = v.object({
  queries: v.pipe(
    v.array(v.string()),
    v.minLength(1),
    v.description(`Short queries to search for at once, most important first; ${maxQueries} at most`),
  ),
  sources: v.optional(
    v.pipe(
      v.array(v.string()),
      v.description('Only these sources (source_type of earlier results), if the person says where to look'),
    ),
  ),
  updated_from: dateSchema('Only changed on this day or later'),
  updated_to: dateSchema('Only changed on this day or earlier'),
})

export const internalSearchId = 1

/** Fuses the rankings of its queries, and of those that a model adds, by weighted reciprocal rank. */
export function createInternalSearch(options: InternalSearchOptions): Action<InternalSearchInput> {
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
      const { maxPassages: most = Infinity } = turn
      const limit = Math.min(usual.found, most)
      const requested = turn.filters ?? null
      const asksForLess = narrowing.sources || narrowing.updated_from || narrowing.updated_to
      const filters = asksForLess ? narrowFilters(requested, narrowing) : requested
      const narrowed = filters && toFilterPacket(filters)
      if (narrowed) turn.emit(narrowed)
      const queries = cleanQueries(given, turn.userMessage)
      const narrowedFound = await searchAll(queries, filters, limit, options, turn)
      const isNarrowed = JSON.stringify(filters) !== JSON.stringify(requested)
      // Filters that the model invented must not hide every result.
      const wasWidened = isNarrowed && narrowedFound.passages.length === 0
      const ranking = wasWidened
        ? await searchAll(queries, requested, limit, { ...options, help: { expand: false } }, silent(turn))
        : narrowedFound
      const documents = distinctDocuments(ranking.passages).slice(0, limit)
      const sections = await selectSections(ranking, Math.min(usual.passages, most), options, turn)
      const shown = mostRelevant(documents).slice(0, Math.min(usual.shown, most))
      if (shown.length > 0) turn.emit({ type: 'search_tool_documents_delta', documents: shown })
      const sought = [ranking.question, ...queries].join(' ')
      const text = toResultText(sections, turn, { sought, wasWidened })
      return { text, documents: shown, foundDocuments: documents }
    },
  }
}

const silent = (turn: ActionTurn): ActionTurn => ({ ...turn, emit: () => {} })

const defaultHelpMs = 6_000
/** With this many queries the model has already varied its words. */
const enoughQueries = 2

interface Found {
  readonly passages: readonly Passage[]
  /** The message of the turn; rewritten to stand alone if a model did so. */
  readonly question: string
  /** Keys of passages whose score is close to the best one of a query. */
  readonly strong: ReadonlySet<string>
}

/** Searches for the given queries while asking for more; reports all of them to clients by descending weight. */
async function searchAll(
  given: readonly string[],
  filters: BaseFilters | null,
  limit: number,
  { search, help = {} }: InternalSearchOptions,
  turn: ActionTurn,
): Promise<Found> {
  const { caller, signal } = turn
  const find = ({ text }: WeightedQuery): Promise<readonly Passage[]> =>
    search({ text, filters, caller, limit, signal })
  const own = given.map((text): WeightedQuery => ({ text, weight: queryWeights.given }))
  const begun = Promise.allSettled(own.map(find))
  // The queries of a model for a first question stand: it knew all that there is to know.
  const mayExpand = (help.expand ?? true) && given.length < enoughQueries && (turn.messages ?? []).length > 0
  const more = mayExpand ? await expandQueries(given, turn, help.timeoutMs ?? defaultHelpMs) : []
  const rewritten = more.find(({ weight }) => weight === queryWeights.question)?.text
  const joined = joinMessage(given, turn)
  const added =
    joined === undefined || rewritten !== undefined ? more : [...more, { text: joined, weight: queryWeights.question }]
  const all = [...own, ...added].toSorted((a, b) => b.weight - a.weight)
  turn.emit({ type: 'search_tool_queries_delta', queries: all.map(({ text }) => text) })
  const outcomes = [...(await begun), ...(await Promise.allSettled(added.map(find)))]
  const queryRankings = [...own, ...added].flatMap((query, index) => {
    const outcome = outcomes[index]
    return outcome?.status === 'fulfilled' ? [{ ...query, items: outcome.value }] : []
  })
  const rankings = joined === undefined ? queryRankings : withoutBareMessage(queryRankings, given[0])
  // A failed query only loses its own passages; when all fail, the error of the first is thrown.
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (rankings.length === 0 && failed) throw failed.reason
  // Scores of different queries do not compare.
  const strong = new Set(queryRankings.flatMap(({ items }) => withoutWeak(items, maxKept)).map(passageKey))
  return { passages: fusePassages(rankings), question: rewritten ?? turn.userMessage, strong }
}

/**
 * Words of earlier questions join a follow-up that is searched for as it was asked. A model that only quotes, and so is
 * never asked, joins them by itself.
 */
function joinMessage(given: readonly string[], { ask, userMessage, messages = [] }: ActionTurn): string | undefined {
  const isAsAsked = given.length === 1 && given[0] === cleanQueries([], userMessage)[0]
  return ask && isAsAsked ? joinHistory(userMessage, messages) : undefined
}

interface QueryRanking extends WeightedQuery {
  readonly items: readonly Passage[]
}

/**
 * Makes one ranking of a message that depends on its conversation and of the question that stands for it. As two of
 * them, what shares only the few words of the message would count twice, and rise above what answers the question.
 */
export function withoutBareMessage(
  rankings: readonly QueryRanking[],
  message: string | undefined,
): readonly QueryRanking[] {
  const bare = rankings.find(({ text }) => text === message)
  const whole = rankings.find(({ weight }) => weight === queryWeights.question)
  if (!bare || !whole) return rankings
  const items = alternate(whole.items, bare.items, passageKey)
  return [{ ...whole, items }, ...rankings.filter((ranking) => ranking !== bare && ranking !== whole)]
}

/** More queries for a text and the conversation before it; none without a model to ask. */
export function askForQueries(
  text: string,
  turn: Pick<ActionTurn, 'ask' | 'messages' | 'signal'>,
  { timeoutMs = defaultHelpMs }: SearchHelp = {},
): Promise<readonly WeightedQuery[]> {
  return expandQueries([text], { ...turn, userMessage: text }, timeoutMs)
}

/** Fuses rankings by weighted reciprocal rank; a single ranking stays as it is. */
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

// In a smaller space, several passages are worth more than one with the text around it.
const tightTokens = 4_000
const maxKept = 3

async function selectSections(
  { passages, strong }: Found,
  maxPassages: number,
  { readExcerpt }: InternalSearchOptions,
  turn: ActionTurn,
): Promise<readonly Passage[]> {
  const resultTokens = turn.resultTokens ?? defaultResultTokens
  const isTight = resultTokens < tightTokens
  const best = (isTight ? passages.filter((passage) => strong.has(passageKey(passage))) : passages).slice(
    0,
    maxPassages * 2,
  )
  const sections = rankDown(isTight ? best : mergeSections(best)).slice(0, maxPassages)
  // A model that only quotes finds its sentences best in the passages as found.
  if (!turn.ask) return sections
  const neighbours = { sections: 5, chunks: 1, maxTokens: resultTokens * 0.8 }
  const grown = readExcerpt ? await addNeighbours(sections, turn, { readExcerpt, ...neighbours }) : sections
  return isTight ? grown.map(toPlain) : grown
}

function toPlain({ content, core, ...section }: Passage): Passage {
  return { ...section, content: withoutHiddenMarkup(content), ...(core && { core: withoutHiddenMarkup(core) }) }
}
