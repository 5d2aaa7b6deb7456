import * as v from 'valibot'
import { always, boolean, integer, model, type Wire } from '../fields.ts'

export const modelConfigurationSchema = model('ModelConfiguration', {
  /** Id, used in `llm_override.model_configuration_id`. */
  id: integer,
  /** Name, used in `llm_override.model_version`. */
  name: v.string(),
  is_visible: always(true, boolean),
  /** Context window: tokens of prompt and answer together. */
  max_input_tokens: v.nullable(integer),
  /** Whether it accepts images. */
  supports_image_input: boolean,
  /** Whether it supports reasoning. */
  supports_reasoning: boolean,
  /** Reasoning efforts a session can select, from `off` to `xhigh`; empty: none. */
  supported_reasoning_efforts: v.array(v.string()),
  reasoning_effort_max: always(null, v.nullable(v.string())),
  reasoning_effort_default: always(null, v.nullable(v.string())),
  temperature_default: always(null, v.nullable(v.number())),
  /** Whether this is the default model. */
  is_recommended_default: boolean,
  /** Display name. */
  display_name: v.nullable(v.string()),
  custom_display_name: always(null, v.nullable(v.string())),
  /** Display name of the provider. */
  provider_display_name: v.nullable(v.string()),
  vendor: always(null, v.nullable(v.string())),
  version: always(null, v.nullable(v.string())),
  region: always(null, v.nullable(v.string())),
})

/** A model that clients can select. */
export type ModelConfiguration = Wire<typeof modelConfigurationSchema>

export const llmProviderSchema = model('LlmProvider', {
  /** Number of the provider. */
  id: integer,
  /** Name, used in `llm_override.model_provider`. */
  name: v.string(),
  /** Kind of the provider, such as `openai` or `extractive`. */
  provider: v.string(),
  /** Display name. */
  provider_display_name: v.string(),
  /** The models it offers. */
  model_configurations: v.array(modelConfigurationSchema),
})

/** The models of one provider. */
export type LlmProvider = Wire<typeof llmProviderSchema>

export const defaultModelSchema = model('DefaultModel', {
  /** Number of the provider. */
  provider_id: integer,
  /** Name of the model. */
  model_name: v.string(),
})

/** Refers to a model of a provider. */
export type DefaultModel = Wire<typeof defaultModelSchema>

export const llmProvidersSchema = model('LlmProviders', {
  /** Providers with their models. */
  providers: v.array(llmProviderSchema),
  /** Default chat model. */
  default_text: v.nullable(defaultModelSchema),
  /** Model that describes images. */
  default_vision: v.nullable(defaultModelSchema),
  /** Model that names sessions. */
  default_chat_naming: v.nullable(defaultModelSchema),
})

/** Answer of `GET /llm/provider`: the models clients can select, and the defaults. */
export type LlmProviders = Wire<typeof llmProvidersSchema>
