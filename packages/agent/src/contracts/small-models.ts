import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { CompareCitations } from './citations.ts'
import type { ModelProvider, ResolvedModel, TappedModel } from './model.ts'

export interface GivenOptions {
  readonly includeCitations: boolean
  /** Whether the prompt contains attached files. */
  readonly hasFiles: boolean
}

export interface WordingOptions {
  readonly isTalk: boolean
  /** Whether Inlay searches before the model is asked. */
  readonly isSearched: boolean
  /** Whether the prompt contains attached files. */
  readonly hasFiles: boolean
}

/** Parts of the instructions in other words. Default: as for any model. */
export interface Wording {
  /** Follows the description of the assistant. */
  readonly role?: string
  readonly finding?: string
  readonly citing?: string
}

/** Help for models that call no tools by themselves or do not cite. The package `@inlay/small-models` implements it. */
export interface SmallModels {
  /** A model that reads the results of the search made for it as part of its question. */
  givenModel(model: ResolvedModel, options: GivenOptions): ResolvedModel
  wording(options: WordingOptions): Wording
  readonly compareCitations: CompareCitations
  /**
   * Repairs the output of a model: calls written as text, think tags, malformed arguments.
   * @param state an object that stays with the model, for what is learned of it
   */
  repairModel(model: LanguageModelV4 | TappedModel, state: object): TappedModel
  repairModels(models: ModelProvider): ModelProvider
}
