import * as v from 'valibot'
import { closedModel, model, orNull, text, type WireSchema } from '../fields.ts'

/** A local model server, such as Ollama, running on the same machine. */
export interface LocalModelServer {
  /** Product name, e.g. `Ollama`. */
  readonly name: string
  /** URL of its OpenAI-compatible API. */
  readonly base_url: string
  /** Names of its models, at least one. */
  readonly models: readonly string[]
}

/** The selected local model. */
export interface ChosenLocalModel {
  /** Name of the server that provides it. */
  readonly server: string
  /** URL of its OpenAI-compatible API. */
  readonly base_url: string
  /** Name of the model. */
  readonly model: string
}

/** Answer of `/admin/local-models`. */
export interface LocalModels {
  /** Local model servers currently running. */
  readonly servers: readonly LocalModelServer[]
  /** Null: the built-in model is used. */
  readonly chosen: ChosenLocalModel | null
}

/** Body of `PUT /admin/local-models`. */
export interface LocalModelChange {
  /** A model that is currently available locally; null selects the built-in model. */
  readonly choice: { readonly base_url: string; readonly model: string } | null
}

export const localModelsSchema: WireSchema<LocalModels> = model('LocalModels', {
  servers: v.array(model('LocalModelServer', { name: v.string(), base_url: v.string(), models: v.array(v.string()) })),
  chosen: orNull(model('ChosenLocalModel', { server: v.string(), base_url: v.string(), model: v.string() })),
})

export const localModelChangeSchema: WireSchema<LocalModelChange> = closedModel('LocalModelChange', {
  choice: v.nullable(v.object({ base_url: text, model: text })),
})
