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

/** What a pool of `pg` makes its connections with. */
export interface ConnectionMaker {
  readonly options: object
  readonly Client?: new (options: object) => {
    connect(): Promise<unknown>
    query(text: string): Promise<unknown>
    end(): Promise<unknown>
    on?(event: 'error', listener: () => void): unknown
    readonly connection?: { readonly stream?: Pick<Stream, 'destroy'> }
  }
}

/** When a query is looked after, and how long a new connection may take to answer, in milliseconds. */
export interface SilenceLimits {
  readonly queryMs: number
  readonly answerMs: number
}

const usualLimits: SilenceLimits = { queryMs: 10_000, answerMs: 5_000 }

/**
 * Makes what ends connections on which a query gets no answer because the server, or the way to it, has gone silent:
 * frozen, or cut off without a word. A query that is only slow goes on: a new connection answers then.
 */
export function createSilenceWatch(
  pool: ConnectionMaker,
  { queryMs, answerMs }: SilenceLimits = usualLimits,
): (connection: WatchedConnection) => void {
  let asking: Promise<boolean> | undefined
  return (connection) => {
    const stream = connection.connection?.stream
    if (stream?.setTimeout === undefined || pool.Client === undefined) return
    const isWaiting = (): boolean => connection.readyForQuery === false
    // Neither side has sent anything for a while. At rest that is how it should be.
    const onQuiet = async (): Promise<void> => {
      if (isWaiting()) asking ??= answers(pool, answerMs).finally(() => (asking = undefined))
      const isSilent = isWaiting() && (await asking) === false && isWaiting()
      if (isSilent) stream.destroy(new Error(silenceMessage))
      else stream.setTimeout?.(queryMs)
    }
    stream.setTimeout(queryMs)
    stream.on('timeout', () => void onQuiet())
  }
}

/** What queries fail with. */
export const silenceMessage = 'Connection terminated: the server is silent'

/** Whether a server says anything on a new connection, be it a refusal. */
async function answers({ Client, options }: ConnectionMaker, answerMs: number): Promise<boolean> {
  if (!Client) return true
  const client = new Client(options)
  client.on?.('error', () => {})
  const over = new AbortController()
  // An answer may have come while the process was busy: then the time is up before it is read.
  const timeUp = delay(answerMs, undefined, over)
    .then(() => nextTurn())
    .catch(() => {})
  const answer = client
    .connect()
    .then(() => client.query('select 1'))
    .then(
      () => true,
      // Its own refusals have a code of five characters, a digit first: as many connections as it takes, for instance.
      (error: unknown) => /^\d\w{4}$/.test(String(Object(error).code)),
    )
  const hasAnswered = (await Promise.race([answer, timeUp])) === true
  over.abort()
  if (hasAnswered) void client.end().catch(() => {})
  else client.connection?.stream?.destroy()
  return hasAnswered
}
