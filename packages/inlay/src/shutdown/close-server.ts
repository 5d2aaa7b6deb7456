import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Inlay } from '../inlay.ts'

/** How a server is closed. All times are milliseconds. */
export interface CloseServerOptions {
  /**
   * How long requests are still taken while `/health/ready` answers 503: the time in which a balancer that asks there notices.
   * Default 0.
   */
  readonly noticeMs?: number
  /** Longest wait for answers and requests under way to end by themselves. Default 0: answers are stopped. */
  readonly drainMs?: number
  /** Longest wait for what is still being sent once everything has ended. Default 2000. */
  readonly graceMs?: number
  /** Waits for `noticeMs`. Default: `setTimeout`. */
  readonly wait?: (delayMs: number) => Promise<unknown>
}

/**
 * Closes a server of `node:http` and the assistant behind it, in the order that leaves nobody guessing: not ready any
 * more; no new connections; answers under way go on for a while, are then stored, and tell their clients that the server
 * stops; then the connections end, those of readers who do not read included. May be called again.
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
  // Its socket first: it ends idle connections before that, and those that come meanwhile are reset. Not so outside of Node.
  const { close } = server instanceof NetServer ? NetServer.prototype : server
  // Also when it was never opened, or is closed already.
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

/** Has a proxy take a new connection, elsewhere, for its next request: this one could end just as it is sent. */
function endsConnection({ httpVersionMajor }: IncomingMessage, response: ServerResponse): void {
  if (httpVersionMajor < 2) response.setHeader('connection', 'close')
}

/**
 * Waits until no connection waits to be accepted. Node takes one in each turn of its loop, and those that wait when a
 * server closes are reset, with the request that a proxy has sent on them. Only a short turn counts: connections that
 * came during a long one, after it had looked for them, wait for the next.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let quietTurns = 0
  const onConnection = (): void => void (quietTurns = 0)
  server.on('connection', onConnection)
  const began = performance.now()
  for (let now = began; quietTurns < 2 && now - began < longestAcceptMs;) {
    const turnBegan = now
    quietTurns++
    await new Promise((resolve) => setImmediate(resolve))
    now = performance.now()
    if (now - turnBegan > shortTurnMs && now - began < shortTurnWaitMs) quietTurns = 0
  }
  server.off('connection', onConnection)
}

/** An idle loop turns in some hundredths of a millisecond. */
const shortTurnMs = 0.2

/** A busy server may have no short turn; then any turn without a connection has to do. */
const shortTurnWaitMs = 1_000

/** A server that is never quiet has to end as well. */
const longestAcceptMs = 2_000

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([work, delay(limitMs, undefined, over)]).finally(() => over.abort())
}
