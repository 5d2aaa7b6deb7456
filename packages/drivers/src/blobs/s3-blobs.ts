import { setTimeout as delay } from 'node:timers/promises'
import { InlayError, checkRequired, isText } from '@inlay/protocol'
import { tlsFault } from '../http/tls-fault.ts'
import { installed, toMissing } from '../installed.ts'

export interface S3BlobsOptions {
  /** `s3://bucket/path`. */
  readonly address: string
  /** Access key of the bucket. */
  readonly accessKeyId: string
  /** Its secret. */
  readonly secretAccessKey: string
  /** Session token of temporary keys. */
  readonly sessionToken?: string | undefined
  /** Name of the region. Default `us-east-1`. */
  readonly region?: string | undefined
  /** URL of an S3-compatible server. Default: Amazon S3. */
  readonly endpoint?: string | undefined
}

/** Each write is atomic. */
export interface S3Blobs {
  /** Resolves to null when there is none. */
  getItemRaw(key: string): Promise<Uint8Array | null>
  setItemRaw(key: string, value: Uint8Array): Promise<void>
  /** No error when it is not there. */
  removeItem(key: string): Promise<void>
}

function rejectOutage(cause: unknown): never {
  const fault = tlsFault(cause, 'INLAY_S3_ENDPOINT, or the option s3')
  const known = fault && { message: fault, data: { isForOperator: true } }
  const other = { message: 'The storage of files cannot be reached: try again later.', cause }
  throw new InlayError('SERVICE_UNAVAILABLE', { ...(known || other), retryable: true })
}

/** Timeouts of a bucket, in milliseconds. */
export const bucketTimes = {
  /** Time after which a read is repeated on another connection, since the first may lead to a server that is gone. */
  hedgeMs: 2_000,
  /** Timeout for the response to a read or a delete. */
  answerMs: 8_000,
  /** Timeout for writing a value of a few MiB. */
  writeMs: 20_000,
  /** Timeout for reading a whole value after its response has begun. */
  readMs: 60_000,
} as const

/** The first response of one request, or of two; the other one is aborted. */
async function answerOf(send: (signal: AbortSignal) => Promise<Response>, isRead: boolean): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const { hedgeMs, answerMs, writeMs, readMs } = bucketTimes
  const requests: AbortController[] = []
  let underWay = 0
  const askNext = (): void => {
    const request = new AbortController()
    requests.push(request)
    underWay++
    // Its body is read afterwards.
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(isRead ? answerMs + readMs : writeMs)])
    send(signal).then(
      (response) => {
        for (const other of requests) if (other !== request) other.abort()
        resolve(response)
      },
      (error: unknown) => {
        if (--underWay === 0) reject(error)
      },
    )
  }
  askNext()
  if (!isRead) return promise
  const silence = setTimeout(() => {
    const error = new DOMException('The bucket does not answer.', 'TimeoutError')
    for (const request of requests) request.abort(error)
    reject(error)
  }, answerMs)
  const second = setTimeout(askNext, hedgeMs)
  return promise.finally(() => {
    clearTimeout(silence)
    clearTimeout(second)
  })
}

/**
 * Uploaded files in a bucket of Amazon S3 or of any server that speaks S3. Needs the package `aws4fetch`.
 * @throws UNSUPPORTED when it is not installed
 * @example createInlay({ files: await s3Blobs({ address: 's3://my-bucket/files', accessKeyId, secretAccessKey }) })
 */
export async function s3Blobs(options: S3BlobsOptions): Promise<S3Blobs> {
  checkRequired('s3Blobs', options, 'sessionToken region endpoint', {
    address: ['the address of a bucket, such as s3://bucket/path', isText],
    accessKeyId: ['the id of an access key', isText],
    secretAccessKey: ['its secret', isText],
  })
  const { AwsClient } = await installed('aws4fetch', () => import('aws4fetch').catch(toMissing))
  const { address, endpoint, region = 'us-east-1', sessionToken, ...keys } = options
  const client = new AwsClient({ ...keys, ...(sessionToken && { sessionToken }), region, service: 's3' })
  const server = (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/(?<!\/)\/+$/, '')
  const place = `${server}/${address.replace(/^s3:\/\/|(?<!\/)\/+$/g, '')}`
  const call = async (method: string, key: string, body?: Uint8Array): Promise<Response | undefined> => {
    const path = key.split(':').map(encodeURIComponent).join('/')
    // A shared buffer cannot be a request body; values never are one.
    const sent = body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }
    const send = async (signal: AbortSignal): Promise<Response> => {
      for (let retries = 2; ; retries--) {
        const request = await client.sign(`${place}/${path}`, { method, ...sent })
        // A signal in the request is lost with it, as garbage. Files and the token must not be sent to another address.
        const response = await fetch(request, { signal, redirect: 'manual' })
        if (retries === 0 || (response.status < 500 && response.status !== 429)) return response
        await delay(Math.random() * 100, undefined, { signal })
      }
    }
    const response = await answerOf(send, body === undefined).catch(rejectOutage)
    if (response.ok) return response
    // Its message may contain names of the bucket and of keys.
    const code = /<Code>(\w{1,60})<\/Code>/.exec(await response.text())?.[1]
    // A missing bucket is an error, not a missing value.
    if (response.status === 404 && code !== 'NoSuchBucket') return undefined
    throw new Error(`The bucket refused ${method} with ${response.status}${code === undefined ? '' : ` (${code})`}.`)
  }
  return {
    getItemRaw: async (key) => {
      const response = await call('GET', key)
      return response === undefined ? null : new Uint8Array(await response.arrayBuffer().catch(rejectOutage))
    },
    setItemRaw: async (key, value) => {
      if ((await call('PUT', key, value)) === undefined)
        throw new Error('The bucket refused PUT with 404: check its name and the address of its server.')
    },
    removeItem: async (key) => void (await call('DELETE', key)),
  }
}
