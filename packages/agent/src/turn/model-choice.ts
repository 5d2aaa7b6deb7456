import type { LlmOverride } from '@inlay/protocol'
import type { ModelListing } from '../contracts.ts'

/** What a session says about the model of its answers. */
export interface SessionModel {
  /** What it is pinned to; null when it follows the default. */
  readonly modelOverride: LlmOverride | null
  readonly temperature: number | null
}

/**
 * The override of an answer: what the request asks for, and where it asks for nothing, what its session is set to. A
 * request that names a model keeps the session's temperature unless it brings its own.
 */
export function chooseModel(asked: LlmOverride | null, session: SessionModel | null): LlmOverride | null {
  if (session === null || (session.modelOverride === null && session.temperature === null)) return asked
  const temperature = asked?.temperature ?? session.temperature
  return { ...(namesModel(asked) ? asked : session.modelOverride), temperature }
}

function namesModel(override: LlmOverride | null): boolean {
  return Boolean(override?.model_configuration_id || override?.model_provider || override?.model_version)
}

/** Reads what a session is to be pinned to: a name of the listing, or `provider__type__model`. */
export function readPinnedModel(model: string, listing: readonly ModelListing[]): LlmOverride {
  const named = listing.filter(({ name }) => name === model)
  const one = named.find(({ isDefault }) => isDefault) ?? named[0]
  if (one) return { model_provider: one.provider, model_version: one.name }
  const [provider = '', type, ...rest] = model.split('__')
  return type !== undefined && rest.length > 0
    ? { model_provider: provider, model_version: rest.join('__') }
    : { model_version: model }
}

// Names that clients use, and what models understand; undefined leaves it to the model.
const efforts = {
  auto: undefined,
  off: 'none',
  none: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
} as const

/** How much a model is told to think. */
export type ReasoningEffort = Exclude<(typeof efforts)[keyof typeof efforts], undefined>

/** What a session's reasoning effort may be. */
export const reasoningEfforts: readonly string[] = Object.keys(efforts)

/** A session's reasoning effort as models understand it; undefined leaves it to the model. */
export function toReasoningEffort(effort: string | null): ReasoningEffort | undefined {
  return effort !== null && Object.hasOwn(efforts, effort) ? efforts[effort as keyof typeof efforts] : undefined
}
