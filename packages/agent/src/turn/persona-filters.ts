import type { BaseFilters, Principal } from '@inlay/protocol'
import type { Persona } from '../contracts/persona.ts'
import type { NamedDocumentSet } from '../contracts/search.ts'

/** What bounds of an agent are read with. */
export interface PersonaFilterOptions {
  readonly documentSets: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
}

interface AskedFilters {
  readonly filters: BaseFilters | null
  readonly caller: Principal
}

/** The filters of a request within the bounds of an agent: its document sets, unless the request names some, and its start date. */
export async function personaFilters(
  persona: Persona,
  asked: AskedFilters,
  options: PersonaFilterOptions,
): Promise<{
  readonly filters: BaseFilters | null
  /** None of the agent's document sets can be searched. */
  readonly searchesNothing: boolean
}> {
  const sets = await setsOf(persona, asked, options)
  return { filters: mergeFilters(asked.filters, persona, sets), searchesNothing: sets?.length === 0 }
}

/**
 * Names of the agent's document sets that the caller may search; undefined when the agent has none, or the request names
 * its own. A set that is gone, or not open to the caller, leaves less to search, never more.
 */
async function setsOf(
  { documentSetIds }: Persona,
  { filters, caller }: AskedFilters,
  { documentSets }: PersonaFilterOptions,
): Promise<readonly string[] | undefined> {
  if (documentSetIds.length === 0 || (filters?.document_set ?? null) !== null) return undefined
  const visible = await documentSets(caller)
  return visible.filter(({ id }) => documentSetIds.includes(id)).map(({ name }) => name)
}

function mergeFilters(
  asked: BaseFilters | null,
  { searchStartDate }: Persona,
  sets: readonly string[] | undefined,
): BaseFilters | null {
  if (searchStartDate === null && (sets ?? []).length === 0) return asked
  const cutoff = asked?.time_cutoff ?? null
  const isLater = searchStartDate !== null && (cutoff === null || Date.parse(searchStartDate) > Date.parse(cutoff))
  return {
    ...asked,
    ...(sets ? { document_set: sets } : {}),
    time_cutoff: isLater ? searchStartDate : cutoff,
  }
}
