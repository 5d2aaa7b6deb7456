import type { ActionSource, CodeRunner, ImageGenerator, PageReader, WebSearch } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { McpServers } from '@inlay/drivers/mcp-client'
import type { PyodideOptions } from '@inlay/python'

/** Services that search the web. */
export const webSearchServices = ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const

/** A service that searches the web, by name. */
export interface WebSearchService {
  /** `searxng`, `brave`, `tavily`, `exa` or `serper`. */
  readonly service: (typeof webSearchServices)[number]
  /** Needed by all but `searxng`. */
  readonly apiKey?: string | undefined
  /** Needed by `searxng`: the address of the instance. Default: the service's own. */
  readonly baseUrl?: string | undefined
}

/** An image model behind an OpenAI-compatible API. */
export interface ImageModel {
  /** As its server calls it. */
  readonly name: string
  /** Address of the API with its version. Default: that of OpenAI. */
  readonly baseUrl?: string | undefined
  /** Sent as the service wants it. Default: none is sent. */
  readonly apiKey?: string | undefined
}

/** What of the web an assistant has. */
export interface WebOptions {
  /** Searches the web for the model. Default: none, there is no such action. */
  readonly webSearch?: WebSearchService | WebSearch
  /** Opens addresses for the model. Default: pages and documents on the public internet; null: there is no such action. */
  readonly pageReader?: PageReader | null
  /**
   * The only hosts whose pages are opened (`docs.example`, `*.wikipedia.org`), so that no address a model makes up can
   * carry anything elsewhere. Default: any host on the public internet.
   */
  readonly pageHosts?: readonly string[]
  /** Draws pictures for the model. Default: none, there is no such action. */
  readonly imageGenerator?: ImageModel | ImageGenerator
  /**
   * What may be fetched of addresses that people, documents and models give. Default: the public internet alone;
   * `allowHosts` names others (`wiki.internal`, `10.0.0.7:8080`).
   */
  readonly egress?: EgressOptions
}

/** Tools of others that an assistant may use. */
export interface ToolOptions {
  /** Where further actions come from while the assistant runs; asked with each message. Default: nowhere. */
  readonly actionSources?: readonly ActionSource[]
  /** MCP servers whose tools the model may call, or a function that tells them with each message. Default: none. */
  readonly mcpServers?: McpServers
}

/** Whether programs of models are run, and by what. */
export interface PythonOptions {
  /**
   * Runs what models write in Python, and stays open when Inlay closes; null: nothing is run. Default: Pyodide, where its
   * package is installed.
   */
  readonly codeRunner?: CodeRunner | null
  /** Limits and wheels of Pyodide; once given, its package has to be there. Default: its own limits, no wheels. */
  readonly python?: PyodideOptions
}

/** Names of the bounds of {@link RetentionOptions}. */
export const retentionNames = [
  'maxSessionDays',
  'maxDeletedSessionDays',
  'maxDeletedAgentDays',
  'maxAuditDays',
] as const

/** A hundred years. */
export const maxRetentionDays = 36_500

/** How long an assistant keeps what ages. What is left out is kept for good. */
export interface RetentionOptions {
  /** Days without a new message after which a session is erased, with the files that only it used. Default: kept for good. */
  readonly maxSessionDays?: number | undefined
  /** Days after which a session that its owner deleted is erased. Default: kept, hidden from its owner. */
  readonly maxDeletedSessionDays?: number | undefined
  /** Days after which an agent that was deleted is erased. Default: kept, hidden. */
  readonly maxDeletedAgentDays?: number | undefined
  /** Days after which an entry of the audit is removed. Default: kept for good. */
  readonly maxAuditDays?: number | undefined
}
