import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { InlayError, isInlayError } from '@inlay/protocol'
import type engine from '#lancedb'
import manifest from '../../package.json' with { type: 'json' }
import type { WorkNote } from './writer-presence.ts'

export type Engine = typeof engine

let loading: Promise<Engine> | undefined

/** Loads the engine at first use: it takes about 100 ms and 40 MB, which an app that never searches does not need. */
export function loadEngine(): Promise<Engine> {
  // Read once when the engine is loaded. Its Rust code warns on stderr about queries without a score column.
  process.env['LANCEDB_LOG'] ??= 'error'
  // The default on two cores is one compute thread: searches would wait for a fold for up to two seconds.
  const cores = availableParallelism()
  process.env['LANCE_CPU_THREADS'] ??= String(Math.max(4, cores))
  process.env['TOKIO_WORKER_THREADS'] ??= String(Math.max(8, 2 * cores))
  // By default the engine scores each row that matches a filter if up to one row in ten does: 50,000 for a twentieth of
  // a million.
  process.env['LANCE_FLAT_SEARCH_PERCENT_THRESHOLD'] ??= '1'
  loading ??= import('#lancedb').then(
    (module) => module.default,
    (cause: unknown) => {
      loading = undefined
      throw new InlayError('UNSUPPORTED', { message: isBundled() ? bundledMessage : missingMessage(), cause })
    },
  )
  return loading
}

/** Does not load it. @throws UNSUPPORTED with what to do when the native part is missing */
export async function checkInstalled(): Promise<void> {
  // In a bundle, only loading it tells.
  if (isBundled()) return void (await loadEngine())
  try {
    createRequire(import.meta.url).resolve(nativePackage())
  } catch {
    await loadEngine()
  }
}

const bundledMessage =
  'LanceDB cannot be loaded from this bundle. Keep the package "inlay" external: esbuild --external:inlay, rollup ' +
  'external: [/^inlay/], webpack externals: { inlay: "module inlay" }.'

/** Whether this was moved away from what lies beside it, or a folder below in the build. CommonJS has no URL. */
function isBundled(url: string | undefined = import.meta.url): boolean {
  return url === undefined || !['./native.cjs', './lancedb/native.cjs'].some((path) => existsSync(new URL(path, url)))
}

/** Name of the native package for this platform, even if there is none. */
function nativePackage(): string {
  const { platform, arch } = process
  const suffix = platform === 'linux' ? (usesGlibc() ? '-gnu' : '-musl') : platform === 'win32' ? '-msvc' : ''
  return `@lancedb/lancedb-${platform}-${arch}${suffix}`
}

function missingMessage(): string {
  const name = nativePackage()
  const version = new Map(Object.entries(manifest.optionalDependencies)).get(name)
  const remedy =
    version === undefined ? 'There is no build for this platform' : `Run \`npm install ${name}@${version}\``
  return `LanceDB cannot be loaded: its native part is missing. ${remedy}, or choose another index, such as pgvector.`
}

let hasGlibc: boolean | undefined

/** A report costs a millisecond and more, so it is written once. */
function usesGlibc(): boolean {
  hasGlibc ??= 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header
  return hasGlibc
}

/** Runs a call of the engine and converts its errors, whose messages contain folders of this machine. */
export async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toInlayError(error)
  }
}

const [closeRetryMs, maxCloseRetries] = [10, 100]

/** Closes a table or connection. The engine refuses to while a call holds it, which may last beyond the call's promise. */
export async function closeWhenFree(native: { close(): void }): Promise<void> {
  for (let retries = 0; ; retries++)
    try {
      native.close()
      return
    } catch (error) {
      if (retries === maxCloseRetries || !/another borrow is active/.test(String(error))) throw error
      await new Promise((resolve) => setTimeout(resolve, closeRetryMs))
    }
}

/** Repeats work if another writer committed first, or its maintenance removed files of the version being read. */
export async function persistently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === maxAttempts || !isPassing(error)) throw error
    }
  }
}

const maxAttempts = 5

/** Whether a failure was caused by another writer, so that a retry may succeed. */
export function isPassing(error: unknown): boolean {
  const message = messageOf(error)
  if (isOutage(error)) return false
  return /commit conflict|conflicting|preempted|concurrent/i.test(message) || isMiss(error)
}

export function isMiss(error: unknown): boolean {
  return /not found|no such file/i.test(messageOf(error))
}

/** Whether a bucket did not respond, or refused the request. */
export function isOutage(error: unknown): boolean {
  return /HttpError|HTTP error|status: 5\d\d|NoSuchBucket|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|AuthorizationHeaderMalformed/.test(
    messageOf(error),
  )
}

function toInlayError(error: unknown): InlayError {
  if (isInlayError(error)) return error
  const message = messageOf(error)
  if (/no space left|disk quota|os error 28/i.test(message))
    return new InlayError('SERVICE_UNAVAILABLE', {
      message: 'The disk of the index is full: free some space.',
      cause: error,
      data: { isFullDisk: true },
    })
  if (/permission denied|read-only file system|os error (13|30)\b/i.test(message))
    return new InlayError('SERVICE_UNAVAILABLE', {
      // Retryable, since no document is the cause: they wait until the folder is writable.
      message: 'The index cannot be written: make its folder writable for this process.',
      cause: error,
    })
  const certificate = /InvalidCertificate\((\w+)/.exec(message)?.[1]
  if (certificate !== undefined)
    return new InlayError('SERVICE_UNAVAILABLE', {
      message: `The certificate of the bucket's server is refused (${certificate}): name the file of its authority in SSL_CERT_FILE, and in INLAY_S3_ENDPOINT a name that the certificate holds.`,
      data: { isForOperator: true },
    })
  if (isOutage(error))
    return new InlayError('SERVICE_UNAVAILABLE', {
      message:
        'The bucket of the index cannot be used: check that it exists, is reachable, and allows access with these credentials.',
      cause: error,
    })
  if (isPassing(error))
    return new InlayError('SERVICE_UNAVAILABLE', {
      message: 'The index was changed by another writer meanwhile: try again.',
      cause: error,
    })
  return new InlayError('INTERNAL_ERROR', { message: 'The index failed.', cause: error })
}

function messageOf(error: unknown): string {
  return isInlayError(error) ? messageOf(error.cause) : error instanceof Error ? error.message : ''
}

/**
 * A resource that is opened once, shared by concurrent calls, and closed after the last of them. `whenIdle` waits for
 * the calls that run when it is called. The note tells whether a call, or the opening, runs. Failures of the engine are
 * converted.
 */
export function createHandle<Parts, Options>(
  assemble: (options: Options, whenIdle: () => Promise<unknown>) => Promise<Parts>,
  dismantle: (parts: Parts) => Promise<void>,
  note?: WorkNote,
) {
  let opening: Promise<Parts> | undefined
  let closing: Promise<void> | undefined
  const underWay = new Set<Promise<unknown>>()
  const whenIdle = (): Promise<unknown> => Promise.allSettled(underWay)

  async function close(): Promise<void> {
    await whenIdle()
    const parts = await opening?.catch(() => undefined)
    if (parts) await guarded(() => dismantle(parts))
    await note?.remove()
  }

  return {
    /** Later calls join the first. Can be repeated after a failure. @throws CLOSED after `close` */
    async open(options: Options): Promise<void> {
      if (closing) throw closed()
      if (underWay.size === 0) note?.set(true)
      const attempt = (opening ??= guarded(() => assemble(options, whenIdle)))
      underWay.add(attempt)
      try {
        await attempt
      } catch (error) {
        if (opening === attempt) opening = undefined
        throw error
      } finally {
        underWay.delete(attempt)
        if (underWay.size === 0) note?.set(false)
      }
    },
    /** @throws CLOSED after `close`, UNSUPPORTED before `open` */
    async use<Result>(work: (parts: Parts) => Promise<Result>): Promise<Result> {
      if (closing) throw closed()
      if (!opening) throw new InlayError('UNSUPPORTED', { message: 'The index must be opened first.' })
      if (underWay.size === 0) note?.set(true)
      const result = opening.then(work)
      underWay.add(result)
      try {
        return await result
      } catch (error) {
        throw toInlayError(error)
      } finally {
        underWay.delete(result)
        if (underWay.size === 0) note?.set(false)
      }
    },
    /** Resolves after the running calls, since the engine must not be closed while in use. Idempotent. */
    close: (): Promise<void> => (closing ??= close()),
  }
}

function closed(): InlayError {
  return new InlayError('CLOSED', { message: 'The index is closed.' })
}
