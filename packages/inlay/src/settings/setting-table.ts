import { isMcpAddress, namedValues } from './named-values.ts'
import type { WebSearchService } from '../parts/web-parts.ts'

/** How one environment variable is read. */
export interface Setting<Value> {
  readonly name: string
  /** What it does, in a clause. */
  readonly meaning: string
  /** What may be given, as an error would say it. */
  readonly allowed: string
  /** What holds without it. */
  readonly without: string
  /** Never shown, neither in errors. */
  readonly isSecret?: boolean
  /** Not needed to begin with: the settings page lists it, the README does not. */
  readonly isAdvanced?: boolean
  /** The value a text means; undefined when it is not allowed. */
  readonly read: (text: string) => Value | undefined
}

const anyText = (text: string): string => text

function wholeNumber(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,15}$/.test(text)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? value : undefined
}

function httpAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? text.replace(/\/+$/, '') : undefined
}

function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value | undefined {
  return (text) => values.find((value) => value === text.toLowerCase())
}

function origins(text: string): readonly string[] | '*' | undefined {
  if (text.trim() === '*') return '*'
  const listed = text.split(/[\s,]+/).filter((one) => one !== '')
  const areOrigins = listed.every((one) => URL.canParse(one) && new URL(one).origin === one)
  return areOrigins ? listed : undefined
}

/** Hosts as the egress client compares them: lower case, IPv6 without brackets. */
function hosts(text: string): readonly string[] | undefined {
  const listed = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .map((one) => one.replace(/[[\]]/g, ''))
  return listed.every((one) => /^[\w.:-]+$/.test(one)) ? listed : undefined
}

function hostNames(text: string): readonly string[] | undefined {
  const listed = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((one) => one !== '')
  return listed.every((one) => /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/.test(one)) ? listed : undefined
}

/** A key travels in a header: visible ASCII, and not so short that it can be tried out. */
function headerKey(text: string): string | undefined {
  return /^[\x21-\x7e]{8,512}$/.test(text) ? text : undefined
}

/** The settings by the name the program calls them. */
export interface SettingTable {
  readonly port: Setting<number>
  readonly host: Setting<string>
  readonly data: Setting<string>
  readonly apiKey: Setting<string>
  readonly basePath: Setting<string>
  readonly streamFormat: Setting<'sse' | 'lines'>
  readonly corsOrigins: Setting<readonly string[] | '*'>
  readonly model: Setting<string>
  readonly modelBaseUrl: Setting<string>
  readonly modelApiKey: Setting<string>
  readonly modelContextTokens: Setting<number>
  readonly embeddingModel: Setting<string>
  readonly embeddingBaseUrl: Setting<string>
  readonly embeddingApiKey: Setting<string>
  readonly embeddingDimensions: Setting<number>
  readonly searchHelp: Setting<'on' | 'off'>
  readonly memories: Setting<'on' | 'off'>
  readonly webSearch: Setting<WebSearchService['service']>
  readonly webSearchUrl: Setting<string>
  readonly webSearchApiKey: Setting<string>
  readonly imageModel: Setting<string>
  readonly imageBaseUrl: Setting<string>
  readonly imageApiKey: Setting<string>
  readonly egressAllow: Setting<readonly string[]>
  readonly pageHosts: Setting<readonly string[]>
  readonly mcpServers: Setting<Readonly<Record<string, string>>>
  readonly mcpTokens: Setting<Readonly<Record<string, string>>>
  readonly python: Setting<'on' | 'off'>
  readonly pythonWheels: Setting<string>
}

/** Every setting, in the order a person reads them: the help, the README and the reader are made from this table. */
export const settingTable: SettingTable = {
  port: {
    name: 'PORT',
    meaning: 'port to listen on',
    allowed: 'a whole number from 0 (any free port) to 65535',
    without: '3000',
    read: (text) => wholeNumber(text, 0, 65_535),
  },
  host: {
    name: 'HOST',
    meaning: 'name or address to listen on',
    allowed: 'a host name or address, such as 127.0.0.1, 0.0.0.0 or ::',
    without: '127.0.0.1, this machine only',
    read: (text) => (/^[\w.:[\]-]+$/.test(text) ? text : undefined),
  },
  data: {
    name: 'INLAY_DATA',
    meaning: 'folder of database and index',
    allowed: 'a path',
    without: '.inlay',
    read: anyText,
  },
  apiKey: {
    name: 'INLAY_API_KEY',
    meaning: 'a key that is accepted, with every scope',
    allowed: 'from 8 to 512 visible ASCII characters without spaces',
    without: 'a key is made',
    isSecret: true,
    read: headerKey,
  },
  basePath: {
    name: 'INLAY_BASE_PATH',
    meaning: 'path the API lies under',
    allowed: 'a path, such as /api',
    without: '/api',
    read: (text) => (/^\/?[\w./~-]*$/.test(text) ? text : undefined),
  },
  streamFormat: {
    name: 'INLAY_STREAM_FORMAT',
    meaning: 'framing of streams for clients that ask for none',
    allowed: 'sse or lines',
    without: 'sse',
    read: oneOf('sse', 'lines'),
  },
  corsOrigins: {
    name: 'INLAY_CORS_ORIGINS',
    meaning: 'origins whose pages may call the API',
    allowed: 'origins such as https://app.example.com, separated by commas, or *',
    without: 'none',
    read: origins,
  },
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
  webSearch: {
    name: 'INLAY_WEB_SEARCH',
    meaning: 'service that searches the web for the model',
    allowed: 'searxng, brave, tavily, exa or serper',
    without: 'none, the web is not searched',
    isAdvanced: true,
    read: oneOf('searxng', 'brave', 'tavily', 'exa', 'serper'),
  },
  webSearchUrl: {
    name: 'INLAY_WEB_SEARCH_URL',
    meaning: 'its address; needed for searxng',
    allowed: 'an http or https address, such as http://localhost:8888',
    without: "the service's own",
    isAdvanced: true,
    read: httpAddress,
  },
  webSearchApiKey: {
    name: 'INLAY_WEB_SEARCH_API_KEY',
    meaning: 'its key; needed for all but searxng',
    allowed: 'a key',
    without: 'none',
    isSecret: true,
    isAdvanced: true,
    read: anyText,
  },
  imageModel: {
    name: 'INLAY_IMAGE_MODEL',
    meaning: 'model that draws pictures',
    allowed: 'the name of a model, such as gpt-image-1',
    without: 'none, nothing is drawn',
    isAdvanced: true,
    read: anyText,
  },
  imageBaseUrl: {
    name: 'INLAY_IMAGE_BASE_URL',
    meaning: 'address of its OpenAI-compatible API',
    allowed: 'an http or https address with its version, such as http://localhost:8080/v1',
    without: 'https://api.openai.com/v1',
    isAdvanced: true,
    read: httpAddress,
  },
  imageApiKey: {
    name: 'INLAY_IMAGE_API_KEY',
    meaning: 'key of the image model',
    allowed: 'a key',
    without: 'OPENAI_API_KEY, when the address is that of OpenAI',
    isSecret: true,
    isAdvanced: true,
    read: anyText,
  },
  egressAllow: {
    name: 'INLAY_EGRESS_ALLOW',
    meaning: 'hosts of the own network that addresses of people, documents and models may lead to',
    allowed: 'names or addresses, with a port or for any, separated by commas, such as wiki.internal,10.0.0.7:8080',
    without: 'none, the public internet alone',
    isAdvanced: true,
    read: hosts,
  },
  pageHosts: {
    name: 'INLAY_PAGE_HOSTS',
    meaning: 'the only hosts whose pages the model may open',
    allowed: 'names, separated by commas, *. in front for all below one, such as docs.example,*.wikipedia.org',
    without: 'any host on the public internet',
    isAdvanced: true,
    read: hostNames,
  },
  mcpServers: {
    name: 'INLAY_MCP_SERVERS',
    meaning: 'MCP servers whose tools the model may call',
    allowed:
      'names with addresses, separated by commas, such as wiki=https://wiki.example/mcp,old=sse+https://b.example/sse',
    without: 'none',
    isSecret: true,
    isAdvanced: true,
    read: (text) => namedValues(text, isMcpAddress),
  },
  mcpTokens: {
    name: 'INLAY_MCP_TOKENS',
    meaning: 'their tokens',
    allowed: 'names of INLAY_MCP_SERVERS with tokens, separated by commas, such as wiki=abc',
    without: 'none',
    isSecret: true,
    isAdvanced: true,
    read: (text) => namedValues(text, (value) => /^[\x21-\x7e]+$/.test(value)),
  },
  python: {
    name: 'INLAY_PYTHON',
    meaning: 'whether models may run programs in Python; needs the package pyodide',
    allowed: 'on or off',
    without: 'on where pyodide is installed',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  pythonWheels: {
    name: 'INLAY_PYTHON_WHEELS',
    meaning: 'folder of wheels that such programs may import',
    allowed: 'a path',
    without: 'none, the standard library alone',
    isAdvanced: true,
    read: anyText,
  },
}

/** What a person is told of a setting. */
export interface SettingDescription extends Pick<Setting<unknown>, 'name' | 'meaning' | 'allowed' | 'without'> {
  readonly isAdvanced: boolean
}

/** Every setting for a person to read, in order. */
export function describeSettings(): SettingDescription[] {
  return Object.values<Setting<unknown>>({ ...settingTable }).map(
    ({ name, meaning, allowed, without, isAdvanced = false }) => ({ name, meaning, allowed, without, isAdvanced }),
  )
}
