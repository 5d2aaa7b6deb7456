import type { Action } from '@inlay/agent'
import type { McpServerChange, McpServerSnapshot } from '@inlay/protocol/administration'

/** A tool of a server, as it describes it. */
export type McpTool = Pick<Action, 'id' | 'name' | 'description' | 'displayName' | 'builtIn' | 'mcpServerId'>

/** Lets administrators add MCP servers beside those of the configuration. */
export interface McpServerAdministration {
  list(): Promise<readonly McpServerSnapshot[]>
  /**
   * Adds or changes a server, from the next message on.
   * @throws NOT_FOUND, DUPLICATE_RESOURCE, VALIDATION_ERROR; NOT_IMPLEMENTED for a token that could not be encrypted
   */
  save(change: McpServerChange): Promise<McpServerSnapshot>
  /** @throws NOT_FOUND */
  remove(id: number): Promise<void>
  /** Asks the server for its tools. @throws NOT_FOUND; AUTH_ERROR when it asks to sign in, BAD_GATEWAY with what is wrong */
  tools(id: number): Promise<readonly McpTool[]>
  /** Begins a sign-in. @returns address for the browser @throws NOT_FOUND, BAD_GATEWAY, UNSUPPORTED */
  signIn(id: number, redirectUrl: string): Promise<string>
  /** @param query of the address that the browser came back to @throws NOT_FOUND, BAD_GATEWAY; BAD_REQUEST when it was refused */
  finishSignIn(id: number, query: URLSearchParams): Promise<void>
}
