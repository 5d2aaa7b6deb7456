import * as v from 'valibot'
import { closedModel, model, orNull, text, type Wire } from '../fields.ts'

/** A local model server, such as Ollama, running on the same machine. */
const localModelServerSchema = model('LocalModelServer', {
  /** Product name, e.g. `Ollama`. */
  name: v.string(),
  /** URL of its OpenAI-compatible API. */
  base_url: v.string(),
  /** Names of its models, at least one. */
  models: v.array(v.string()),
})

/** The selected local model. */
const chosenLocalModelSchema = model('ChosenLocalModel', {
  /** Name of the server that provides it. */
  server: v.string(),
  /** URL of its OpenAI-compatible API. */
  base_url: v.string(),
  /** Name of the model. */
  model: v.string(),
})

export const localModelsSchema = model('LocalModels', {
  /** Local model servers currently running. */
  servers: v.array(localModelServerSchema),
  /** Null: the built-in model is used. */
  chosen: orNull(chosenLocalModelSchema),
})

/** Answer of `/admin/local-models`. */
export type LocalModels = Wire<typeof localModelsSchema>

export const localModelChangeSchema = closedModel('LocalModelChange', {
  /** A model that is currently available locally; null selects the built-in model. */
  choice: v.nullable(v.object({ base_url: text, model: text })),
})

/** Body of `PUT /admin/local-models`. */
export type LocalModelChange = Wire<typeof localModelChangeSchema>
