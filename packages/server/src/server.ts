import type { Agent } from '@inlay/agent'
import type { Knowledge } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import type { Authenticator } from './authentication.ts'
import type { Keys } from './keys.ts'

/** What the HTTP side is made of. */
export interface ServerOptions {
  readonly agent: Agent
  readonly knowledge: Knowledge
  readonly authenticate: Authenticator
  /** Absent: the addresses that administer keys answer 501. */
  readonly keys?: Keys
  /** Where the API lies; requests without it are answered too. Default `/api`. */
  readonly basePath?: string
  /** Framing for requests whose `Accept` decides nothing. Default `sse`. */
  readonly streamFormat?: 'sse' | 'lines'
  /** Origins of pages that may call; `'*'` for all. Default: none. */
  readonly corsOrigins?: readonly string[] | '*'
}

/** One `fetch` handler with everything behind it. */
export interface Server {
  readonly fetch: (request: Request) => Promise<Response>
  readonly routes: readonly unknown[]
}

/** The HTTP side over its parts. */
export function createServer(options: ServerOptions): Server {
  void options
  throw new InlayError('NOT_IMPLEMENTED')
}
