/**
 * What each setting is for, as a clause, and after ` | ` what holds without it. `inlay help settings` and the settings page
 * show both.
 */
export const settingWords = {
  PORT: 'port to listen on | 3000',
  HOST: 'name or address to listen on | 127.0.0.1, this machine only',
  INLAY_SHUTDOWN_NOTICE:
    'seconds that inlay serve still accepts requests during shutdown while /health/ready answers 503 | 0, none',
  INLAY_SHUTDOWN_DRAIN:
    'seconds that inlay serve then waits for running answers | 0, running answers are stopped and their text so far is kept',
  INLAY_BRAND:
    'look of the web page, by the CSS variables that the chat element has, too | the colours, corners and font of Inlay',
  INLAY_DATA: 'folder of the database and index | .inlay',
  INLAY_API_KEY: 'a fixed API key with all scopes | a key is generated',
  INLAY_BASE_PATH: 'base path of the API | /api',
  INLAY_SERVES:
    'what API and page offer: knowledge leaves out chat, with its sessions, projects, agents and actions; search leaves only the search | everything',
  INLAY_STREAM_FORMAT: 'stream format for clients that request none | sse',
  INLAY_CORS_ORIGINS: 'origins whose pages may call the API | none',
  INLAY_INGESTION_WAIT:
    'seconds that an ingestion request waits for its document to become searchable | 0, the response is sent once the document is stored',
  INLAY_CALLER_LIMITS: 'limits of each caller; keys can have their own limits | no limits',
  INLAY_TENANT_LIMITS: 'limits of all callers together | no limits',
  INLAY_RETENTION:
    'days after which sessions, deleted sessions, deleted agents, unused uploads and audit entries are erased | nothing is deleted by age',
  INLAY_TELEMETRY: 'whether to expose Prometheus metrics at /metrics | on for npm start and inlay serve',
  INLAY_LOG:
    'log format on standard error: json writes a line for each request, answer and failure; text writes failures only | text',
  INLAY_DATABASE_URL: 'PostgreSQL database for the records; needs the package pg | SQLite in INLAY_DATA',
  INLAY_DATABASE_CONNECTIONS:
    'maximum number of connections per process to PostgreSQL, for the records and again for an index there | 10 connections',
  INLAY_INDEX_URL: 'location of the index | in the database of INLAY_DATABASE_URL, else LanceDB in INLAY_DATA',
  INLAY_INDEX_SHARDS: 'shards of a new index in OpenSearch | 1 shard',
  INLAY_INDEX_REPLICAS: 'replicas of each shard of a new index in OpenSearch | one with two or more nodes',
  INLAY_REDIS_URL:
    'Redis or Valkey server for sharing running answers; needs the package redis | shared through the database of the records',
  INLAY_FILES_URL: 'bucket for uploaded files; needs the package aws4fetch | files are stored in INLAY_DATA',
  INLAY_S3_ENDPOINT: 'URL of the S3-compatible server | Amazon S3 in the given region',
  INLAY_S3_REGION: 'region of the buckets | AWS_REGION, else us-east-1',
  INLAY_S3_ACCESS_KEY_ID:
    'access key of the buckets | AWS_ACCESS_KEY_ID; an index in a bucket also uses the role of the machine',
  INLAY_S3_SECRET_ACCESS_KEY: 'secret of the access key | AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if set',
  INLAY_ENGINE_PREFIX:
    'prefix of names in Redis, OpenSearch and pgvector, for installations that share a server; their records still need separate databases or schemas | inlay',
  INLAY_MODEL: 'language model for answers | extractive, built in: quotes the documents, needs no key and no network',
  INLAY_MODEL_BASE_URL:
    "URL of an OpenAI-compatible API (Ollama, vLLM, llama.cpp, LM Studio, a gateway) | the provider's own",
  INLAY_MODEL_API_KEY:
    'key of the language model | the usual variable of the provider, such as OPENAI_API_KEY or DEEPSEEK_API_KEY',
  INLAY_MODEL_CONTEXT_TOKENS:
    'context window: tokens of prompt and answer together | as known for the model, otherwise 32000',
  INLAY_MODEL_IMAGES: 'whether the language model accepts images | as known for the model, otherwise off',
  INLAY_MODEL_REASONING:
    'whether the language model reasons: people may then choose how much | as known for the model, otherwise off',
  INLAY_MODEL_OUTPUT_TOKENS: "maximum number of tokens in one answer | the limit of the model's server",
  INLAY_MODEL_TEMPERATURE:
    "temperature of the language model; a request or a session can set another one | the server's own",
  INLAY_MODEL_FIRST_TOKEN_SECONDS:
    'maximum seconds until the first token of an answer; on a slow machine, processing a prompt takes minutes | 300, with INLAY_MODEL_BASE_URL 1800',
  INLAY_MODEL_SILENCE_SECONDS: 'maximum seconds of silence within an answer | 300',
  INLAY_MODEL_GROUNDING:
    'how the language model gets documents: it calls the search, or receives search results with the prompt | auto: as is known of the model, or found out by a harmless trial of two calls when it is first used',
  INLAY_COMPARED_CITATIONS:
    'whether citations and uncited sentences are compared with the documents the model read: wrong citations move or go, missing ones are added | on for models that call no tools or do not cite by themselves',
  INLAY_MODEL_API:
    'API that INLAY_MODEL_BASE_URL speaks | openai-compatible; for a model named anthropic/<model> that of Anthropic',
  INLAY_MODEL_HEADERS: 'headers of each request to the language model | none but those of its API',
  INLAY_MODEL_PROVIDER_OPTIONS:
    'options that the AI SDK knows for this provider, such as {"reasoningEffort": "low", "textVerbosity": "low"}; with INLAY_MODEL_BASE_URL also any field of a request | none',
  INLAY_MODELS:
    'several language models instead of one; the first is the default, requests can select the others | only INLAY_MODEL',
  INLAY_EMBEDDING_MODEL:
    'embedding model for hybrid search; local/<name> runs in this process, such as local/multilingual-e5-small, and needs the package @huggingface/transformers | none, keyword search only',
  INLAY_EMBEDDING_BASE_URL: 'address of its OpenAI-compatible API | https://api.openai.com/v1',
  INLAY_EMBEDDING_API_KEY: 'key of the embedding model | OPENAI_API_KEY, if the URL is that of OpenAI',
  INLAY_EMBEDDING_DIMENSIONS:
    'dimension of its vectors; required for a local model that is not known | as the model answers when first asked',
  INLAY_EMBEDDING_QUERY_PREFIX:
    'prefix of each query for the embedding model | as known for E5, BGE, Nomic, Snowflake Arctic, GTE, Jina, Qwen3 and others, by model name',
  INLAY_EMBEDDING_DOCUMENT_PREFIX:
    'prefix of each document text for the embedding model; changing it requires reindexing: see inlay reindex --embedder | as for queries',
  INLAY_EMBEDDING_BATCH:
    'maximum number of texts per request to the embedding model | 96; fewer when the model is slow',
  INLAY_EMBEDDING_TIMEOUT:
    'timeout of a request to the embedding model, in seconds; the next request contains half as many texts | 60 seconds',
  INLAY_EMBEDDING_QUERY_TIMEOUT:
    'maximum milliseconds that a search waits for the vector of its query; after that it uses keywords only | 300 milliseconds',
  INLAY_OPENAI_API: 'whether clients of OpenAI’s API are served at `/v1` | on; the addresses below `/v1` are served',
  INLAY_LOCAL_MODELS:
    'whether to look for Ollama, LM Studio and llama.cpp on this machine when starting without a model, and print what was found | on; a model found is never used automatically',
  INLAY_SECRET_KEY:
    'encrypts the keys of models and MCP servers that administrators add; the same in all processes | none: what needs a key is only added by settings',
  INLAY_SEARCH_HELP: 'whether searches use the language model to add queries | on, if the model is capable',
  INLAY_MEMORIES:
    'whether models can remember facts about people for later conversations | on; each person can turn it off',
  INLAY_SESSION_NAMES:
    'how a chat session of the page, the chat element or an app gets its name after the first answer: from the language model with a short call, or from its first question, like those of programs | model; question without a language model',
  INLAY_TOOL_APPROVAL:
    'which tool calls a person has to approve: writes, those of MCP tools without readOnlyHint and of OpenAPI operations other than GET and HEAD; always, all but built-in ones | never',
  INLAY_WEB_SEARCH: 'service that searches the web for the model | none, the web is not searched',
  INLAY_WEB_SEARCH_URL: "URL of that service; required for searxng | the service's own",
  INLAY_WEB_SEARCH_API_KEY: 'key of that service; required for all but searxng | none',
  INLAY_IMAGE_MODEL: 'model that generates images | none, no images are generated',
  INLAY_IMAGE_BASE_URL: 'URL of its OpenAI-compatible API | https://api.openai.com/v1',
  INLAY_IMAGE_API_KEY: 'key of the image model | OPENAI_API_KEY, if the URL is that of OpenAI',
  INLAY_EGRESS_ALLOW:
    'internal hosts that addresses given by users, documents and models may reach | none, only the public internet',
  INLAY_PAGE_HOSTS: 'allow the model to open pages of these hosts only | any host on the public internet',
  INLAY_MCP_SERVERS: 'MCP servers whose tools the model can call | none',
  INLAY_MCP_TOKENS: 'tokens of the MCP servers | none',
  INLAY_PYTHON: 'whether models can run Python code; needs the package pyodide | on if pyodide is installed',
  INLAY_PYTHON_WHEELS: 'folder of wheels that Python code can import | none, only the standard library',
  INLAY_RERANKER:
    'cross-encoder that reorders the best results of each search in this process, such as local/ms-marco-minilm-l6-v2; needs the package @huggingface/transformers | none',
  INLAY_OCR:
    'what reads the text of scanned pages and pictures: tesseract needs the package tesseract.js, model is the language model, which has to accept images | off; scans are refused',
  INLAY_VECTOR_SHARE: 'weight of the vectors in searches that also have text | estimated for each query',
  INLAY_MODEL_FOLDER:
    'folder of the weights of local models, filled at their first use; a prepared folder needs no network | models in INLAY_DATA',
  INLAY_WEBHOOK_URL:
    'address that gets signed events; an internal host must be in INLAY_EGRESS_ALLOW | none, no events are sent',
  INLAY_WEBHOOK_SECRET: 'signs the events; required for INLAY_WEBHOOK_URL | none',
} as const

export type SettingName = keyof typeof settingWords
