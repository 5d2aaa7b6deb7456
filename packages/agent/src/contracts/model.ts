import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type { LlmOverride } from '@inlay/protocol'

/** Receives what a model writes, delta by delta, at the moment it arrives. */
export interface StreamListener {
  onText(delta: string): void
  onReasoning(delta: string): void
}

/** A model with a streaming tap: its text reaches a listener ahead of the stream of parts. */
export interface TappedModel extends LanguageModelV4 {
  /**
   * Like `doStream`, but the listener gets every delta of text and reasoning once and in order, as soon as it arrives,
   * even before the promise resolves. After an abort it gets nothing. The parts of the stream hold the same text joined,
   * later.
   */
  doStreamTapped(
    options: LanguageModelV4CallOptions,
    listener: StreamListener,
  ): PromiseLike<LanguageModelV4StreamResult>
}

/** Observations about a model from earlier calls; updated while it is used. */
export interface ModelObservations {
  /** Its server takes no tools: they are left out, and calls in a prompt are sent as text. */
  readonly refusesTools: boolean
  /** Tokens of prompt and answer together, as its server says; undefined while it has not said. */
  readonly contextTokens: number | undefined
  /** Asks its server what is not known yet; never rejects. Resolve the model again afterwards. */
  readonly ask?: () => Promise<void>
}

/**
 * How a model comes by documents. `tools`: it searches by calling tools. `search-first`: the search is made for it with
 * the person's question. `auto`: by tools, unless its server refuses them or it was seen to answer without a search.
 */
export type Grounding = 'auto' | 'tools' | 'search-first'

/** A language model ready for one run. */
export interface ResolvedModel {
  readonly model: LanguageModelV4 | TappedModel
  /** Configured name of the provider, as a client gives it in `llm_override.model_provider`. */
  readonly provider: string
  /** Name of the model, as a client gives it in `llm_override.model_version`. */
  readonly name: string
  /** Display name, e.g. `Built-in extractive model`. */
  readonly displayName: string
  readonly temperature?: number
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly takesImages: boolean
  /** It answers with words of documents alone, so it is not asked to sum anything up. Default: false. */
  readonly quotesOnly?: boolean
  /** Default: nothing is observed. */
  readonly observed?: ModelObservations
  /** Most tokens of an answer. Default: what its server allows. */
  readonly outputTokens?: number
  /** Default `auto`. */
  readonly grounding?: Grounding
  /** Whether it is known to call tools; false: its answers have to show it. Default: true. */
  readonly callsTools?: boolean
  /** Whether what it leaves uncited is compared with what it read, and cited where it stands. Default: true. */
  readonly comparesCitations?: boolean
}

/** One model a client may choose. */
export interface ModelListing {
  readonly provider: string
  /** Type of the provider, e.g. `openai`, `anthropic`, `openai_compatible`, `extractive`. */
  readonly providerType: string
  readonly providerDisplayName: string
  readonly name: string
  readonly displayName: string
  readonly contextTokens: number
  readonly takesImages: boolean
  readonly isDefault: boolean
}

/** Finds the model of a run. Rejects with VALIDATION_ERROR when provider and version do not match; never a silent default. */
export interface ModelProvider {
  resolve(override?: LlmOverride | null): Promise<ResolvedModel>
  list(): Promise<readonly ModelListing[]>
}
