import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import {
  silent,
  type BodySink,
  type BodySource,
  type Transport,
  type TransportAnswer,
  type TransportRequest,
} from './transport.ts'

/** Bounds of a connection; times are milliseconds. */
export interface HttpTransportOptions {
  /** Longest wait for the beginning of an answer; a slow machine reads a long prompt for many minutes. Default: `idleTimeoutMs`. */
  readonly firstTokenTimeoutMs?: number
  /** Longest silence of an answer that has begun. */
  readonly idleTimeoutMs: number
  /** How long an unused connection is kept open. Default 30 000, or less if the server says so. */
  readonly idleMs?: number
}

type Connections = Awaited<ReturnType<typeof connect>>

interface Opened {
  readonly sent: ClientRequest
  readonly message: IncomingMessage
  /** Why we ended it ourselves: aborted, or silent for too long. */
  readonly ended: () => unknown
}

/**
 * A token that arrives alone costs the relay a fifth less than over `fetch` (`npm run bench:relay -- --relays
 * bare,inlay,fetch`). Decompresses; follows no redirects. Unused connections do not keep the process alive.
 */
export function httpTransport(options: HttpTransportOptions): Transport {
  let loading: Promise<Connections> | undefined
  return async (request) => {
    const connections = await (loading ??= connect(options))
    const opened = await open(connections, request, options.firstTokenTimeoutMs ?? options.idleTimeoutMs)
    return toAnswer(opened, connections.decompressed(opened.message), request.signal, options.idleTimeoutMs)
  }
}

async function connect({ idleMs = 30_000 }: HttpTransportOptions) {
  const [http, https, { decompressed }] = await Promise.all([
    import('node:http'),
    import('node:https'),
    import('../../http/decompression.ts'),
  ])
  const settings = { keepAlive: true, timeout: idleMs, scheduling: 'lifo' } as const
  return {
    request: http.request,
    secureRequest: https.request,
    agent: new http.Agent(settings),
    secureAgent: new https.Agent(settings),
    decompressed,
  }
}

/** Sends a request; once more over a new connection when a kept one turns out to have been closed by the server. */
async function open(connections: Connections, request: TransportRequest, firstTokenTimeoutMs: number): Promise<Opened> {
  const isReused = { value: false }
  const begunAt = performance.now()
  try {
    return await send(connections, request, firstTokenTimeoutMs, isReused)
  } catch (error) {
    if (request.signal?.aborted) throw request.signal.reason
    const wasClosed = closedCodes.has(String(Reflect.get(Object(error), 'code')))
    // A server that closed it later may have read the prompt, and is not made to read it again.
    const isStale = isReused.value && wasClosed && performance.now() - begunAt < staleMs
    if (!isStale) throw failed(error)
  }
  try {
    return await send(connections, request, firstTokenTimeoutMs)
  } catch (error) {
    throw request.signal?.aborted ? request.signal.reason : failed(error)
  }
}

const staleMs = 5_000
const closedCodes = new Set(['ECONNRESET', 'EPIPE'])

/** The error that `fetch` throws without a response, so that providers recognise it. */
function failed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause })
}

/** @param reused set to whether the connection was a kept one; absent: a new one is made */
function send(
  connections: Connections,
  { url, method, headers, body, signal }: TransportRequest,
  firstTokenTimeoutMs: number,
  reused?: { value: boolean },
): Promise<Opened> {
  const isSecure = url.startsWith('https:')
  const open = isSecure ? connections.secureRequest : connections.request
  const kept = isSecure ? connections.secureAgent : connections.agent
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    let cause: unknown
    const sent = open(url, { method, headers, agent: reused ? kept : false, timeout: firstTokenTimeoutMs })
    const end = (error: unknown): void => {
      cause ??= error
      sent.destroy(error instanceof Error ? error : undefined)
    }
    const abort = (): void => end(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    sent.once('timeout', () => end(silent(sent.socket?.timeout ?? firstTokenTimeoutMs)))
    sent.once('close', () => {
      signal?.removeEventListener('abort', abort)
      // An answer that switches protocols (101) closes the connection without an error.
      reject(cause ?? new Error('The connection was closed without an answer.'))
    })
    sent.once('response', (message) => resolve({ sent, message, ended: () => cause }))
    sent.on('error', (error) => {
      if (reused) reused.value = sent.reusedSocket
      reject(cause ?? error)
    })
    sent.end(body)
  })
}

/** @param body undefined if its compression is not supported */
function toAnswer(
  { sent, message, ended }: Opened,
  body: Readable | undefined,
  signal: AbortSignal | undefined,
  idleTimeoutMs: number,
): TransportAnswer {
  const headers = new Headers()
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at] ?? '', message.rawHeaders[at + 1] ?? '')
  }
  // We do not request compression, but some gateways compress anyway.
  if (body === undefined) {
    message.destroy()
    throw failed(new Error('The answer is compressed in a way that is not known here.'))
  }
  const reasonOf = (error: unknown): unknown =>
    signal?.aborted ? signal.reason : new TypeError('terminated', { cause: ended() ?? error })
  return {
    status: message.statusCode ?? 0,
    statusText: message.statusMessage ?? '',
    headers,
    read: (sink) => {
      // Some servers send a first piece before they have read the prompt.
      let pieces = 0
      const onData = (): void => {
        if (++pieces < 2) return
        sent.setTimeout(idleTimeoutMs)
        body.off('data', onData)
      }
      const source = readBody(body, sink, () => sent.destroy(), reasonOf)
      body.on('data', onData)
      return source
    },
  }
}

/**
 * Bytes decoded and parsed together. Many tokens of a fast server arrive in one read of the socket, and Node emits each
 * HTTP chunk by itself: together such a token is a quarter cheaper. The beginning of an event that waits for its end
 * keeps all of them in memory.
 */
const maxBytesTogether = 8_192
/** Bytes read per event loop turn, since a nearby server may send megabytes at once. */
const maxBytesInTurn = 65_536

function readBody(
  body: Readable,
  sink: BodySink,
  close: () => void,
  reasonOf: (error: unknown) => unknown,
): BodySource {
  let isOver = false
  const once = (notify: () => void): void => {
    if (isOver) return
    isOver = true
    notify()
  }
  /** Since the event loop had its turn, and whether the reader wants none now. */
  let bytesInTurn = 0
  let isPaused = false
  let pieces: Uint8Array[] = []
  let pieceBytes = 0
  const pushPieces = (): void => {
    if (isOver || pieces.length === 0) return
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, pieceBytes)
    pieces = []
    pieceBytes = 0
    sink.push(bytes)
  }
  body.on('data', (bytes: Uint8Array) => {
    if (isOver) return
    if (pieces.push(bytes) === 1) process.nextTick(pushPieces)
    pieceBytes += bytes.byteLength
    if (pieceBytes >= maxBytesTogether) pushPieces()
    bytesInTurn += bytes.byteLength
    if (bytesInTurn <= maxBytesInTurn || isPaused) return
    body.pause()
    setImmediate(() => {
      bytesInTurn = 0
      if (!isPaused) body.resume()
    })
  })
  const finish = (notify: () => void): void => {
    pushPieces()
    once(notify)
  }
  body.once('end', () => finish(() => sink.end()))
  body.on('error', (error) => finish(() => sink.fail(reasonOf(error))))
  body.once('close', () => finish(() => sink.fail(reasonOf(new Error('The connection was closed.')))))
  return {
    pause: () => {
      isPaused = true
      body.pause()
    },
    resume: () => {
      isPaused = false
      body.resume()
    },
    cancel: () => once(close),
  }
}
