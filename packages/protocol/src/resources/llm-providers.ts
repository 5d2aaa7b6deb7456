import * as v from 'valibot'
import { integer, model, type WireSchema } from '../fields.ts'

/** A model a client may choose. */
export interface ModelConfiguration {
  /** For `llm_override.model_configuration_id`. */
  readonly id: number
  /** For `llm_override.model_version`. */
  readonly name: string
  readonly is_visible: boolean
  /** Tokens of prompt and answer together. */
  readonly max_input_tokens: number | null
  readonly supports_image_input: boolean
  readonly supports_reasoning: boolean
  /** What a person reads. */
  readonly display_name: string | null
}

/** The models of one provider. */
export interface LlmProvider {
  readonly id: number
  /** For `llm_override.model_provider`. */
  readonly name: string
  /** Kind of the provider, such as `openai` or `extractive`. */
  readonly provider: string
  /** What a person reads. */
  readonly provider_display_name: string
  readonly model_configurations: readonly ModelConfiguration[]
}

/** Names a model of a provider. */
export interface DefaultModel {
  readonly provider_id: number
  readonly model_name: string
}

/** Answer of `GET /llm/provider`: the models a client may choose from, and those taken when it does not. */
export interface LlmProviders {
  readonly providers: readonly LlmProvider[]
  readonly default_text: DefaultModel | null
  readonly default_vision: DefaultModel | null
  readonly default_chat_naming: DefaultModel | null
}

/** Schema of {@link ModelConfiguration}. */
export const modelConfigurationSchema: WireSchema<ModelConfiguration> = model({
  id: integer,
  name: v.string(),
  is_visible: v.boolean(),
  max_input_tokens: v.nullable(integer),
  supports_image_input: v.boolean(),
  supports_reasoning: v.boolean(),
  display_name: v.nullable(v.string()),
})

/** Schema of {@link LlmProvider}. */
export const llmProviderSchema: WireSchema<LlmProvider> = model({
  id: integer,
  name: v.string(),
  provider: v.string(),
  provider_display_name: v.string(),
  model_configurations: v.array(modelConfigurationSchema),
})

/** Schema of {@link DefaultModel}. */
export const defaultModelSchema: WireSchema<DefaultModel> = model({ provider_id: integer, model_name: v.string() })

/** Schema of {@link LlmProviders}. */
export const llmProvidersSchema: WireSchema<LlmProviders> = model({
  providers: v.array(llmProviderSchema),
  default_text: v.nullable(defaultModelSchema),
  default_vision: v.nullable(defaultModelSchema),
  default_chat_naming: v.nullable(defaultModelSchema),
})
