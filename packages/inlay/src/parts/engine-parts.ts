import type { SharedRuns } from '@inlay/agent'
import type { PgPool } from '@inlay/drivers/postgres'
import { InlayError, isInlayError } from '@inlay/protocol'
import {
  engineAddresses,
  indexPlaceOf,
  isDialect,
  isIndex,
  toSettings,
  type DatabaseOptions,
  type IndexOptions,
  type S3Access,
} from '../options/engines.ts'
import type { InlayOptions, OpenOptions } from '../options/inlay-options.ts'
import { processPresence } from '../process-presence.ts'
import { passwordOf } from '../settings/secret-files.ts'
import type { Closable } from './destroy-parts.ts'

/**
 * Puts the drivers of engines in place of their addresses. Nothing is connected yet; pools created here are added to
 * `opened`. A bucket that does not respond is reported to `onError`, since it may be back on first use.
 * @throws UNSUPPORTED with the install command if a package is missing
 */
export async function withEngines(
  options: InlayOptions,
  opened: Closable[],
  onError: (error: unknown) => void,
): Promise<OpenOptions> {
  return {
    ...options,
    addresses: engineAddresses(options),
    database: await recordsOf(options, opened),
    index: await indexOf(options, opened),
    files: await filesOf(options, onError),
  }
}

async function poolOf(
  use: 'records' | 'index',
  connectionString: string,
  maxConnections = 10,
  opened: Closable[],
): Promise<PgPool> {
  const { postgresPool } = await import('@inlay/drivers/postgres')
  const password = passwordOf(connectionString)
  const pool = await postgresPool({ connectionString, maxConnections, ...(password && { password }) })
  opened.push({ close: () => pool.end(), measured: { use, pool, max: maxConnections } })
  return pool
}

/** The dialect of the database; undefined for the one in the data folder. Adds its pool to `opened`. */
export async function recordsOf({ database }: InlayOptions, opened: Closable[]): Promise<OpenOptions['database']> {
  if (database === undefined || isDialect(database)) return database
  const { url, maxConnections } = toSettings(database)
  const { postgres } = await import('@inlay/drivers/postgres')
  return postgres({ pool: await poolOf('records', url, maxConnections, opened) })
}

async function indexOf(options: InlayOptions, opened: Closable[]): Promise<OpenOptions['index']> {
  const { database, index, enginePrefix: prefix = 'inlay', vectorShare, s3 } = options
  if (index !== undefined && isIndex(index)) return index
  // If several machines share the database, they also have to share the index.
  const { url, maxConnections }: DatabaseOptions =
    database === undefined || isDialect(database) ? { url: 'folder' } : toSettings(database)
  const { shards, replicas, ...own }: IndexOptions = toSettings(index ?? url)
  const place = indexPlaceOf(own.url)
  switch (place?.engine) {
    case 'opensearch': {
      const { opensearchIndex } = await import('@inlay/drivers/opensearch')
      const layout = { ...(shards !== undefined && { shards }), ...(replicas !== undefined && { replicas }) }
      return opensearchIndex({ nodes: place.nodes, prefix, vectorShare, ...layout })
    }
    case 'pgvector': {
      const { pgvectorIndex } = await import('@inlay/drivers/pgvector')
      const client = await poolOf('index', place.address, own.maxConnections ?? maxConnections, opened)
      return pgvectorIndex({ client, prefix: `${prefix}_index`, vectorShare })
    }
    case 'bucket': {
      const { checkInstalled, lancedbIndex } = await import('@inlay/drivers/lancedb')
      await checkInstalled()
      return lancedbIndex({ folder: place.address, storageOptions: storageOptionsOf(s3), vectorShare })
    }
    default:
      return undefined
  }
}

/** Name of the engine of an index in the conventions of OpenTelemetry, as far as it is known. */
export function indexSystem({ database, index = database }: OpenOptions['addresses']): string {
  const { engine = 'other' } = indexPlaceOf(index ?? '') ?? {}
  return { opensearch: engine, pgvector: 'postgresql', bucket: 'lancedb', folder: 'lancedb', other: engine }[engine]
}

/** Settings with the engine's own names; it looks up missing ones itself, such as the role of a machine. */
function storageOptionsOf(s3: S3Access = {}): Record<string, string> {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env
  // At Amazon it finds the region of a bucket; of other servers it would assume us-west-2.
  const assumed = s3.endpoint === undefined ? undefined : (AWS_REGION ?? AWS_DEFAULT_REGION ?? 'us-east-1')
  const named = {
    region: s3.region ?? assumed,
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
  { files: address, s3 = {} }: InlayOptions,
  onError: (error: unknown) => void,
): Promise<OpenOptions['files']> {
  if (typeof address !== 'string') return address
  const { accessKeyId, secretAccessKey, ...access } = s3
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new InlayError('INVALID_INPUT', {
      message: 'The option files needs accessKeyId and secretAccessKey in the option s3.',
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
    message: `The bucket for uploaded files refused a request (${code}): check INLAY_FILES_URL and INLAY_S3_…, or the options files and s3.`,
    data: { isForOperator: true },
    cause,
  })
}

/** Running answers in Redis, using the clock that all processes share, or in a store of the host. */
export async function sharedRunsOf(
  { sharedRuns: url, enginePrefix: prefix = 'inlay' }: InlayOptions,
  now: () => number,
): Promise<SharedRuns | undefined> {
  if (typeof url !== 'string') return url
  const { loadRedis, redisRuns } = await import('@inlay/drivers/redis')
  return redisRuns({ url, prefix, now, lib: await loadRedis(), processes: processPresence() })
}
