import type { LlmOverride } from '@inlay/protocol'
import type { Persona } from '../personas/contracts.ts'

/**
 * The override of an answer where its agent has a model of its own: what is asked for wins, and what that leaves open is
 * the agent's. A version alone belongs to the agent's provider.
 */
export function withPersonaModel(asked: LlmOverride | null, { model }: Pick<Persona, 'model'>): LlmOverride | null {
  if (model === null || asked?.model_configuration_id || asked?.model_provider) return asked
  return { ...asked, model_provider: model.provider, model_version: asked?.model_version || model.name }
}
