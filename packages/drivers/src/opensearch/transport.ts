import { InlayError, isInlayError, isJsonObject } from '@inlay/protocol'
import { retrying } from '../http/retrying.ts'
import { tlsFault } from '../http/tls-fault.ts'

/** How the nodes of a cluster are reached. */
export interface OpenSearchConnection {
  /**
   * Addresses of one or more nodes, or of a balancer before them; those that fail are passed over. An address may hold
   * name and password: `https://user:password@search-1:9200`.
   */
  readonly nodes: string | readonly string[]
  /** Name for basic authentication. Default: none is sent. */
  readonly username?: string
  /** Its password. */
  readonly password?: string
  /** Sent with every request, e.g. `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends requests, e.g. with a signature for a hosted service or a certificate authority of one's own. */
  readonly fetch?: typeof fetch
  /** Longest time one try of a search or write may take, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
}

/** One request. */
export interface ClusterCall {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Begins with `/`. */
  readonly path: string
  /** A list is sent as newline-delimited JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Refusals that are answers, e.g. 404. */
  readonly accepts?: readonly number[]
  /** Longest time of one try. */
  readonly timeoutMs?: number
  /** Whether somebody waits for the answer: a second node is then asked when the first says nothing for a second. */
  readonly isAwaited?: boolean
  /** Most tries while the cluster is busy or unreachable, each at every node. Default 4, with waits of some 4 s. */
  readonly tries?: number
}

/** Response of a node. */
export interface ClusterReply {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Sends a request to the cluster. SERVICE_UNAVAILABLE when no node can carry it out, or the cluster refuses it. */
export type Cluster = (call: ClusterCall) => Promise<ClusterReply>

/** How silent nodes are told, in milliseconds. */
export const clusterTimes = {
  /** A node that takes longer is looked after: one that is frozen or cut off says nothing to a small request either. */
  quietMs: 5_000,
  /** Longest time for that. */
  answerMs: 3_000,
  /** When another node is asked as well, for a call that somebody waits for. */
  hedgeMs: 1_000,
} as const

/** Nodes that one call asks at the same time. */
const mostAtOnce = 2

const busyStatuses = new Set([408, 429, 502, 503, 504])

/** Tries busy and unreachable nodes again, each time the next one; every request of the index may be sent twice. */
export function createCluster(connection: OpenSearchConnection): Cluster {
  const { nodes, username, password = '', fetch: send = fetch, timeoutMs: usualMs = 30_000 } = connection
  const addresses = (typeof nodes === 'string' ? [nodes] : nodes).map(toNode)
  const usual = username === undefined ? {} : { authorization: basic(username, password) }
  let next = Math.floor(Math.random() * addresses.length)

  const sendTo = async (
    { address, authorization }: Node,
    { accepts = [], timeoutMs = usualMs, ...call }: ClusterCall,
  ): Promise<ClusterReply> => {
    const headers = { ...usual, ...authorization, ...connection.headers }
    const silence = new AbortController()
    const signals = [AbortSignal.timeout(timeoutMs), silence.signal, ...(call.signal ? [call.signal] : [])]
    // Whatever is said is an answer: a proxy may send the root elsewhere.
    const look = (): Promise<unknown> =>
      send(`${address}/`, { headers, redirect: 'manual', signal: AbortSignal.timeout(clusterTimes.answerMs) }).then(
        (reply) => reply.text(),
      )
    const timer = setInterval(() => void look().catch((error: unknown) => silence.abort(error)), clusterTimes.quietMs)
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
      if (reply.status < 300 || accepts.includes(reply.status)) return reply
      throw refusalOf(reply)
    } finally {
      clearInterval(timer)
    }
  }
  /**
   * Goes to the next node at once when one does not answer; only after the last it is time to wait. A call that somebody
   * waits for has two nodes at a time at most, so that a slow cluster gets twice the load and not more.
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
        // Another call may have gone on from it already.
        if (next === at) next = (at + 1) % addresses.length
      }
      underWay++
      if (isAwaited && underWay < mostAtOnce && begun < addresses.length)
        timer = setTimeout(() => {
          goOn()
          askNext()
        }, clusterTimes.hedgeMs)
      sendTo(addresses[at]!, { ...call, signal }).then(resolve, (error: unknown) => {
        underWay--
        if (call.signal?.aborted) return reject(call.signal.reason)
        goOn()
        if (isInlayError(error)) {
          // The other node may still have an answer.
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
  return ({ tries: attempts, ...call }) => retrying(() => tryEach(call), call.signal, { attempts })
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

/** A password may hold a `%` that stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function toNode(node: string): Node {
  if (URL.canParse(node) && /^https?:$/.test(new URL(node).protocol)) {
    const url = new URL(node)
    const [username, password] = [url.username, url.password].map(decoded)
    url.username = url.password = ''
    const authorization = username ? { authorization: basic(username, password!) } : {}
    return { address: url.href.replace(/\/+$/, ''), authorization }
  }
  throw new InlayError('INVALID_INPUT', {
    message: 'A node of a search cluster is an http or https address, such as http://localhost:9200.',
  })
}

const contentTypeOf = (body: unknown): string => (Array.isArray(body) ? 'application/x-ndjson' : 'application/json')

function toText(body: unknown): string | null {
  if (body === undefined) return null
  return Array.isArray(body) ? body.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(body)
}

async function readReply(response: Response): Promise<ClusterReply> {
  // It answers every request with this header.
  if (response.headers.get('x-elastic-product') === 'Elasticsearch') throw isElasticsearch()
  const text = await response.text()
  return { status: response.status, body: toObject(text) }
}

/** Proxies and security plugins refuse in plain text. */
function toObject(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) ? body : {}
  } catch {
    return {}
  }
}

const setting = 'INLAY_INDEX_URL, or the option engines.index'

function isElasticsearch(): InlayError {
  return new InlayError('UNSUPPORTED', {
    data: { isExpected: true },
    message: `This is an Elasticsearch, whose vectors and settings differ: name OpenSearch 2.13 or newer in ${setting}.`,
  })
}

/** Creates the error for a node that does not answer like OpenSearch. */
export function isNoOpenSearch(): InlayError {
  return unavailable(`What answers is no OpenSearch: name its nodes in ${setting}.`, false)
}

/** By the status of a refusal: what somebody has to change. */
const refusals: Readonly<Record<number, string>> = {
  401: `The search cluster refuses the user or the password: check them in ${setting}.`,
  403: `The user of the search cluster lacks a right: allow it to create, read, write and manage indexes of its prefix, or name another one in ${setting}.`,
}

/** Reasons may quote documents, so only the kind of error is told. */
function refusalOf({ status, body }: ClusterReply): InlayError {
  const { error } = body
  const isBlocked = isJsonObject(error) && error['type'] === 'cluster_block_exception'
  if (isBlocked) return unavailable('The search cluster takes no writes: see whether its disks are full.', true)
  const known = refusals[status]
  if (known !== undefined) return unavailable(known, false)
  const kind = isJsonObject(error) && typeof error['type'] === 'string' ? `: ${error['type']}` : ''
  return unavailable(`The search cluster refused a request with ${status}${kind}.`, busyStatuses.has(status))
}

function unreachable(error: unknown): InlayError {
  const tls = tlsFault(error)?.replace('{setting}', setting)
  return tls === undefined ? unavailable('The search cluster cannot be reached.', true, error) : unavailable(tls, false)
}

/** Creates the error for any failure of the cluster. */
export function unavailable(message: string, retryable: boolean, cause?: unknown): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable, cause })
}
