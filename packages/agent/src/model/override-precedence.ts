import type { LlmOverride } from '@inlay/protocol'
import type { SessionRecord } from '../contracts/conversation-store.ts'
import type { Persona } from '../contracts/persona.ts'

/**
 * The model override of an answer: that of the request, else of its session, else the model of its agent. A request
 * that names a model keeps the session's temperature unless it has its own; a version without a provider belongs to the
 * agent's provider.
 */
export function overrideOfAnswer(
  requested: LlmOverride | null,
  session: Pick<SessionRecord, 'modelOverride' | 'temperature'> | null,
  persona: Pick<Persona, 'model'>,
): LlmOverride | null {
  const override = session ? ofSession(requested, session) : requested
  if (persona.model === null || override?.model_configuration_id || override?.model_provider) return override
  const { provider, name } = persona.model
  return { ...override, model_provider: provider, model_version: override?.model_version || name }
}

function ofSession(
  override: LlmOverride | null,
  { modelOverride, temperature: ownTemperature }: Pick<SessionRecord, 'modelOverride' | 'temperature'>,
): LlmOverride | null {
  if (modelOverride === null && ownTemperature === null) return override
  const temperature = override?.temperature ?? ownTemperature
  return { ...(namesModel(override) ? override : modelOverride), temperature }
}

function namesModel(override: LlmOverride | null): boolean {
  return Boolean(override?.model_configuration_id || override?.model_provider || override?.model_version)
}

// Names that clients use, and those that models understand; undefined leaves the effort to the model.
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

export type ReasoningEffort = Exclude<(typeof efforts)[keyof typeof efforts], undefined>

export const reasoningEfforts: readonly string[] = Object.keys(efforts)

/** A session's reasoning effort as models understand it; undefined leaves it to the model. */
export function toReasoningEffort(effort: string | null | undefined): ReasoningEffort | undefined {
  return effort && Object.hasOwn(efforts, effort) ? efforts[effort as keyof typeof efforts] : undefined
}
