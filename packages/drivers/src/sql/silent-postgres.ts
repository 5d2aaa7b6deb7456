import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

/** A socket; streams that are none have no time limit. */
interface Stream {
  setTimeout?(limitMs: number): unknown
  on(event: 'timeout', listener: () => void): unknown
  destroy(error?: Error): unknown
}

/** A connection as `pg` gives it; those of others may have none of these. */
export interface WatchedConnection {
  /** False while a query is under way. */
  readonly readyForQuery?: boolean
  readonly connection?: { readonly stream?: Stream }
}

/** A pool of `pg`, as far as silence is concerned. */
export interface WatchedPool {
  readonly options?: object
  Client?: ClientClass
  on?(event: 'connect', listener: (connection: WatchedConnection) => void): unknown
}

type ClientClass = new (options: object) => {
  connect(): Promise<unknown>
  end(): Promise<unknown>
  on?(event: 'error', listener: () => void): unknown
  readonly connection?: { readonly stream?: Pick<Stream, 'destroy'> }
}

/** All times are milliseconds. */
export interface SilenceLimits {
  /** When a query is looked after. */
  readonly queryMs: number
  /** How long a new connection may then take to answer. */
  readonly answerMs: number
  /** Longest time to connect to a server that was silent just now. */
  readonly connectMs: number
}

export const postgresTimes: SilenceLimits = { queryMs: 8_000, answerMs: 4_000, connectMs: 2_000 }
/** How long a server counts as silent that was not asked again. */
const silenceAgeMs = 30_000

/**
 * Ends connections on which a query gets no answer because the server, or the way to it, has gone silent: frozen, or cut
 * off without a word. A query that is only slow goes on: a new connection answers then.
 */
export function watchSilence(
  pool: WatchedPool,
  { queryMs, answerMs, connectMs: connectionTimeoutMillis }: SilenceLimits = postgresTimes,
): void {
  const { Client, options = {} } = pool
  if (!Client) return
  let silentUntil = -Infinity
  pool.Client = class extends Client {
    constructor(given: object) {
      super(performance.now() < silentUntil ? { ...given, connectionTimeoutMillis } : given)
    }
  }
  const ask = async (): Promise<boolean> => {
    const isThere = await answers(new Client(options), answerMs)
    silentUntil = isThere ? -Infinity : performance.now() + silenceAgeMs
    return isThere
  }
  let asking: Promise<boolean> | undefined
  pool.on?.('connect', (connection) => {
    silentUntil = -Infinity
    const stream = connection.connection?.stream
    if (stream?.setTimeout === undefined) return
    const isWaiting = (): boolean => connection.readyForQuery === false
    // Neither side has sent anything for a while. At rest that is how it should be.
    const onQuiet = async (): Promise<void> => {
      if (isWaiting()) asking ??= ask().finally(() => (asking = undefined))
      const isSilent = isWaiting() && (await asking) === false && isWaiting()
      if (isSilent) stream.destroy(new Error(silenceMessage))
      else stream.setTimeout?.(queryMs)
    }
    stream.setTimeout(queryMs)
    stream.on('timeout', () => void onQuiet())
  })
}

/**
 * The server's own refusals, which have a code of five characters, a digit first: as many connections as it takes, for
 * instance. And what says nothing about it: no file handle left here, no address found.
 */
const notSilent = /^(\d\w{4}|EMFILE|ENFILE|ENOTFOUND|EAI_AGAIN)$/

const silenceMessage = 'Connection terminated: the server is silent'

/**
 * Whether a server takes a new connection, or says anything else, be it a refusal. No query is tried: before a pooler, it
 * would wait until those that are under way end.
 */
async function answers(client: InstanceType<ClientClass>, answerMs: number): Promise<boolean> {
  client.on?.('error', () => {})
  const over = new AbortController()
  // An answer may have come while the process was busy: then the time is up before it is read.
  const timeUp = delay(answerMs, undefined, over)
    .then(() => nextTurn())
    .catch(() => {})
  const answer = client.connect().then(
    () => true,
    (error: unknown) => notSilent.test(String(Object(error).code)),
  )
  const hasAnswered = (await Promise.race([answer, timeUp])) === true
  over.abort()
  if (hasAnswered) void client.end().catch(() => {})
  else client.connection?.stream?.destroy()
  return hasAnswered
}
