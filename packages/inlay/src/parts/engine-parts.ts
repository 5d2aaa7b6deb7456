import type { PgPool } from '@inlay/drivers/postgres'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { ProcessPresence } from '@inlay/records'
import { indexPlaceOf, type EngineOptions } from '../options/engines.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { passwordOf } from '../settings/secret-files.ts'
import type { Closable } from './destroy-parts.ts'

/**
 * Adds the drivers of engines given by URL, unless the host provides its own. Nothing is connected yet; pools created
 * here are added to `opened`. A bucket that does not respond is reported to `onError`, since it may be back on first
 * use.
 * @throws UNSUPPORTED with the install command if a package is missing
 */
export async function withEngines(
  options: InlayOptions,
  opened: Closable[],
  onError: (error: unknown) => void,
): Promise<InlayOptions> {
  const { engines = {} } = options
  return {
    ...options,
    dialect: options.dialect ?? (await recordsOf(engines, opened)),
    index: options.index ?? (await indexOf(engines, options.vectorShare, opened)),
    storage: options.storage ?? (await filesOf(engines, onError)),
  }
}

async function poolOf(
  use: 'records' | 'index',
  connectionString: string,
  engines: EngineOptions,
  opened: Closable[],
): Promise<PgPool> {
  const { postgresPool } = await import('@inlay/drivers/postgres')
  const { maxDatabaseConnections: maxConnections = 10 } = engines
  const password = passwordOf(connectionString)
  const pool = await postgresPool({ connectionString, maxConnections, ...(password && { password }) })
  opened.push({ close: () => pool.end(), measured: { use, pool, max: maxConnections } })
  return pool
}

/** The dialect of the database given by URL; undefined without one. Adds its pool to `opened`. */
export async function recordsOf(engines: EngineOptions, opened: Closable[]): Promise<InlayOptions['dialect']> {
  if (engines.database === undefined) return undefined
  const { postgres } = await import('@inlay/drivers/postgres')
  return postgres({ pool: await poolOf('records', engines.database, engines, opened) })
}

async function indexOf(
  engines: EngineOptions,
  vectorShare: number | undefined,
  opened: Closable[],
): Promise<InlayOptions['index']> {
  const { database, prefix = 'inlay', indexShards: shards, indexReplicas: replicas } = engines
  // If several machines share the database, they also have to share the index.
  const place = indexPlaceOf(engines.index ?? database ?? 'folder')
  switch (place?.engine) {
    case 'opensearch': {
      const { opensearchIndex } = await import('@inlay/drivers/opensearch')
      const layout = { ...(shards !== undefined && { shards }), ...(replicas !== undefined && { replicas }) }
      return opensearchIndex({ nodes: place.nodes, prefix, vectorShare, ...layout })
    }
    case 'pgvector': {
      const { pgvectorIndex } = await import('@inlay/drivers/pgvector')
      const client = await poolOf('index', place.address, engines, opened)
      return pgvectorIndex({ client, prefix: `${prefix}_index`, vectorShare })
    }
    case 'bucket': {
      const { checkInstalled, lancedbIndex } = await import('@inlay/drivers/lancedb')
      await checkInstalled()
      return lancedbIndex({ folder: place.address, storageOptions: storageOptionsOf(engines), vectorShare })
    }
    default:
      return undefined
  }
}

/** Name of the engine of an index in the conventions of OpenTelemetry, as far as it is known. */
export function indexSystem({ database, index = database }: EngineOptions = {}): string {
  const { engine = 'other' } = indexPlaceOf(index ?? '') ?? {}
  return { opensearch: engine, pgvector: 'postgresql', bucket: 'lancedb', folder: 'lancedb', other: engine }[engine]
}

/** Settings with the engine's own names; it looks up missing ones itself, such as the role of a machine. */
function storageOptionsOf({ s3 = {} }: EngineOptions): Record<string, string> {
  const named = {
    region: s3.region,
    endpoint: s3.endpoint,
    allow_http: s3.endpoint?.startsWith('http:') === true ? 'true' : undefined,
    aws_access_key_id: s3.accessKeyId,
    aws_secret_access_key: s3.secretAccessKey,
    aws_session_token: s3.sessionToken,
  }
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

async function filesOf(
  { files: address, s3 = {} }: EngineOptions,
  onError: (error: unknown) => void,
): Promise<InlayOptions['storage']> {
  if (address === undefined) return undefined
  const { accessKeyId, secretAccessKey, ...access } = s3
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new InlayError('INVALID_INPUT', {
      message: 'engines.files needs accessKeyId and secretAccessKey in engines.s3.',
    })
  const { s3Blobs } = await import('@inlay/drivers/s3-blobs')
  const storage = await s3Blobs({ address, accessKeyId, secretAccessKey, ...access })
  await storage.getItemRaw('start').catch((error: Error) => {
    refuseWrongBucket(error)
    if (isInlayError(error)) onError(error)
  })
  return storage
}

/** Error codes of a bucket for wrong addresses and keys, unlike an outage, which may be temporary. */
const wrongBucket =
  /\((NoSuchBucket|InvalidBucketName|InvalidAccessKeyId|SignatureDoesNotMatch|PermanentRedirect|AuthorizationHeaderMalformed)\)/

function refuseWrongBucket(cause: Error): void {
  const code = wrongBucket.exec(cause.message)?.[1]
  if (code === undefined) return
  throw new InlayError('INVALID_INPUT', {
    message: `The bucket for uploaded files refused a request (${code}): check INLAY_FILES_URL and INLAY_S3_…, or the option engines.`,
    data: { isForOperator: true },
    cause,
  })
}

/** Running answers in Redis, using the clock that all processes share; undefined without a URL. */
export async function engineRuns(
  { redis: url, prefix = 'inlay' }: EngineOptions = {},
  now: () => number,
  processes: () => Promise<ProcessPresence>,
): Promise<InlayOptions['sharedRuns']> {
  if (url === undefined) return undefined
  const { loadRedis, redisRuns } = await import('@inlay/drivers/redis')
  return redisRuns({ url, prefix, now, lib: await loadRedis(), processes: await processes() })
}
