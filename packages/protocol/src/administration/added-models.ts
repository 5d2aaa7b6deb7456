import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type Wire } from '../fields.ts'

const filled = v.pipe(text, v.trim(), v.nonEmpty(), v.maxLength(2000))

const addedModelSchema = model('AddedModel', {
  /** Name of the model at its provider. */
  name: filled,
  /** Whether clients should offer it; the others are not kept. */
  is_visible: v.optional(boolean, true),
  /** Context window: tokens of prompt and answer together; null: as known of the model. */
  max_input_tokens: orNull(integer),
  /** Whether it accepts images; null: as known of the model. */
  supports_image_input: orNull(boolean),
})

export const modelProviderChangeSchema = model('ModelProviderChange', {
  /** Id of the provider to change; null: the one with this name. */
  id: orNull(integer),
  /** Name, used in `llm_override.model_provider`; null: the kind of the provider. */
  name: orNull(filled),
  /** Kind of the provider, such as `deepseek`; any other with an OpenAI-compatible `api_base`. */
  provider: filled,
  /** Key of the provider. It is stored encrypted and never returned. */
  api_key: orNull(text),
  /** Whether `api_key` replaces the stored key; false keeps it. */
  api_key_changed: v.optional(boolean, false),
  /** Address of the API with its version; null: that of the provider. */
  api_base: orNull(text),
  /** Sent as `api-version` with each request. */
  api_version: orNull(text),
  /** Not supported: refused unless empty. */
  custom_config: orNull(v.record(v.string(), v.unknown())),
  /** The models it offers, at least one. */
  model_configurations: v.array(addedModelSchema),
})

/** Body of `PUT /admin/llm/provider`. */
export type ModelProviderChange = Wire<typeof modelProviderChangeSchema>

export const defaultModelChangeSchema = model('DefaultModelChange', {
  /** Id of the provider. */
  provider_id: integer,
  /** Name of the model. */
  model_name: filled,
})

/** Body of `POST /admin/llm/default`. */
export type DefaultModelChange = Wire<typeof defaultModelChangeSchema>
