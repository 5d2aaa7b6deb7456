import type { LlmOverride } from '@inlay/protocol'
import type { SessionRecord } from '../contracts/conversation-store.ts'
import type { Persona } from '../contracts/persona.ts'

/**
 * The override of an answer: what the request asks for, and where it asks for nothing, what its session is set to. A
 * request that names a model keeps the session's temperature unless it brings its own.
 */
export function chooseModel(
  override: LlmOverride | null,
  session: Pick<SessionRecord, 'modelOverride' | 'temperature'> | null,
): LlmOverride | null {
  const { modelOverride = null, temperature: ownTemperature = null } = session ?? {}
  if (modelOverride === null && ownTemperature === null) return override
  const temperature = override?.temperature ?? ownTemperature
  return { ...(namesModel(override) ? override : modelOverride), temperature }
}

function namesModel(override: LlmOverride | null): boolean {
  return Boolean(override?.model_configuration_id || override?.model_provider || override?.model_version)
}

/**
 * The override of an answer where its agent has a model of its own: what is asked for wins, and what that leaves open is
 * the agent's. A version alone belongs to the agent's provider.
 */
export function withPersonaModel(override: LlmOverride | null, { model }: Pick<Persona, 'model'>): LlmOverride | null {
  if (model === null || override?.model_configuration_id || override?.model_provider) return override
  return { ...override, model_provider: model.provider, model_version: override?.model_version || model.name }
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
