import { endsWithin } from '@inlay/scheduling'

/** A socket; other streams have no timeout. */
interface Stream {
  setTimeout?(timeoutMs: number): unknown
  on(event: 'timeout', listener: () => void): unknown
  destroy(error?: Error): unknown
}

/** A connection of `pg`; others may lack these members. */
export interface WatchedConnection {
  /** False while a query runs. */
  readonly readyForQuery?: boolean
  readonly connection?: { readonly stream?: Stream }
}

export interface WatchedPool {
  readonly options?: object
  Client?: ClientClass
  on?(event: 'connect', listener: (connection: WatchedConnection) => void): unknown
}

type ClientClass = new (options: object) => {
  connect(done?: (error?: Error) => void): unknown
  end(): Promise<unknown>
  on?(event: 'error', listener: () => void): unknown
  readonly connection?: { readonly stream?: Pick<Stream, 'destroy'> }
}

/** Times in milliseconds. */
export interface SilenceLimits {
  /** Time after which a running query is checked. */
  readonly queryMs: number
  /** Timeout for the new connection that checks it. */
  readonly answerMs: number
  readonly connectMs: number
  /** Connection timeout for a server that was just silent. */
  readonly silentConnectMs: number
  /** The same right after one that has failed, so that calls in a queue do not wait for one another. */
  readonly nextConnectMs: number
}

export const postgresTimes: SilenceLimits = {
  queryMs: 8_000,
  answerMs: 4_000,
  connectMs: 12_000,
  silentConnectMs: 2_000,
  nextConnectMs: 200,
}
/** How long a server found unresponsive counts as such without another check. */
const silenceAgeMs = 30_000
/** How long a failed connection stands for those that follow. */
const failureAgeMs = 5_000
/** By how much a timer may be early. */
const timerMs = 5

/**
 * Closes connections whose server or network no longer responds. A slow query goes on: the server answers on a new
 * connection.
 */
export function watchSilence(
  pool: WatchedPool,
  { queryMs, answerMs, connectMs, silentConnectMs, nextConnectMs }: SilenceLimits = postgresTimes,
): void {
  const { Client, options = {} } = pool
  if (!Client) return
  let silentUntil = -Infinity
  let failedAt = -Infinity
  const noteSilence = (): void => {
    failedAt = performance.now()
    silentUntil = failedAt + silenceAgeMs
  }
  const connectTimeoutMs = (): number => {
    const now = performance.now()
    if (now >= silentUntil) return connectMs
    return now < failedAt + failureAgeMs ? nextConnectMs : silentConnectMs
  }
  pool.Client = class extends Client {
    readonly #timeoutMs: number

    constructor(given: object) {
      const connectionTimeoutMillis = connectTimeoutMs()
      super({ ...given, connectionTimeoutMillis })
      this.#timeoutMs = connectionTimeoutMillis
    }

    override connect(done: (error?: Error) => void): unknown {
      const began = performance.now()
      return super.connect((error) => {
        // The server accepts connections and says nothing, or packets are lost. A short wait alone proves nothing.
        if (error && this.#timeoutMs > nextConnectMs && performance.now() - began >= this.#timeoutMs - timerMs)
          noteSilence()
        done(error)
      })
    }
  }
  const ask = async (): Promise<boolean> => {
    const isThere = await answers(new Client(options), answerMs)
    if (isThere) silentUntil = -Infinity
    else noteSilence()
    return isThere
  }
  let asking: Promise<boolean> | undefined
  pool.on?.('connect', (connection) => {
    silentUntil = -Infinity
    const stream = connection.connection?.stream
    if (stream?.setTimeout === undefined) return
    const isWaiting = (): boolean => connection.readyForQuery === false
    // Neither side has sent anything for a while, which is normal when idle.
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

/** Codes of the server, five characters starting with a digit, and local errors: no free handle, address not found. */
const notSilent = /^(\d\w{4}|EMFILE|ENFILE|ENOTFOUND|EAI_AGAIN)$/

const silenceMessage = 'Connection terminated: the server is silent'

/** Any response counts, such as a refusal. No query is sent: behind a pooler, it would wait for the running ones. */
async function answers(client: InstanceType<ClientClass>, answerMs: number): Promise<boolean> {
  client.on?.('error', () => {})
  const answer = Promise.resolve(client.connect()).then(
    () => true,
    (error: unknown) => notSilent.test(String(Object(error).code)),
  )
  const hasAnswered = (await endsWithin(answer, answerMs)) && (await answer)
  if (hasAnswered) void client.end().catch(() => {})
  else client.connection?.stream?.destroy()
  return hasAnswered
}
