import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Inlay } from '../inlay.ts'

/** Options of {@link closeServer}. Times are in milliseconds. */
export interface CloseServerOptions {
  /**
   * How long requests are still accepted while `/health/ready` returns 503, so that a load balancer notices. Default 0.
   */
  readonly noticeMs?: number
  /** How long to wait for running answers and requests to end on their own. Default 0: answers are stopped. */
  readonly drainMs?: number
  /** How long to wait for responses that are still being sent. Default 2000. */
  readonly graceMs?: number
  /** Waits for `noticeMs`. Default: `setTimeout`. */
  readonly wait?: (delayMs: number) => Promise<unknown>
}

/**
 * Closes a server of `node:http` and its assistant gracefully: it stops being ready and stops accepting connections;
 * running answers continue for a while, are then stopped and stored, and their clients are notified; finally the
 * connections are closed, including those of clients that do not read. Idempotent.
 * @example process.once('SIGTERM', () => void closeServer(server, inlay, { noticeMs: 5_000, drainMs: 20_000 }))
 */
export async function closeServer(
  server: Server,
  inlay: Pick<Inlay, 'close'> & Partial<Pick<Inlay, 'drain'>>,
  { noticeMs = 0, drainMs = 0, graceMs = 2_000, wait = delay }: CloseServerOptions = {},
): Promise<void> {
  const drained = inlay.drain?.().catch(() => {})
  server.prependListener('request', endsConnection)
  if (noticeMs > 0) await wait(noticeMs)
  if (server.listening) await acceptWaiting(server)
  // Calls `close` of `net.Server` on Node: that of `http.Server` closes idle connections first, and connections that
  // arrive meanwhile would be reset.
  const { close } = server instanceof NetServer ? NetServer.prototype : server
  // Also resolves if the server was never opened, or is already closed.
  const closed = new Promise<void>((resolve) => close.call(server, () => resolve()))
  server.close()
  try {
    if (drainMs > 0) await within(drainMs, Promise.all([drained, closed]))
    await inlay.close()
  } finally {
    server.closeIdleConnections()
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed.finally(() => clearTimeout(timer))
    server.off('request', endsConnection)
  }
}

/**
 * Makes a proxy use a new connection, to another server, for its next request: this connection might close while it is
 * sent.
 */
function endsConnection({ httpVersionMajor }: IncomingMessage, response: ServerResponse): void {
  if (httpVersionMajor < 2) response.setHeader('connection', 'close')
}

/**
 * Waits until no connection is waiting to be accepted. Node accepts one per event loop turn, and resets waiting ones
 * when a server closes, together with requests that a proxy has already sent. Only a short turn counts: connections
 * that arrive during a long turn are only seen in the next.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let quietTurns = 0
  const onConnection = (): void => void (quietTurns = 0)
  server.on('connection', onConnection)
  const began = performance.now()
  for (let now = began; quietTurns < 2 && now - began < maxAcceptMs;) {
    const turnBegan = now
    quietTurns++
    await new Promise((resolve) => setImmediate(resolve))
    now = performance.now()
    if (now - turnBegan > shortTurnMs && now - began < shortTurnWaitMs) quietTurns = 0
  }
  server.off('connection', onConnection)
}

/** A turn of an idle event loop takes some hundredths of a millisecond. */
const shortTurnMs = 0.2

/** A busy server may have no short turn; after this time, any turn without a connection counts. */
const shortTurnWaitMs = 1_000

/** Upper bound, since a server may never be quiet. */
const maxAcceptMs = 2_000

async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([work, delay(timeoutMs, undefined, over)]).finally(() => over.abort())
}
