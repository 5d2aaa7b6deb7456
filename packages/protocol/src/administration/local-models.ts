import * as v from 'valibot'
import { closedModel, model, orNull, text, type WireSchema } from '../fields.ts'

/** A program on the machine of the server that offers language models. */
export interface LocalModelServer {
  /** What it calls itself, e.g. `Ollama`. */
  readonly name: string
  /** Address of its OpenAI-compatible API. */
  readonly base_url: string
  /** Names of its models; at least one. */
  readonly models: readonly string[]
}

/** The model of this machine that answers. */
export interface ChosenLocalModel {
  /** Name of the program that offers it. */
  readonly server: string
  /** Address of its OpenAI-compatible API. */
  readonly base_url: string
  /** Name of the model there. */
  readonly model: string
}

/** Answer of `/admin/local-models`. */
export interface LocalModels {
  /** What runs on the machine now. */
  readonly servers: readonly LocalModelServer[]
  /** Null: the built-in model answers. */
  readonly chosen: ChosenLocalModel | null
}

/** Body of `PUT /admin/local-models`. */
export interface LocalModelChange {
  /** A model that runs on the machine now; null: the built-in model. */
  readonly choice: { readonly base_url: string; readonly model: string } | null
}

export const localModelsSchema: WireSchema<LocalModels> = model('LocalModels', {
  servers: v.array(model('LocalModelServer', { name: v.string(), base_url: v.string(), models: v.array(v.string()) })),
  chosen: orNull(model('ChosenLocalModel', { server: v.string(), base_url: v.string(), model: v.string() })),
})

export const localModelChangeSchema: WireSchema<LocalModelChange> = closedModel('LocalModelChange', {
  choice: v.nullable(v.object({ base_url: text, model: text })),
})
