import { InlayError, type LlmOverride } from '@inlay/protocol'
import { askForQueries, fusePassages, withoutBareMessage } from '../actions/internal-search/search-action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { Persona } from '../contracts/persona.ts'
import type { Passage, PassageQuery } from '../contracts/search.ts'
import { queryWeights } from '../actions/internal-search/query-expansion.ts'
import { joinHistory } from '../actions/internal-search/joined-history.ts'
import { createQuestions, questionTimeoutMs } from '../model/questions.ts'
import { overrideOfAnswer } from '../model/override-precedence.ts'
import { personaFilters } from './turn-context.ts'
import type { TurnParts } from './turn-parts.ts'

/** @throws PERSONA_NOT_FOUND, NOT_FOUND (provider), VALIDATION_ERROR (model), NOT_IMPLEMENTED without a search */
export async function searchPassages(query: PassageQuery, parts: TurnParts): Promise<readonly Passage[]> {
  const { search, personas } = parts
  const { caller, limit, signal, text } = query
  const persona = await personas.get(query.personaId, caller)
  const model = await modelOf(query, persona, parts)
  if (!search) throw new InlayError('NOT_IMPLEMENTED', { message: 'There are no documents to search here.' })
  const bounds = await personaFilters(persona, query, parts)
  if (bounds.searchesNothing) return []
  const find = (words: string): Promise<readonly Passage[]> =>
    search({ text: words, filters: bounds.filters, caller, limit, signal })
  const passages = find(text)
  // Avoids an unhandled rejection while the model is asked; the promise is awaited below.
  passages.catch(() => {})
  const messages = (query.messages ?? []).slice(-maxMessages)
  const turn = { ask: model && toAsk(model, query, parts), messages, signal }
  const queries = model ? await askForQueries(text, turn, parts.searchHelp) : []
  const isRewritten = queries.some(({ weight }) => weight === queryWeights.question)
  const joined = query.skipsExpansion ? undefined : joinHistory(text, messages)
  const more =
    joined === undefined || isRewritten ? queries : [...queries, { text: joined, weight: queryWeights.question }]
  const rankings = await Promise.all(more.map(async (added) => ({ ...added, items: await find(added.text) })))
  const queryRankings = [{ text, weight: queryWeights.given, items: await passages }, ...rankings]
  return fusePassages(joined === undefined ? queryRankings : withoutBareMessage(queryRankings, text)).slice(0, limit)
}

/** Maximum messages before a query that a model reads. */
const maxMessages = 10

/** The model that helps; undefined when none is asked. A named model is validated in any case. */
async function modelOf(
  { model, skipsExpansion }: PassageQuery,
  persona: Persona,
  { models, questionModel, searchHelp }: TurnParts,
): Promise<ResolvedModel | undefined> {
  const override: LlmOverride | null = model && { model_provider: model.provider, model_version: model.version }
  if (model && !(await models.list()).some(({ provider }) => provider === model.provider)) {
    throw new InlayError('NOT_FOUND', { message: 'No model provider has this name: see GET /llm/provider.' })
  }
  const isAsked = !skipsExpansion && (searchHelp?.expand ?? true)
  if (!isAsked) return model ? void (await models.resolve(override)) : undefined
  return model || !questionModel ? models.resolve(overrideOfAnswer(override, null, persona)) : questionModel()
}

function toAsk(
  model: ResolvedModel,
  { signal }: PassageQuery,
  { wait }: TurnParts,
): ReturnType<typeof createQuestions> {
  // The text itself is searched for meanwhile, so a second attempt would only add delay.
  return createQuestions({
    model,
    modelIndex: 0,
    signal,
    maxAttempts: 1,
    wait,
    timeoutMs: questionTimeoutMs,
    onUsage: () => {},
  })
}
