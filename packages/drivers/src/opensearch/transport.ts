import { InlayError, isInlayError, isJsonObject, readJson } from '@inlay/protocol'
import { retrying } from '../http/retrying.ts'
import { tlsFault } from '../http/tls-fault.ts'

export interface OpenSearchConnection {
  /**
   * URLs of one or more nodes, or of a load balancer; failing nodes are skipped. A URL may contain a user name and
   * password: `https://user:password@search-1:9200`.
   */
  readonly nodes: string | readonly string[]
  /** User name for basic authentication. Default: none. */
  readonly username?: string
  /** Password for basic authentication. */
  readonly password?: string
  /** Headers sent with every request, e.g. `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Custom `fetch`, e.g. to sign requests for a hosted service or to use a private certificate authority. */
  readonly fetch?: typeof fetch
  /** Timeout of one attempt of a search or write, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
}

export interface ClusterCall {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Starts with `/`. */
  readonly path: string
  /** A list is sent as newline-delimited JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Error statuses to return as a response, e.g. 404. */
  readonly accepts?: readonly number[]
  readonly timeoutMs?: number
  /** Whether somebody waits: if a node does not respond within a second, a second one is tried concurrently. */
  readonly isAwaited?: boolean
  /** At every node, while the cluster is busy or unreachable. Default 4, with pauses of about 4 s. */
  readonly tries?: number
}

export interface ClusterReply {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Sends a request to the cluster. @throws SERVICE_UNAVAILABLE if no node can handle it, or the cluster refuses it */
export type Cluster = (call: ClusterCall) => Promise<ClusterReply>

/** Times for detecting nodes that do not respond, in milliseconds. */
export const clusterTimes = {
  /** After this time a node is checked with a small request, to which one that hangs does not respond either. */
  quietMs: 5_000,
  /** The same for a node whose last check failed. */
  silentMs: 1_000,
  /** Timeout of that check. */
  answerMs: 3_000,
  /** After this time, a second node is tried, for a call that somebody waits for. */
  hedgeMs: 1_000,
} as const

const maxConcurrent = 2

const busyStatuses = new Set([408, 429, 502, 503, 504])

/** Retries at busy and unreachable nodes, the next each time: every request of the index is safe to send twice. */
export function createCluster(connection: OpenSearchConnection): Cluster {
  const { nodes, username, password = '', fetch: send = fetch, timeoutMs: usualMs = 30_000 } = connection
  const addresses = (typeof nodes === 'string' ? [nodes] : nodes).map(toNode)
  const usual = username === undefined ? {} : { authorization: basic(username, password) }
  let next = Math.floor(Math.random() * addresses.length)
  const silent = new Set<string>()

  const sendTo = async (
    { address, authorization }: Node,
    { accepts = [], timeoutMs = usualMs, ...call }: ClusterCall,
  ): Promise<ClusterReply> => {
    const headers = { ...usual, ...authorization, ...connection.headers }
    const silence = new AbortController()
    const signals = [AbortSignal.timeout(timeoutMs), silence.signal, ...(call.signal ? [call.signal] : [])]
    // Any response counts: a proxy may redirect the root path.
    const look = (): Promise<unknown> =>
      send(`${address}/`, { headers, redirect: 'manual', signal: AbortSignal.timeout(clusterTimes.answerMs) }).then(
        (reply) => reply.text(),
      )
    const check = (): unknown => look().catch((error: unknown) => (silent.add(address), silence.abort(error)))
    const timer = setInterval(check, silent.has(address) ? clusterTimes.silentMs : clusterTimes.quietMs)
    try {
      const reply = await readReply(
        await send(address + call.path, {
          method: call.method ?? 'POST',
          headers: {
            ...headers,
            ...(call.body === undefined ? {} : { 'content-type': contentTypeOf(call.body) }),
          },
          body: toText(call.body),
          redirect: 'error',
          signal: AbortSignal.any(signals),
        }),
      )
      silent.delete(address)
      if (reply.status < 300 || accepts.includes(reply.status)) return reply
      throw refusalOf(reply)
    } finally {
      clearInterval(timer)
    }
  }
  /**
   * Pauses only after the last node. A call that somebody waits for uses at most two nodes at a time: a slow cluster
   * gets at most twice the load.
   */
  const tryEach = ({ isAwaited = false, ...call }: ClusterCall): Promise<ClusterReply> => {
    const { promise, resolve, reject } = Promise.withResolvers<ClusterReply>()
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, ...(call.signal ? [call.signal] : [])])
    const first = next
    let [begun, underWay] = [0, 0]
    let timer: ReturnType<typeof setTimeout> | undefined
    const askNext = (): void => {
      clearTimeout(timer)
      const at = (first + begun++) % addresses.length
      const goOn = (): void => {
        // Another call may already have moved on to the next node.
        if (next === at) next = (at + 1) % addresses.length
      }
      underWay++
      if (isAwaited && underWay < maxConcurrent && begun < addresses.length)
        timer = setTimeout(() => {
          goOn()
          askNext()
        }, clusterTimes.hedgeMs)
      sendTo(addresses[at]!, { ...call, signal }).then(resolve, (error: unknown) => {
        underWay--
        if (call.signal?.aborted) return reject(call.signal.reason)
        goOn()
        if (isInlayError(error)) {
          // The other node may still respond.
          if (!error.retryable || underWay === 0) reject(error)
        } else if (begun < addresses.length) askNext()
        else if (underWay === 0) reject(unreachable(error))
      })
    }
    askNext()
    return promise.finally(() => {
      clearTimeout(timer)
      over.abort()
    })
  }
  return ({ tries: attempts, ...call }) => {
    // Somebody who has waited for silent nodes is told, and does not wait for them again.
    const maxTotalMs = call.isAwaited ? clusterTimes.answerMs : Infinity
    return retrying(() => tryEach(call), call.signal, { attempts, maxTotalMs })
  }
}

interface Node {
  readonly address: string
  /** Separate because `fetch` refuses URLs with a name and password. */
  readonly authorization: { readonly authorization?: string }
}

const basic = (username: string, password: string): string => {
  const bytes = new TextEncoder().encode(`${username}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

/** A password may contain a literal `%`. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function toNode(node: string): Node {
  const url = URL.parse(node)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InlayError('INVALID_INPUT', {
      message: 'The URL of a search cluster node must start with http or https, such as http://localhost:9200.',
    })
  const [username, password] = [url.username, url.password].map(decoded)
  url.username = url.password = ''
  const authorization = username ? { authorization: basic(username, password!) } : {}
  return { address: url.href.replace(/(?<!\/)\/+$/, ''), authorization }
}

const contentTypeOf = (body: unknown): string => (Array.isArray(body) ? 'application/x-ndjson' : 'application/json')

function toText(body: unknown): string | null {
  if (body === undefined) return null
  return Array.isArray(body) ? body.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(body)
}

async function readReply(response: Response): Promise<ClusterReply> {
  // Elasticsearch adds this header to every response.
  if (response.headers.get('x-elastic-product') === 'Elasticsearch') throw isElasticsearch()
  const text = await response.text()
  return { status: response.status, body: toObject(text) }
}

/** Proxies and security plugins return errors as plain text. */
function toObject(text: string): Record<string, unknown> {
  const body = readJson(text)
  return isJsonObject(body) ? body : {}
}

const setting = 'INLAY_INDEX_URL, or the option index'

function isElasticsearch(): InlayError {
  return new InlayError('UNSUPPORTED', {
    data: { isExpected: true, isForOperator: true },
    message: `This server is Elasticsearch, which is not supported: use OpenSearch 2.13 or newer in ${setting}.`,
  })
}

export function isNoOpenSearch(): InlayError {
  return misconfigured(`The server is not OpenSearch: set the URLs of its nodes in ${setting}.`)
}

const refusals: Readonly<Record<number, string>> = {
  401: `The search cluster refused the user name or password. Check both in ${setting}.`,
  403: `The user of the search cluster lacks a permission: allow it to create, read, write and manage indexes with its prefix, or set another user in ${setting}.`,
}

/** The error for a refused request, or a row of one. The reason may quote documents, so only its kind is reported. */
export function refusalOf({ status, body }: ClusterReply): InlayError {
  const { error } = body
  const isBlocked = isJsonObject(error) && error['type'] === 'cluster_block_exception'
  if (isBlocked) return misconfigured('The search cluster refuses writes: check whether its disks are full.')
  const known = refusals[status]
  if (known !== undefined) return misconfigured(known)
  const kind = isJsonObject(error) && typeof error['type'] === 'string' ? `: ${error['type']}` : ''
  return unavailable(`The search cluster refused a request with status ${status}${kind}.`, busyStatuses.has(status))
}

function unreachable(error: unknown): InlayError {
  const tls = tlsFault(error, setting)
  return tls === undefined ? unavailable('The search cluster cannot be reached.', true, error) : misconfigured(tls)
}

/** The error for what the operator has to change. Retryable, since no document is the cause: they wait for the change. */
function misconfigured(message: string): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable: true, data: { isForOperator: true } })
}

export function unavailable(message: string, retryable: boolean, cause?: unknown): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable, cause })
}
