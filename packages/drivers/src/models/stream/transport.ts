/** One request to a model; the body is short enough to be held and sent again. */
export interface TransportRequest {
  readonly url: string
  readonly method: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

export interface BodySink {
  /** Decompressed bytes, cut anywhere. */
  push(bytes: Uint8Array): void
  /** The body is complete; nothing follows. */
  end(): void
  /** The body broke off, or the request was aborted; nothing follows. */
  fail(error: unknown): void
}

export interface BodySource {
  /** Stops reading from the network, so that the sender has to wait. */
  pause(): void
  resume(): void
  /** Ends it; the sink gets nothing more and the connection is closed. */
  cancel(): void
}

export interface TransportAnswer {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** Begins to read; may be called once. */
  read(sink: BodySink): BodySource
}

/** Rejects as `fetch` does: with the signal's reason, or a TypeError `fetch failed` that has a cause. */
export type Transport = (request: TransportRequest) => Promise<TransportAnswer>

/** Longest silences of an answer, in milliseconds. */
export interface SilenceLimits {
  readonly firstTokenTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** The cause of an answer that was ended since nothing came. */
export function silent(timeoutMs: number): Error {
  return Object.assign(new Error(`Nothing came for ${Math.round(timeoutMs / 1000)} seconds: timed out.`), {
    code: 'ETIMEDOUT',
  })
}

/** A transport over any `fetch`; a redirect is an answer like any other. The wait for its beginning is up to that. */
export function fetchTransport(carry: typeof fetch, limits?: SilenceLimits): Transport {
  return async ({ url, ...init }) => {
    // A view over any kind of buffer is a body; the types of the platform are narrower than that.
    const response = await carry(url, { ...init, redirect: 'manual' } as RequestInit)
    const { status, statusText, headers, body } = response
    return { status, statusText, headers, read: (sink) => readStream(body, sink, limits) }
  }
}

/** Puts the query of a base URL behind the path of each request. */
export function withQuery(transport: Transport, baseUrl: string | undefined): Transport {
  const query = baseUrl && new URL(baseUrl).search.slice(1)
  if (!query) return transport
  return (request) => transport({ ...request, url: `${request.url}${request.url.includes('?') ? '&' : '?'}${query}` })
}

function readStream(
  body: ReadableStream<Uint8Array> | null,
  sink: BodySink,
  limits: SilenceLimits | undefined,
): BodySource {
  const reader = body?.getReader()
  let isCancelled = false
  let paused: PromiseWithResolvers<void> | undefined

  // Some servers send a first piece before they have read the prompt.
  const within = async <T>(read: Promise<T> | undefined, piece: number): Promise<T | undefined> => {
    if (!limits) return read
    const timeoutMs = piece < 2 ? limits.firstTokenTimeoutMs : limits.idleTimeoutMs
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new TypeError('terminated', { cause: silent(timeoutMs) }))
      void reader?.cancel().catch(() => {})
    }, timeoutMs)
    return Promise.race([read, late.promise]).finally(() => clearTimeout(timer))
  }
  const pump = async (): Promise<void> => {
    for (let piece = 0; ; piece++) {
      await paused?.promise
      const step = await within(reader?.read(), piece)
      if (isCancelled) return
      if (step === undefined || step.done) return sink.end()
      sink.push(step.value)
    }
  }
  pump().catch((error: unknown) => (isCancelled ? undefined : sink.fail(error)))
  return {
    pause: () => void (paused ??= Promise.withResolvers()),
    resume: () => {
      paused?.resolve()
      paused = undefined
    },
    cancel: () => {
      isCancelled = true
      paused?.resolve()
      void reader?.cancel().catch(() => {})
    },
  }
}
