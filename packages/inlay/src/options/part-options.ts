import type { ActionSource, CodeRunner, ImageGenerator, PageReader, WebSearch } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { McpServers } from '@inlay/drivers/mcp-client'
import type { PyodideOptions } from '@inlay/python'

/** Web search services. */
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
  /** Opens URLs for the model. Default: pages and documents on the public internet; null: no such action. */
  readonly pageReader?: PageReader | null
  /**
   * Allow only these hosts for opening pages (`docs.example`, `*.wikipedia.org`), so that a URL invented by a model
   * cannot leak data elsewhere. Default: any host on the public internet.
   */
  readonly pageHosts?: readonly string[]
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
   * Runs Python code of models, and stays open when Inlay closes; null: no code is run. Default: Pyodide, if its
   * package is installed.
   */
  readonly codeRunner?: CodeRunner | null
  /** Limits and wheels of Pyodide; if set, its package must be installed. Default: Pyodide's own limits, no wheels. */
  readonly python?: PyodideOptions
}

/** Names of the limits of {@link RetentionOptions}. */
export const retentionNames = [
  'maxSessionDays',
  'maxDeletedSessionDays',
  'maxDeletedAgentDays',
  'maxAuditDays',
] as const

/** A hundred years. */
export const maxRetentionDays = 36_500

/** Retention times. Data without one is kept indefinitely. */
export interface RetentionOptions {
  /** Days without a new message after which a session is deleted, with files that only it used. Default: never. */
  readonly maxSessionDays?: number | undefined
  /** Days after which a session deleted by its owner is deleted permanently. Default: never, only hidden. */
  readonly maxDeletedSessionDays?: number | undefined
  /** Days after which an agent that was deleted is erased. Default: kept, hidden. */
  readonly maxDeletedAgentDays?: number | undefined
  /** Days after which an audit entry is deleted. Default: never. */
  readonly maxAuditDays?: number | undefined
}
