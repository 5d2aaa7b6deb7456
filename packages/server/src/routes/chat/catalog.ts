import type { ModelListing } from '@inlay/agent'
import {
  complete,
  llmProvidersSchema,
  modelConfigurationSchema,
  queryInteger,
  type DefaultModel,
  type LlmProvider,
  type LlmProviders,
  type ModelConfiguration,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Models', { scope: 'chat', owner: 'any' })

export const catalogRoutes: readonly Route[] = [
  route('GET /llm/provider', 'listModels', 'List models', {
    description: 'Lists the possible values of `llm_override`.',
    answer: { description: 'The models by provider.', schema: llmProvidersSchema },
    handle: async ({ parts }) => toProviders(await parts.agent.models()),
  }),
  route('GET /llm/persona/{persona_id}/providers', 'listPersonaModels', 'List models for an agent', {
    owner: 'caller',
    description: 'Like `/llm/provider`, but the default is the agent’s own model if it has one.',
    input: { path: v.object({ persona_id: queryInteger({}) }) },
    answer: { description: 'The models by provider.', schema: llmProvidersSchema },
    errors: ['PERSONA_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const { model } = await parts.agent.personas.get(path.persona_id, caller)
      return { ...toProviders(await parts.agent.models(), model), default_chat_naming: null }
    },
  }),
]

/** Models by provider. Ids are positions in the listing, from 1, and stable as long as the configuration is. */
export function toProviders(
  models: readonly ModelListing[],
  preferred: { readonly provider: string; readonly name: string } | null = null,
): LlmProviders {
  const providers: (LlmProvider & { readonly model_configurations: ModelConfiguration[] })[] = []
  let byDefault: DefaultModel | null = null
  let own: DefaultModel | null = null
  let vision: DefaultModel | null = null
  for (const [index, model] of models.entries()) {
    let provider = providers.find(({ name }) => name === model.provider)
    if (provider === undefined) {
      provider = {
        id: model.providerId ?? providers.length + 1,
        name: model.provider,
        provider: model.providerType,
        provider_display_name: model.providerDisplayName,
        model_configurations: [],
      }
      providers.push(provider)
    }
    provider.model_configurations.push(toConfiguration(model, index + 1))
    const named = { provider_id: provider.id, model_name: model.name }
    if (model.isDefault) byDefault = named
    if (model.provider === preferred?.provider && model.name === preferred.name) own = named
    if (model.takesImages && (vision === null || model.isDefault)) vision = named
  }
  return { providers, default_text: own ?? byDefault, default_vision: vision, default_chat_naming: byDefault }
}

function toConfiguration(model: ModelListing, id: number): ModelConfiguration {
  return complete(modelConfigurationSchema, {
    id,
    name: model.name,
    max_input_tokens: model.contextTokens,
    supports_image_input: model.takesImages,
    supports_reasoning: model.reasons === true,
    supported_reasoning_efforts: model.reasons === true ? ['low', 'medium', 'high'] : [],
    is_recommended_default: model.isDefault,
    display_name: model.displayName,
    provider_display_name: model.providerDisplayName,
  })
}
