import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelOptions, SmallModels } from '@inlay/agent'
import type { EgressOptions } from '../http/egress.ts'
import type { AbilityRecords } from './adapting/probe.ts'
import type { ModelObject } from './model-object.ts'
import type { OfficialPrefix } from './official-providers.ts'

export interface ModelConfig extends ModelOptions {
  /** Name of the model at its provider. */
  readonly name: string
  /** A model object of the AI SDK, which is called in place of one of that name. Only of the type `ai-sdk`. */
  readonly model?: ModelObject
  /** What the provider's package of the AI SDK is to be told, e.g. `{ reasoningEffort: 'low' }`. Default: nothing. */
  readonly providerOptions?: JSONObject
}

/** One provider of models. */
export interface ProviderConfig {
  /** How clients name it in `model_provider`; unique. */
  readonly name: string
  /**
   * `extractive` is the built-in model, which needs no key and no network; it is handed in as `builtIn`. `ai-sdk` are model
   * objects. Any other one but `openai-compatible` is called by its package of the AI SDK.
   */
  readonly type: 'extractive' | 'ai-sdk' | 'openai-compatible' | OfficialPrefix
  /** Display name. Default: the name. */
  readonly displayName?: string
  /** Address of the API with its version; a query in it goes behind the path. Required for `openai-compatible`. */
  readonly baseUrl?: string
  /** Sent as the provider wants it. Default: none is sent. */
  readonly apiKey?: string
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Longest wait for the beginning of an answer, in milliseconds. Default 300 000; `openai-compatible` 1 800 000, as a slow
   * machine reads a long prompt for many minutes.
   */
  readonly firstTokenTimeoutMs?: number
  /** Longest silence of an answer that has begun, in milliseconds. Default 300 000. */
  readonly idleTimeoutMs?: number
  /** The models clients may choose; without a list any name is passed on. */
  readonly models?: readonly ModelConfig[]
  /** Used when a request names only the provider; the default provider needs one. Default: the first of `models`. */
  readonly defaultModel?: string
}

/** A model that runs in this process: `extractiveModel` of `@inlay/extractive`. */
export interface BuiltInModel {
  /** Display name. */
  readonly displayName: string
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly make: () => LanguageModelV4
}

export interface ModelProvidersConfig {
  readonly providers: readonly ProviderConfig[]
  /** Name of the provider whose default model is used unless a request selects another. Default: the first. */
  readonly defaultProvider?: string
  /** Wraps the `fetch` that carries all requests to models, e.g. to observe streams. */
  readonly wrapFetch?: (next: typeof globalThis.fetch) => typeof globalThis.fetch
  /** Called with a provider's `apiKey` before each request: what is sent in its place. Default: the key itself. */
  readonly currentKey?: (apiKey: string) => Promise<string>
  /** Limits on reachable hosts, for addresses that somebody typed; replaces `wrapFetch`. Default: none. */
  readonly egress?: EgressOptions
  /** The model of providers of the type `extractive`; required when there is one. */
  readonly builtIn?: BuiltInModel
  /** Loads the help for models that call no tools by themselves: their output is repaired. Default: it is passed on as it is. */
  readonly smallModels?: () => Promise<Pick<SmallModels, 'repairModel'>>
  /** Where it is recorded what models do by themselves. Default: each process finds it out again every hour. */
  readonly abilities?: AbilityRecords
  /** Called once for each part of a request that a server refuses and that is omitted from then on. */
  readonly onNotice?: (message: string) => void
}
