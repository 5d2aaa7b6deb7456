import * as v from 'valibot'
import { boolean, integer, model, type WireSchema } from '../fields.ts'

/** A model a client may choose. */
export interface ModelConfiguration {
  /** For `llm_override.model_configuration_id`. */
  readonly id: number
  /** For `llm_override.model_version`. */
  readonly name: string
  /** Whether clients shall offer it. */
  readonly is_visible: boolean
  /** Tokens of prompt and answer together. */
  readonly max_input_tokens: number | null
  /** Whether it sees images. */
  readonly supports_image_input: boolean
  /** Whether it reasons. */
  readonly supports_reasoning: boolean
  /** Efforts a session may set for it, from `off` to `xhigh`; empty: none. */
  readonly supported_reasoning_efforts: readonly string[]
  /** Always null here. */
  readonly reasoning_effort_max: string | null
  /** Always null here. */
  readonly reasoning_effort_default: string | null
  /** Always null here. */
  readonly temperature_default: number | null
  /** Whether it is the model that answers unless a request names another. */
  readonly is_recommended_default: boolean
  /** What a person reads. */
  readonly display_name: string | null
  /** Always null here. */
  readonly custom_display_name: string | null
  /** What a person reads of the provider. */
  readonly provider_display_name: string | null
  /** Who makes the model, where that is known. */
  readonly vendor: string | null
  /** Version of the model, where that is known. */
  readonly version: string | null
  /** Where the model runs, where that is known. */
  readonly region: string | null
}

/** The models of one provider. */
export interface LlmProvider {
  /** Number of the provider. */
  readonly id: number
  /** For `llm_override.model_provider`. */
  readonly name: string
  /** Kind of the provider, such as `openai` or `extractive`. */
  readonly provider: string
  /** What a person reads. */
  readonly provider_display_name: string
  /** The models it offers. */
  readonly model_configurations: readonly ModelConfiguration[]
}

/** Names a model of a provider. */
export interface DefaultModel {
  /** Number of the provider. */
  readonly provider_id: number
  /** Name of the model. */
  readonly model_name: string
}

/** Answer of `GET /llm/provider`: the models a client may choose from, and those taken when it does not. */
export interface LlmProviders {
  /** The providers, each with its models. */
  readonly providers: readonly LlmProvider[]
  /** The model that answers by default. */
  readonly default_text: DefaultModel | null
  /** The model that describes images. */
  readonly default_vision: DefaultModel | null
  /** The model that names sessions. */
  readonly default_chat_naming: DefaultModel | null
}

export const modelConfigurationSchema: WireSchema<ModelConfiguration> = model('ModelConfiguration', {
  id: integer,
  name: v.string(),
  is_visible: boolean,
  max_input_tokens: v.nullable(integer),
  supports_image_input: boolean,
  supports_reasoning: boolean,
  supported_reasoning_efforts: v.array(v.string()),
  reasoning_effort_max: v.nullable(v.string()),
  reasoning_effort_default: v.nullable(v.string()),
  temperature_default: v.nullable(v.number()),
  is_recommended_default: boolean,
  display_name: v.nullable(v.string()),
  custom_display_name: v.nullable(v.string()),
  provider_display_name: v.nullable(v.string()),
  vendor: v.nullable(v.string()),
  version: v.nullable(v.string()),
  region: v.nullable(v.string()),
})

export const llmProviderSchema: WireSchema<LlmProvider> = model('LlmProvider', {
  id: integer,
  name: v.string(),
  provider: v.string(),
  provider_display_name: v.string(),
  model_configurations: v.array(modelConfigurationSchema),
})

export const defaultModelSchema: WireSchema<DefaultModel> = model('DefaultModel', {
  provider_id: integer,
  model_name: v.string(),
})

export const llmProvidersSchema: WireSchema<LlmProviders> = model('LlmProviders', {
  providers: v.array(llmProviderSchema),
  default_text: v.nullable(defaultModelSchema),
  default_vision: v.nullable(defaultModelSchema),
  default_chat_naming: v.nullable(defaultModelSchema),
})
