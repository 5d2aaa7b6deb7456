import type { ActionSource, CodeRunner, ImageGenerator, PageReader, WebSearch } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { McpServers } from '@inlay/drivers/mcp-client'
import type { PyodideOptions } from '@inlay/python'
import * as v from 'valibot'
import {
  address,
  amount,
  anyFunction,
  anyText,
  fieldsOf,
  hostsLike,
  httpAddress,
  isHttp,
  namedTexts,
  oneOf,
  onOff,
  only,
  positive,
  sdkModelOr,
  text,
  texts,
  wholeNumber,
  withMethods,
} from './kinds.ts'
import { checksOf, group, option, type Rows } from './rows.ts'

export const webSearchServices = ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const

/** A web search service, by name. */
export interface WebSearchService {
  /** `searxng`, `brave`, `tavily`, `exa` or `serper`. */
  readonly service: (typeof webSearchServices)[number]
  /** API key; required by all but `searxng`. */
  readonly apiKey?: string | undefined
  /** URL of the instance; required by `searxng`. Default: the service's own URL. */
  readonly baseUrl?: string | undefined
}

/** An image model behind an OpenAI-compatible API. */
export interface ImageModel {
  /** Name of the model on its server. */
  readonly name: string
  /** URL of the API, including its version. Default: OpenAI. */
  readonly baseUrl?: string | undefined
  /** API key. Default: none. */
  readonly apiKey?: string | undefined
}

/** Web access of an assistant. */
export interface WebOptions {
  /** Searches the web for the model. Default: none, and no such action. */
  readonly webSearch?: WebSearchService | WebSearch
  /**
   * Opens URLs for the model: `{ onlyHosts }` limits it to these hosts (`docs.example`, `*.wikipedia.org`), so that a URL
   * invented by a model cannot leak data elsewhere; a reader of your own; null: no such action. Default: pages and
   * documents on the public internet.
   */
  readonly pageReader?: Pick<EgressOptions, 'onlyHosts'> | PageReader | null
  /** Generates images for the model. Default: none, and no such action. */
  readonly imageGenerator?: ImageModel | ImageGenerator
  /**
   * Allowed targets for addresses given by users, documents and models. Default: only the public internet; `allowHosts`
   * adds others (`wiki.internal`, `10.0.0.7:8080`).
   */
  readonly egress?: EgressOptions
}

/** External tools of an assistant. */
export interface ToolOptions {
  /** Sources of additional actions at run time, queried for each message. Default: none. */
  readonly actionSources?: readonly ActionSource[]
  /** MCP servers whose tools the model can call, or a function that returns them for each message. Default: none. */
  readonly mcpServers?: McpServers
}

/** Running Python code of models. */
export interface PythonOptions {
  /**
   * Runs Python code of models: limits and wheels of Pyodide, whose package must then be installed; a runner of your own,
   * which stays open when Inlay closes; null: no code is run. Default: Pyodide with its own limits, if it is installed.
   */
  readonly python?: PyodideOptions | CodeRunner | null
}

export const isCodeRunner = (given: PythonOptions['python']): given is CodeRunner =>
  given instanceof Object && 'run' in given

const webSearchRows: Rows<WebSearchService> = {
  service: option(oneOf(...webSearchServices), 'INLAY_WEB_SEARCH'),
  baseUrl: option(httpAddress(', such as http://localhost:8888'), 'INLAY_WEB_SEARCH_URL'),
  apiKey: option(anyText('a key'), 'INLAY_WEB_SEARCH_API_KEY', { isSecret: true }),
}

const webSearchCheck = v.pipe(
  only(
    `{ service, apiKey, baseUrl } with a service of ${webSearchServices.join(', ')}, or a function`,
    checksOf({ ...webSearchRows }),
    ['service'],
  ) as v.GenericSchema<WebSearchService>,
  v.check(({ service, apiKey }) => service === 'searxng' || apiKey !== undefined, 'needs an apiKey'),
  v.check(({ service, baseUrl }) => service !== 'searxng' || baseUrl !== undefined, 'needs a baseUrl'),
)

const imageRows: Rows<ImageModel> = {
  name: option(anyText('the name of a model, such as gpt-image-1'), 'INLAY_IMAGE_MODEL'),
  baseUrl: option(httpAddress(' with its version, such as http://localhost:8080/v1'), 'INLAY_IMAGE_BASE_URL'),
  apiKey: option(anyText('a key'), 'INLAY_IMAGE_API_KEY', { isSecret: true }),
}
const imageCheck = sdkModelOr(
  'hand in aiSdkImages({ model }) of inlay/drivers',
  only('{ name, baseUrl, apiKey }, or a function', checksOf({ ...imageRows }), ['name']),
)

const orFunction = (check: v.GenericSchema): v.GenericSchema =>
  v.lazy((value) => (typeof value === 'function' ? anyFunction : check))

const pageReader = group<Pick<EgressOptions, 'onlyHosts'>>('{ onlyHosts }, a function, or null', {
  onlyHosts: option(
    hostsLike(
      'names, separated by commas, *. in front for all below one, such as docs.example,*.wikipedia.org',
      (item) => /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/.test(item),
    ),
    'INLAY_PAGE_HOSTS',
  ),
})

export const webRows: Rows<WebOptions> = {
  webSearch: { check: orFunction(webSearchCheck), fields: webSearchRows },
  imageGenerator: { check: orFunction(imageCheck), fields: imageRows },
  egress: {
    check: fieldsOf<EgressOptions>('{ allowHosts, onlyHosts }', {
      allowHosts: texts,
      onlyHosts: texts,
      timeoutMs: positive,
      maxBytes: positive,
      maxRedirects: amount,
      userAgent: text,
      resolve: anyFunction,
    }),
    fields: {
      allowHosts: option(
        hostsLike(
          'names or addresses, with a port or for any, separated by commas, such as wiki.internal,10.0.0.7:8080',
          (item) => /^[\w.:-]+$/.test(item),
        ),
        'INLAY_EGRESS_ALLOW',
      ),
    },
  },
  pageReader: { ...pageReader, check: v.nullable(orFunction(pageReader.check)) },
}

export const toolRows: Rows<ToolOptions> = {
  actionSources: { check: v.array(withMethods('a source of actions', 'list', 'holds'), 'must be a list') },
  mcpServers: {
    check: v.union(
      [
        anyFunction,
        v.array(
          v.union([
            v.looseObject({ name: text, command: text, args: v.optional(texts) }),
            v.looseObject({ name: text, url: address, transport: v.optional(v.picklist(['http', 'sse'])) }),
          ]),
        ),
      ],
      'must be a list of { name, url }, transport "http" or "sse", or { name, command, args }, or a function that gives one',
    ),
    fields: {
      addresses: option(
        namedTexts(
          'names with addresses, separated by commas, such as wiki=https://wiki.example/mcp,old=sse+https://b.example/sse',
          (value) => isHttp(value.replace(/^sse\+/, '')),
        ),
        'INLAY_MCP_SERVERS',
        { isSecret: true },
      ),
      tokens: option(
        namedTexts('names of INLAY_MCP_SERVERS with tokens, separated by commas, such as wiki=abc', (value) =>
          /^[\x21-\x7e]+$/.test(value),
        ),
        'INLAY_MCP_TOKENS',
        { isSecret: true },
      ),
    },
  },
}

const pyodide = group<PyodideOptions>('{ wheelsFolder, timeoutMs, maxMemoryBytes }, a runner with run(), or null', {
  wheelsFolder: option(anyText('a path'), 'INLAY_PYTHON_WHEELS'),
  timeoutMs: { check: positive },
  maxMemoryBytes: { check: positive },
  maxProcesses: { check: wholeNumber(1) },
  maxQueued: { check: amount },
  node: { check: text },
  packageFolder: { check: text },
  workerUrl: { check: v.any() },
})

const runnerCheck = withMethods('what runs programs', 'run')

export const pythonRows: Rows<PythonOptions> = {
  python: {
    check: v.nullable(v.lazy((value) => (isCodeRunner(Object(value)) ? runnerCheck : pyodide.check))),
    fields: { isOn: option(onOff, 'INLAY_PYTHON'), ...pyodide.fields },
  },
}
