import { readModelEntries, type ModelEntry } from './model-entries.ts'
import { anyText, wholeNumber, httpAddress, oneOf, type Setting } from './readers.ts'

/** Settings of models and their use of documents; keys are the names used in code. */
export interface ModelSettings {
  readonly model: Setting<string>
  readonly modelBaseUrl: Setting<string>
  readonly modelApiKey: Setting<string>
  readonly modelContextTokens: Setting<number>
  readonly modelImages: Setting<'on' | 'off'>
  readonly modelOutputTokens: Setting<number>
  readonly modelFirstTokenSeconds: Setting<number>
  readonly modelSilenceSeconds: Setting<number>
  readonly modelGrounding: Setting<'auto' | 'tools' | 'search-first'>
  readonly comparedCitations: Setting<'on' | 'off'>
  readonly models: Setting<readonly ModelEntry[]>
  readonly embeddingModel: Setting<string>
  readonly embeddingBaseUrl: Setting<string>
  readonly embeddingApiKey: Setting<string>
  readonly embeddingDimensions: Setting<number>
  readonly embeddingQueryPrefix: Setting<string>
  readonly embeddingDocumentPrefix: Setting<string>
  readonly embeddingBatch: Setting<number>
  readonly embeddingTimeout: Setting<number>
  readonly embeddingQueryTimeout: Setting<number>
  readonly localModels: Setting<'on' | 'off'>
  readonly searchHelp: Setting<'on' | 'off'>
  readonly memories: Setting<'on' | 'off'>
  readonly sessionNames: Setting<'model' | 'question' | 'off'>
}

function readPrefix(text: string): string {
  return text === 'none' ? '' : `${text.replaceAll('\\n', '\n')} `
}

/** In documentation order. */
export const modelSettings: ModelSettings = {
  model: {
    name: 'INLAY_MODEL',
    meaning: 'language model for answers',
    allowed: 'extractive, openai/<model>, anthropic/<model>, or any model name together with INLAY_MODEL_BASE_URL',
    without: 'extractive, built in: quotes the documents, needs no key and no network',
    read: anyText,
  },
  modelBaseUrl: {
    name: 'INLAY_MODEL_BASE_URL',
    meaning: 'URL of an OpenAI-compatible API (Ollama, vLLM, llama.cpp, LM Studio, a gateway)',
    allowed: 'an http or https address with its version, such as http://localhost:11434/v1',
    without: "the provider's own",
    read: httpAddress,
  },
  modelApiKey: {
    name: 'INLAY_MODEL_API_KEY',
    meaning: 'key of the language model',
    allowed: 'a key',
    without: 'OPENAI_API_KEY or ANTHROPIC_API_KEY, as the model needs',
    isSecret: true,
    read: anyText,
  },
  modelContextTokens: {
    name: 'INLAY_MODEL_CONTEXT_TOKENS',
    meaning: 'context window: tokens of prompt and answer together',
    allowed: 'a whole number from 1000 to 100000000',
    without: 'as known for the model, otherwise 32000',
    read: (text) => wholeNumber(text, 1000, 100_000_000),
  },
  modelImages: {
    name: 'INLAY_MODEL_IMAGES',
    meaning: 'whether the language model accepts images',
    allowed: 'on or off',
    without: 'as known for the model, otherwise off',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  modelOutputTokens: {
    name: 'INLAY_MODEL_OUTPUT_TOKENS',
    meaning: 'maximum number of tokens in one answer',
    allowed: 'a whole number from 16 to 1000000',
    without: "the limit of the model's server",
    isAdvanced: true,
    read: (text) => wholeNumber(text, 16, 1_000_000),
  },
  modelFirstTokenSeconds: {
    name: 'INLAY_MODEL_FIRST_TOKEN_SECONDS',
    meaning: 'maximum seconds until the first token of an answer; on a slow machine, processing a prompt takes minutes',
    allowed: 'a whole number from 1 to 86400',
    without: '300, with INLAY_MODEL_BASE_URL 1800',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 86_400),
  },
  modelSilenceSeconds: {
    name: 'INLAY_MODEL_SILENCE_SECONDS',
    meaning: 'maximum seconds of silence within an answer',
    allowed: 'a whole number from 1 to 86400',
    without: '300',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 86_400),
  },
  modelGrounding: {
    name: 'INLAY_MODEL_GROUNDING',
    meaning: 'how the language model gets documents: it calls the search, or receives search results with the prompt',
    allowed: 'auto, tools or search-first',
    without: 'auto: tools, unless the server refuses them or the model answered without searching',
    isAdvanced: true,
    read: oneOf('auto', 'tools', 'search-first'),
  },
  comparedCitations: {
    name: 'INLAY_COMPARED_CITATIONS',
    meaning: 'whether uncited sentences are compared with the documents the model read, and cited where they match',
    allowed: 'on or off',
    without: 'on, until the model cites by itself in an answer',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  models: {
    name: 'INLAY_MODELS',
    meaning: 'several language models instead of one; the first is the default, requests can select the others',
    allowed:
      'a JSON list, or the path of a file that holds one, of objects with name and, as needed, provider, base_url, ' +
      'api_key, api_key_env (name of the variable that holds the key), context_tokens, images, grounding, ' +
      'output_tokens, first_token_seconds, silence_seconds, ' +
      'compared_citations and display_name',
    without: 'only INLAY_MODEL',
    isSecret: true,
    isAdvanced: true,
    read: readModelEntries,
  },
  embeddingModel: {
    name: 'INLAY_EMBEDDING_MODEL',
    meaning: 'embedding model for hybrid search',
    allowed: 'the name of a model',
    without: 'none, keyword search only',
    read: anyText,
  },
  embeddingBaseUrl: {
    name: 'INLAY_EMBEDDING_BASE_URL',
    meaning: 'address of its OpenAI-compatible API',
    allowed: 'an http or https address with its version, such as http://localhost:11434/v1',
    without: 'https://api.openai.com/v1',
    read: httpAddress,
  },
  embeddingApiKey: {
    name: 'INLAY_EMBEDDING_API_KEY',
    meaning: 'key of the embedding model',
    allowed: 'a key',
    without: 'OPENAI_API_KEY, when the address is that of OpenAI',
    isSecret: true,
    read: anyText,
  },
  embeddingDimensions: {
    name: 'INLAY_EMBEDDING_DIMENSIONS',
    meaning: 'dimension of its vectors; required with INLAY_EMBEDDING_MODEL',
    allowed: 'a whole number from 1 to 8192',
    without: 'none',
    read: (text) => wholeNumber(text, 1, 8192),
  },
  embeddingQueryPrefix: {
    name: 'INLAY_EMBEDDING_QUERY_PREFIX',
    meaning: 'prefix of each query for the embedding model',
    allowed: 'a text, behind which a space is put; \\n for a new line; none for nothing',
    without: 'as known for E5, BGE, Nomic, Snowflake Arctic, GTE, Jina, Qwen3 and others, by model name',
    isAdvanced: true,
    read: readPrefix,
  },
  embeddingDocumentPrefix: {
    name: 'INLAY_EMBEDDING_DOCUMENT_PREFIX',
    meaning:
      'prefix of each document text for the embedding model; changing it requires reindexing: see inlay reindex --embedder',
    allowed: 'as for queries',
    without: 'as for queries',
    isAdvanced: true,
    read: readPrefix,
  },
  embeddingBatch: {
    name: 'INLAY_EMBEDDING_BATCH',
    meaning: 'maximum number of texts per request to the embedding model',
    allowed: 'a whole number from 1 to 10000',
    without: '96; fewer when the model is slow',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 10_000),
  },
  embeddingTimeout: {
    name: 'INLAY_EMBEDDING_TIMEOUT',
    meaning: 'timeout of a request to the embedding model, in seconds; the next request contains half as many texts',
    allowed: 'a whole number from 1 to 3600',
    without: '60 seconds',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 3600),
  },
  embeddingQueryTimeout: {
    name: 'INLAY_EMBEDDING_QUERY_TIMEOUT',
    meaning: 'maximum milliseconds that a search waits for the vector of its query; after that it uses keywords only',
    allowed: 'a whole number from 1 to 600000',
    without: '300 milliseconds',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 600_000),
  },
  localModels: {
    name: 'INLAY_LOCAL_MODELS',
    meaning:
      'whether to look for Ollama, LM Studio and llama.cpp on this machine when starting without a model, and print what was found',
    allowed: 'on or off',
    without: 'on; a model found is never used automatically',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  searchHelp: {
    name: 'INLAY_SEARCH_HELP',
    meaning: 'whether searches use the language model to add queries and to select among the results',
    allowed: 'on or off',
    without: 'on, if the model is capable',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  memories: {
    name: 'INLAY_MEMORIES',
    meaning: 'whether models can remember facts about people for later conversations',
    allowed: 'on or off',
    without: 'on; each person can turn it off',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  sessionNames: {
    name: 'INLAY_SESSION_NAMES',
    meaning:
      'how a chat session gets its name after the first answer: from the language model with a short call, or from its first question',
    allowed: 'model, question or off',
    without: 'model; question without a language model',
    isAdvanced: true,
    read: oneOf('model', 'question', 'off'),
  },
}
