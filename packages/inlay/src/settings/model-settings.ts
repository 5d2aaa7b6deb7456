import { readModelEntries, type ModelEntry } from './model-entries.ts'
import { anyText, wholeNumber, httpAddress, oneOf, type Setting } from './readers.ts'

/** Settings of models and of what they may do with documents, by the name the program calls them. */
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

/** In the order a person reads them. */
export const modelSettings: ModelSettings = {
  model: {
    name: 'INLAY_MODEL',
    meaning: 'language model that answers',
    allowed: 'extractive, openai/<model>, anthropic/<model>, or any model name together with INLAY_MODEL_BASE_URL',
    without: 'extractive, built in: quotes the documents, needs no key and no network',
    read: anyText,
  },
  modelBaseUrl: {
    name: 'INLAY_MODEL_BASE_URL',
    meaning: 'address of an OpenAI-compatible API (Ollama, vLLM, llama.cpp, LM Studio, a gateway)',
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
    meaning: 'tokens that prompt and answer may have together',
    allowed: 'a whole number from 1000 to 100000000',
    without: 'what is known of the model, else 32000',
    read: (text) => wholeNumber(text, 1000, 100_000_000),
  },
  modelImages: {
    name: 'INLAY_MODEL_IMAGES',
    meaning: 'whether the language model takes images',
    allowed: 'on or off',
    without: 'what is known of the model, else off',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  modelOutputTokens: {
    name: 'INLAY_MODEL_OUTPUT_TOKENS',
    meaning: 'tokens that one answer may have at most',
    allowed: 'a whole number from 16 to 1000000',
    without: 'what the server of the model allows',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 16, 1_000_000),
  },
  modelFirstTokenSeconds: {
    name: 'INLAY_MODEL_FIRST_TOKEN_SECONDS',
    meaning: 'seconds that the language model may take to begin its answer; a slow machine reads a prompt for minutes',
    allowed: 'a whole number from 1 to 86400',
    without: '300, behind INLAY_MODEL_BASE_URL 1800',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 86_400),
  },
  modelSilenceSeconds: {
    name: 'INLAY_MODEL_SILENCE_SECONDS',
    meaning: 'seconds that the language model may be silent within its answer',
    allowed: 'a whole number from 1 to 86400',
    without: '300',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 86_400),
  },
  modelGrounding: {
    name: 'INLAY_MODEL_GROUNDING',
    meaning: 'how the language model comes by documents: it calls the search, or the search is made for it',
    allowed: 'auto, tools or search-first',
    without: 'auto, by tools unless they are refused or the model was seen to answer without a search',
    isAdvanced: true,
    read: oneOf('auto', 'tools', 'search-first'),
  },
  comparedCitations: {
    name: 'INLAY_COMPARED_CITATIONS',
    meaning: 'whether sentences that the language model leaves uncited are compared with what it read',
    allowed: 'on or off',
    without: 'on, until the model cites by itself in an answer',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  models: {
    name: 'INLAY_MODELS',
    meaning: 'several language models instead of one, the first of which answers unless a request names another',
    allowed:
      'a JSON list, or the path of a file that holds one, of objects with name and, as needed, provider, base_url, ' +
      'api_key, api_key_env (name of the variable that holds the key), context_tokens, images, grounding, ' +
      'output_tokens, first_token_seconds, silence_seconds, ' +
      'compared_citations and display_name',
    without: 'INLAY_MODEL alone',
    isSecret: true,
    isAdvanced: true,
    read: readModelEntries,
  },
  embeddingModel: {
    name: 'INLAY_EMBEDDING_MODEL',
    meaning: 'embedding model that makes search hybrid',
    allowed: 'the name of a model',
    without: 'none, search is full text',
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
    meaning: 'length of its vectors; needed with INLAY_EMBEDDING_MODEL',
    allowed: 'a whole number from 1 to 8192',
    without: 'none',
    read: (text) => wholeNumber(text, 1, 8192),
  },
  embeddingQueryPrefix: {
    name: 'INLAY_EMBEDDING_QUERY_PREFIX',
    meaning: 'what the embedding model gets before each query',
    allowed: 'a text, behind which a space is put; \\n for a new line; none for nothing',
    without: 'what is known of E5, BGE, Nomic, Snowflake Arctic, GTE, Jina, Qwen3 and others by their names',
    isAdvanced: true,
    read: readPrefix,
  },
  embeddingDocumentPrefix: {
    name: 'INLAY_EMBEDDING_DOCUMENT_PREFIX',
    meaning:
      'what it gets before each text of a document; another one makes it another model: see inlay reindex --embedder',
    allowed: 'as for queries',
    without: 'as for queries',
    isAdvanced: true,
    read: readPrefix,
  },
  embeddingBatch: {
    name: 'INLAY_EMBEDDING_BATCH',
    meaning: 'most texts in one request to the embedding model',
    allowed: 'a whole number from 1 to 10000',
    without: '96; fewer when the model is slow',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 10_000),
  },
  embeddingTimeout: {
    name: 'INLAY_EMBEDDING_TIMEOUT',
    meaning: 'seconds that a request to the embedding model may take; the next one carries half as many texts',
    allowed: 'a whole number from 1 to 3600',
    without: '60 seconds',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 3600),
  },
  embeddingQueryTimeout: {
    name: 'INLAY_EMBEDDING_QUERY_TIMEOUT',
    meaning: 'milliseconds that a search waits for the vector of its query, before words alone answer it',
    allowed: 'a whole number from 1 to 600000',
    without: '300 milliseconds',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 600_000),
  },
  localModels: {
    name: 'INLAY_LOCAL_MODELS',
    meaning: 'whether a start without a model looks for Ollama, LM Studio and llama.cpp on this machine, and says so',
    allowed: 'on or off',
    without: 'on; what is there is never used unasked',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  searchHelp: {
    name: 'INLAY_SEARCH_HELP',
    meaning: 'whether searches ask the language model for further queries and to choose among what they find',
    allowed: 'on or off',
    without: 'on, with a model that can answer',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  memories: {
    name: 'INLAY_MEMORIES',
    meaning: 'whether models may remember things about people for later conversations',
    allowed: 'on or off',
    without: 'on, unless a person says otherwise',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  sessionNames: {
    name: 'INLAY_SESSION_NAMES',
    meaning:
      'who names a chat session after its first answer: the language model with a short call, or its first question',
    allowed: 'model, question or off',
    without: 'model; question without a language model',
    isAdvanced: true,
    read: oneOf('model', 'question', 'off'),
  },
}
