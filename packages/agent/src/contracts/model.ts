import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type { LlmOverride } from '@inlay/protocol'
import type { CompareCitations } from './citations.ts'

/** Receives text and reasoning of a model, delta by delta, as soon as they arrive. */
export interface StreamListener {
  onText(delta: string): void
  onReasoning(delta: string): void
}

/** A model with a streaming tap: its text reaches a listener before the stream of parts. */
export interface TappedModel extends LanguageModelV4 {
  /**
   * Like `doStream`, but the listener gets each delta of text and reasoning once, in order and as soon as it arrives,
   * even before the promise resolves. After an abort it gets nothing. The parts of the stream follow later, with the
   * text joined, as the model should read it in later steps.
   */
  doStreamTapped(
    options: LanguageModelV4CallOptions,
    listener: StreamListener,
  ): PromiseLike<LanguageModelV4StreamResult>
}

/** Facts about a model learned from earlier calls; updated while it is used. */
export interface ModelObservations {
  /** Whether its server rejects tools: then they are left out, and calls in a prompt are sent as text. */
  readonly refusesTools: boolean
  /** Context window in tokens, as stated by the server; undefined while unknown. */
  readonly contextTokens: number | undefined
  /** Asks the server for what is unknown, unless `tries` is false; never rejects. Resolve the model again afterwards. */
  readonly ask?: (tries?: boolean) => Promise<ModelFact | undefined>
}

/** What a model does by itself, and how this is known. */
export interface ModelFact extends Required<Pick<ResolvedModel, 'callsTools' | 'cites'>> {
  readonly from: 'option' | 'name' | 'server' | 'probe'
  /** Milliseconds since 1970; undefined for what this process found out itself. */
  readonly recordedAt?: number
}

/**
 * How a model gets documents. `tools`: it calls the search. `search-first`: Inlay searches with the user's question.
 * `auto`: as is known of the model, or was found out when it was first used.
 */
export type Grounding = 'auto' | 'tools' | 'search-first'

export interface ModelOptions {
  /** Display name. Default: the name. */
  readonly displayName?: string
  /**
   * Context window: tokens of prompt and answer together. Default: as known for well-known models, otherwise 32 000.
   */
  readonly contextTokens?: number
  /** Whether the model accepts images. Default: as known for well-known models, otherwise false. */
  readonly takesImages?: boolean
  /** Whether the model reasons, so that clients may set its effort. Default: as known for well-known models, otherwise false. */
  readonly reasons?: boolean
  /** Maximum number of tokens in an answer. Default: the server's limit. */
  readonly maxOutputTokens?: number
  /** Temperature, unless the request or its session sets one. Default: the server's own. */
  readonly temperature?: number
  /**
   * How the model gets documents: `tools` lets it call the search, `search-first` searches before asking it.
   * Default `auto`: as is known of the model, or is found out when it is first used.
   */
  readonly grounding?: Grounding
  /**
   * Whether citations and uncited sentences are compared with the documents the model read: wrong citations move or go,
   * missing ones are added. Default: only for models that call no tools or do not cite by themselves.
   */
  readonly comparesCitations?: boolean
}

/** A language model ready for one run. */
export interface ResolvedModel extends ModelOptions {
  readonly model: LanguageModelV4 | TappedModel
  /** Configured name of the provider, `llm_override.model_provider` of a request. */
  readonly provider: string
  /** Name of the model, `llm_override.model_version` of a request. */
  readonly name: string
  /** Address of its server: what a model has to get back goes to no other. Default: known by its provider. */
  readonly address?: string | undefined
  /** Display name, e.g. `Built-in extractive model`. */
  readonly displayName: string
  /** Context window: tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly takesImages: boolean
  /** Whether its answers consist of words of documents alone, so that it is not asked for summaries. Default: false. */
  readonly quotesOnly?: boolean
  /** Default: nothing is known. */
  readonly observed?: ModelObservations
  /** Whether it calls tools by itself, as is known or recorded of it; an option `grounding` wins. Default: true. */
  readonly callsTools?: boolean
  /** Whether it puts the numbers of results behind what it takes from them; `comparesCitations` wins. Default: true. */
  readonly cites?: boolean
  /** Compares its citations with the documents it read, as `comparesCitations` or `cites` asks; set for each turn. */
  readonly compareCitations?: CompareCitations | undefined
}

/** A model that clients may choose. */
export interface ModelListing {
  readonly provider: string
  /** Type of the provider, e.g. `openai`, `anthropic`, `openai_compatible`, `extractive`. */
  readonly providerType: string
  readonly providerDisplayName: string
  /** Number of the provider on the wire. Default: its place among the providers, from 1. */
  readonly providerId?: number
  readonly name: string
  readonly displayName: string
  readonly contextTokens: number
  readonly takesImages: boolean
  /** Whether it reasons, so that clients may set its effort. Default: false. */
  readonly reasons?: boolean
  readonly isDefault: boolean
}

/**
 * Finds the model of a run. Rejects with VALIDATION_ERROR when provider and version do not match; never falls back
 * silently.
 */
export interface ModelProvider {
  resolve(override?: LlmOverride | null): Promise<ResolvedModel>
  list(): Promise<readonly ModelListing[]>
}
