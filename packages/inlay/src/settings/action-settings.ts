import type { WebSearchService } from '../options/part-options.ts'
import { isMcpAddress, namedValues } from './named-values.ts'
import { anyText, httpAddress, oneOf, hosts, hostNames, type Setting } from './readers.ts'

/** Settings of actions: web, images, MCP servers, Python; keys are the names used in code. */
export interface ActionSettings {
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

/** In documentation order. */
export const actionSettings: ActionSettings = {
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
    meaning: 'URL of that service; required for searxng',
    allowed: 'an http or https address, such as http://localhost:8888',
    without: "the service's own",
    isAdvanced: true,
    read: httpAddress,
  },
  webSearchApiKey: {
    name: 'INLAY_WEB_SEARCH_API_KEY',
    meaning: 'key of that service; required for all but searxng',
    allowed: 'a key',
    without: 'none',
    isSecret: true,
    isAdvanced: true,
    read: anyText,
  },
  imageModel: {
    name: 'INLAY_IMAGE_MODEL',
    meaning: 'model that generates images',
    allowed: 'the name of a model, such as gpt-image-1',
    without: 'none, no images are generated',
    isAdvanced: true,
    read: anyText,
  },
  imageBaseUrl: {
    name: 'INLAY_IMAGE_BASE_URL',
    meaning: 'URL of its OpenAI-compatible API',
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
    meaning: 'internal hosts that addresses given by users, documents and models may reach',
    allowed: 'names or addresses, with a port or for any, separated by commas, such as wiki.internal,10.0.0.7:8080',
    without: 'none, only the public internet',
    isAdvanced: true,
    read: hosts,
  },
  pageHosts: {
    name: 'INLAY_PAGE_HOSTS',
    meaning: 'allow the model to open pages of these hosts only',
    allowed: 'names, separated by commas, *. in front for all below one, such as docs.example,*.wikipedia.org',
    without: 'any host on the public internet',
    isAdvanced: true,
    read: hostNames,
  },
  mcpServers: {
    name: 'INLAY_MCP_SERVERS',
    meaning: 'MCP servers whose tools the model can call',
    allowed:
      'names with addresses, separated by commas, such as wiki=https://wiki.example/mcp,old=sse+https://b.example/sse',
    without: 'none',
    isSecret: true,
    isAdvanced: true,
    read: (text) => namedValues(text, isMcpAddress),
  },
  mcpTokens: {
    name: 'INLAY_MCP_TOKENS',
    meaning: 'tokens of the MCP servers',
    allowed: 'names of INLAY_MCP_SERVERS with tokens, separated by commas, such as wiki=abc',
    without: 'none',
    isSecret: true,
    isAdvanced: true,
    read: (text) => namedValues(text, (value) => /^[\x21-\x7e]+$/.test(value)),
  },
  python: {
    name: 'INLAY_PYTHON',
    meaning: 'whether models can run Python code; needs the package pyodide',
    allowed: 'on or off',
    without: 'on if pyodide is installed',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  pythonWheels: {
    name: 'INLAY_PYTHON_WHEELS',
    meaning: 'folder of wheels that Python code can import',
    allowed: 'a path',
    without: 'none, only the standard library',
    isAdvanced: true,
    read: anyText,
  },
}
