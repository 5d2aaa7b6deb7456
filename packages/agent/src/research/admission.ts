import { InlayError, isInlayError } from '@inlay/protocol'
import type { SendMessageRequest } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { PastMessage } from '../contracts/conversation-store.ts'
import {
  toKnownLimits,
  limitsOf,
  type ComingResearch,
  type KnownLimits,
  type ResearchOptions,
  type TokenPrice,
} from './limits.ts'

export const minResearchTokens = 8_000

export interface AdmittedResearch {
  readonly limits: KnownLimits
  readonly price: TokenPrice | undefined
}

/**
 * @throws VALIDATION_ERROR in a project, for a model that only quotes or whose window is too small; errors of the
 * host's policy
 */
export async function admitResearch(
  options: ResearchOptions,
  { projectId, ...coming }: Omit<ComingResearch, 'model'> & { readonly projectId: number | null },
  model: ResolvedModel,
  onError: (error: unknown) => void,
): Promise<AdmittedResearch> {
  if (projectId !== null) {
    throw refused('Deep research is not available in projects: ask outside of the project, or without deep_research.')
  }
  if (model.quotesOnly) {
    throw refused(
      `Deep research needs a language model; ${model.displayName} only quotes. Set one (INLAY_MODEL), or ask without deep_research.`,
    )
  }
  if (model.contextTokens < minResearchTokens) {
    throw refused(
      `Deep research needs a model that takes ${minResearchTokens} tokens or more; ${model.name} takes ${model.contextTokens}. If it takes more, set its context tokens (INLAY_MODEL_CONTEXT_TOKENS).`,
    )
  }
  const named = { provider: model.provider, name: model.name }
  return {
    limits: toKnownLimits(
      limitsOf(model.contextTokens),
      options.limits,
      await askPolicy(options, { ...coming, model: named }, onError),
    ),
    price: options.priceOf?.(named),
  }
}

async function askPolicy(
  { policy }: ResearchOptions,
  coming: ComingResearch,
  onError: (error: unknown) => void,
): Promise<ResearchOptions['limits']> {
  let wasReported = false
  try {
    const limits = (await policy?.(coming)) ?? undefined
    wasReported = true
    toKnownLimits(limits)
    return limits
  } catch (error) {
    if (isInlayError(error) && !wasReported) throw error
    onError(error)
    throw new InlayError('HOOK_EXECUTION_FAILED', { cause: error })
  }
}

export function checkOneModel({ deep_research: isResearch, llm_overrides: several }: SendMessageRequest): void {
  if (!isResearch || (several ?? []).length < 2) return
  throw refused('Deep research is done by one model: send one llm_override, or no deep_research.')
}

const searchKinds: readonly (string | null)[] = ['SearchTool', 'WebSearchTool']

/** Actions that agents may use: those that search, and the one that reads pages. */
export function researchActions(actions: readonly Action[]): readonly Action[] {
  return actions.filter(({ builtIn }) => searchKinds.includes(builtIn) || builtIn === 'OpenURLTool')
}

/** Rejects a research run that could not search, or that would have to begin with another action. */
export function checkSearches(actions: readonly Action[], forced: Action | undefined): void {
  if (!actions.some(({ builtIn }) => searchKinds.includes(builtIn))) {
    throw refused('Deep research needs something to search: add documents, or allow a search action (see GET /tool).')
  }
  if (forced && !searchKinds.includes(forced.builtIn)) {
    throw refused('Deep research can only be forced to begin with a search: see GET /tool for its id.')
  }
}

function refused(message: string): InlayError {
  return new InlayError('VALIDATION_ERROR', { message })
}

/**
 * Asked by a finished research run without agents. @param answer the one before the question; undefined when there is
 * none
 */
export function wasClarification(answer: PastMessage | undefined): boolean {
  return answer?.status === 'done' && answer.params?.['deep_research'] === true && answer.callCount === 0
}

/** Stored with answers: other names would not be found in old ones. */
export const researchParams = { deep_research: true } as const
