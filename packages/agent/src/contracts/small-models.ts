import type { ResolvedModel } from './model.ts'

export interface GivenOptions {
  readonly includeCitations: boolean
  /** Whether the prompt contains attached files. */
  readonly hasFiles: boolean
}

export interface WordingOptions {
  /** Whether the message is small talk. */
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
  /** How to find out. */
  readonly finding?: string
  readonly citing?: string
}

/** Help for models that call no tools by themselves. The package `@inlay/small-models` implements it. */
export interface SmallModels {
  /** A model that reads the results of the search made for it as part of its question. */
  givenModel(model: ResolvedModel, options: GivenOptions): ResolvedModel
  wording(options: WordingOptions): Wording
}
