import type { Server } from 'node:http'
import type { Inlay } from '../inlay.ts'

/** How a server is closed. */
export interface CloseServerOptions {
  /** Longest wait for what is still being sent once everything has ended, in milliseconds. Default 2000. */
  readonly graceMs?: number
}

/**
 * Closes a server of `node:http` and the assistant behind it, in the order that leaves nobody guessing: no new
 * connections; answers under way are stored, and tell their clients that the server stops; then the connections end,
 * those of readers who do not read included. May be called again.
 * @example process.once('SIGTERM', () => void closeServer(server, inlay))
 */
export async function closeServer(
  server: Server,
  inlay: Pick<Inlay, 'close'>,
  { graceMs = 2_000 }: CloseServerOptions = {},
): Promise<void> {
  // Also when it was never opened, or is closed already.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  try {
    await inlay.close()
  } finally {
    server.closeIdleConnections()
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed.finally(() => clearTimeout(timer))
  }
}
