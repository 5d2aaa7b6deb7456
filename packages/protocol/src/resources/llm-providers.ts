import * as v from 'valibot'
import { boolean, integer, model, type WireSchema } from '../fields.ts'

/** A model that clients can select. */
export interface ModelConfiguration {
  /** Id, used in `llm_override.model_configuration_id`. */
  readonly id: number
  /** Name, used in `llm_override.model_version`. */
  readonly name: string
  /** Whether clients should offer it. */
  readonly is_visible: boolean
  /** Context window: tokens of prompt and answer together. */
  readonly max_input_tokens: number | null
  /** Whether it accepts images. */
  readonly supports_image_input: boolean
  /** Whether it supports reasoning. */
  readonly supports_reasoning: boolean
  /** Reasoning efforts a session can select, from `off` to `xhigh`; empty: none. */
  readonly supported_reasoning_efforts: readonly string[]
  /** Always null here. */
  readonly reasoning_effort_max: string | null
  /** Always null here. */
  readonly reasoning_effort_default: string | null
  /** Always null here. */
  readonly temperature_default: number | null
  /** Whether this is the default model. */
  readonly is_recommended_default: boolean
  /** Display name. */
  readonly display_name: string | null
  /** Always null here. */
  readonly custom_display_name: string | null
  /** Display name of the provider. */
  readonly provider_display_name: string | null
  /** Vendor of the model, if known. */
  readonly vendor: string | null
  /** Version of the model, if known. */
  readonly version: string | null
  /** Region where the model runs, if known. */
  readonly region: string | null
}

/** The models of one provider. */
export interface LlmProvider {
  /** Number of the provider. */
  readonly id: number
  /** Name, used in `llm_override.model_provider`. */
  readonly name: string
  /** Kind of the provider, such as `openai` or `extractive`. */
  readonly provider: string
  /** Display name. */
  readonly provider_display_name: string
  /** The models it offers. */
  readonly model_configurations: readonly ModelConfiguration[]
}

/** Refers to a model of a provider. */
export interface DefaultModel {
  /** Number of the provider. */
  readonly provider_id: number
  /** Name of the model. */
  readonly model_name: string
}

/** Answer of `GET /llm/provider`: the models clients can select, and the defaults. */
export interface LlmProviders {
  /** Providers with their models. */
  readonly providers: readonly LlmProvider[]
  /** Default chat model. */
  readonly default_text: DefaultModel | null
  /** Model that describes images. */
  readonly default_vision: DefaultModel | null
  /** Model that names sessions. */
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
