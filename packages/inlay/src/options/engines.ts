import type { SharedRuns } from '@inlay/agent'
import type { BlobStorage } from '@inlay/conversations'
import type { VectorIndex } from '@inlay/knowledge'
import type { Dialect } from 'kysely'
import * as v from 'valibot'
import { anyText, hasMethod, httpAddress, integer, textLike, withMethods, type Kind } from './kinds.ts'
import { group, option, setting, type Rows } from './rows.ts'

/** Access to S3 buckets. */
export interface S3Access {
  /** URL of an S3-compatible server, such as `http://minio:9000`. Default: Amazon S3. */
  readonly endpoint?: string | undefined
  /** Region. Default `us-east-1`. */
  readonly region?: string | undefined
  /** Access key. Required for uploaded files; an index also uses the environment or the machine's credentials. */
  readonly accessKeyId?: string | undefined
  /** Secret of the access key. */
  readonly secretAccessKey?: string | undefined
  /** Session token of temporary credentials. */
  readonly sessionToken?: string | undefined
}

/** PostgreSQL for the records. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Maximum number of connections of this process, and again as many for an index there. Default 10. */
  readonly maxConnections?: number | undefined
}

/** A server for the index. */
export interface IndexOptions {
  /** As `index` alone. */
  readonly url: string
  /** Number of shards of an OpenSearch index. Default 1. */
  readonly shards?: number | undefined
  /** Number of replicas of each shard. Default: one with two or more nodes. */
  readonly replicas?: number | undefined
  /** Maximum number of connections of this process to PostgreSQL. Default: as for the database. */
  readonly maxConnections?: number | undefined
}

/** Where the data is stored: in the data folder, on servers, or in parts of a host. */
export interface EngineOptions {
  /**
   * Database of the records: an address of PostgreSQL (`postgres://user:password@host:port/database`, needs the package
   * `pg`), settings, or a Kysely dialect. Default: SQLite, `inlay.db` in the data folder.
   */
  readonly database?: string | DatabaseOptions | Dialect | undefined
  /**
   * Index that stores and searches document chunks: `http` or `https` URLs of OpenSearch nodes separated by commas,
   * `postgres://…` for pgvector, `s3://bucket/path` for LanceDB in a bucket, `folder` for the data folder; settings; or an
   * index of your own. Default: in `database`, if that is an address, else LanceDB, `index` in the data folder.
   */
  readonly index?: string | IndexOptions | VectorIndex | undefined
  /**
   * Storage of uploaded files and images: a bucket (`s3://bucket/path`, needs the package `aws4fetch`), or any unstorage
   * `Storage`. Default: `files` in the data folder.
   */
  readonly files?: string | BlobStorage | undefined
  /**
   * Shares running answers between processes: Redis or Valkey (`redis://user:password@host:port/number`, needs the package
   * `redis`), or a store of your own. Default: through the database of the records.
   */
  readonly sharedRuns?: string | SharedRuns | undefined
  /** Access to the buckets. */
  readonly s3?: S3Access | undefined
  /** Prefix of key names in Redis and of index names in OpenSearch and PostgreSQL. Default `inlay`. */
  readonly enginePrefix?: string | undefined
}

export const isDialect = (value: unknown): value is Dialect => hasMethod(value, 'createDriver')
export const isIndex = (value: unknown): value is VectorIndex => hasMethod(value, 'search')

/** The settings of an engine that is named by its address. */
export function toSettings<Settings extends { readonly url: string }>(given: string | Settings): Settings {
  // All others are optional.
  return typeof given === 'string' ? ({ url: given } as Settings) : given
}

export type IndexPlace =
  | { readonly engine: 'opensearch'; readonly nodes: readonly string[] }
  | { readonly engine: 'pgvector'; readonly address: string }
  | { readonly engine: 'bucket'; readonly address: string }
  | { readonly engine: 'folder' }

const isDatabaseAddress = (text: string): boolean => hasProtocol(text, /^postgres(?:ql)?:$/)

const isRedisAddress = (text: string): boolean => hasProtocol(text, /^rediss?:$/) && new URL(text).hostname !== ''

/** A bucket with an optional path: `s3://bucket/path`. */
const isBucketAddress = (text: string): boolean => /^s3:\/\/[a-z\d][a-z\d.-]{1,62}(?:\/[\w!.*'()/-]*)?$/.test(text)

/** URL of an S3-compatible server. Keys are given separately, since `fetch` refuses URLs that contain them. */
const isBucketServer = (text: string): boolean =>
  hasProtocol(text, /^https?:$/) && new URL(text).username + new URL(text).password === ''

/** A name prefix that Redis, OpenSearch and PostgreSQL all accept. */
const isEnginePrefix = (text: string): boolean => /^[a-z][a-z\d_]{0,39}$/.test(text)

/** Parses the index setting; undefined if it is invalid. */
export function indexPlaceOf(text: string): IndexPlace | undefined {
  if (text === 'folder') return { engine: 'folder' }
  if (isDatabaseAddress(text)) return { engine: 'pgvector', address: text }
  if (isBucketAddress(text)) return { engine: 'bucket', address: text }
  const nodes = text.split(/[\s,]+/).filter((node) => node !== '')
  const areNodes = nodes.length > 0 && nodes.every((node) => hasProtocol(node, /^https?:$/))
  return areNodes ? { engine: 'opensearch', nodes } : undefined
}

const bucketServer: Kind<string> = {
  ...textLike('an http or https address without user and password, such as http://minio:9000', isBucketServer),
  read: (given) => (isBucketServer(given) ? httpAddress('').read(given) : undefined),
}

const s3Rows: Rows<S3Access> = {
  endpoint: option(bucketServer, 'INLAY_S3_ENDPOINT', { isSecret: true }),
  region: option(
    textLike('a name, such as eu-central-1', (given) => /^[a-z\d-]{1,40}$/i.test(given)),
    'INLAY_S3_REGION',
  ),
  accessKeyId: option(anyText('a key'), 'INLAY_S3_ACCESS_KEY_ID', { isSecret: true }),
  secretAccessKey: option(anyText('a key'), 'INLAY_S3_SECRET_ACCESS_KEY', { isSecret: true }),
  sessionToken: option(anyText('a token')),
}

const connections = integer(1, 1000)
const databaseKind = textLike(
  'postgres://user:password@host:port/database, with %40 for @ and the like in the password',
  isDatabaseAddress,
)
const database = group<DatabaseOptions>(
  'an address of PostgreSQL, { url, maxConnections }, or a Kysely dialect',
  {
    url: option(databaseKind, 'INLAY_DATABASE_URL', { isSecret: true }),
    maxConnections: option(connections, 'INLAY_DATABASE_CONNECTIONS'),
  },
  ['url'],
)
const indexKind = textLike(
  'http or https addresses of OpenSearch nodes separated by commas, postgres://… for pgvector, s3://bucket/path for LanceDB in a bucket, or folder for INLAY_DATA',
  (given) => indexPlaceOf(given) !== undefined,
)
const index = group<IndexOptions>(
  'an address, { url, shards, replicas, maxConnections }, or a vector index',
  {
    url: option(indexKind, 'INLAY_INDEX_URL', { isSecret: true }),
    shards: option(integer(1, 1024), 'INLAY_INDEX_SHARDS'),
    replicas: option(integer(0, 100), 'INLAY_INDEX_REPLICAS'),
    maxConnections: { check: connections.check },
  },
  ['url'],
)
const redisKind = textLike('redis://user:password@host:port/number, or rediss:// for TLS', isRedisAddress)
const bucketKind = textLike('s3://bucket/path', isBucketAddress)

/** A check by the form of what is handed in: an address, or else a part of a host. */
const addressOr = (kind: Kind<string>, check: (value: unknown) => v.GenericSchema): v.GenericSchema =>
  v.lazy((value) => (typeof value === 'string' ? kind.check : check(value)))

const dialectCheck = withMethods('a Kysely dialect', 'createDriver', 'createQueryCompiler')
const indexCheck = withMethods('a vector index', 'open', 'append', 'search')
const storageCheck = withMethods('a bucket, s3://bucket/path, or an unstorage Storage', 'getItemRaw', 'setItemRaw')
const runsCheck = withMethods('redis://… or a store of shared runs', 'open', 'append', 'read', 'takeAbandoned')

export const engineRows: Rows<EngineOptions> = {
  database: {
    ...database,
    check: addressOr(databaseKind, (value) => (isDialect(value) ? dialectCheck : database.check)),
  },
  index: { ...index, check: addressOr(indexKind, (value) => (isIndex(value) ? indexCheck : index.check)) },
  sharedRuns: {
    check: addressOr(redisKind, () => runsCheck),
    setting: setting(redisKind, 'INLAY_REDIS_URL', { isSecret: true }),
  },
  files: {
    check: addressOr(bucketKind, () => storageCheck),
    setting: setting(bucketKind, 'INLAY_FILES_URL', { isSecret: true }),
  },
  s3: group('{ endpoint, region, accessKeyId, secretAccessKey }', s3Rows),
  enginePrefix: option(
    textLike('lower-case letters, digits and _, at most 40, a letter first', isEnginePrefix),
    'INLAY_ENGINE_PREFIX',
  ),
}

/** The addresses among the options: what is neither in the data folder nor a part of a host. */
export function engineAddresses({
  database,
  index,
  files,
  sharedRuns,
}: EngineOptions): Readonly<Record<'database' | 'index' | 'files' | 'sharedRuns', string | undefined>> {
  const textOf = (given: unknown): string | undefined => (typeof given === 'string' ? given : undefined)
  return {
    database: database === undefined || isDialect(database) ? undefined : toSettings(database).url,
    index: index === undefined || isIndex(index) ? undefined : toSettings(index).url,
    files: textOf(files),
    sharedRuns: textOf(sharedRuns),
  }
}

export function usesDataFolder(options: EngineOptions): boolean {
  const { database, index = database, files } = engineAddresses(options)
  return database === undefined || files === undefined || index === 'folder'
}

/** Lists the storage locations, one per line, without users, passwords and parameters. */
export function engineLines(options: EngineOptions): string[] {
  const { database, index = database, files, sharedRuns } = engineAddresses(options)
  const lines = { Records: database, Index: index, Files: files, 'Running answers': sharedRuns }
  return Object.entries(lines).flatMap(([what, text]) => {
    if (text === undefined || text === 'folder') return []
    const place = indexPlaceOf(text)
    // A password may contain a comma.
    const addresses = place?.engine === 'opensearch' ? place.nodes : [text]
    return `${what}: ${addresses.map(shown).join(', ')}`
  })
}

function shown(address: string): string {
  const { protocol, host, pathname } = new URL(address)
  return `${protocol}//${host}${pathname.replace(/\/$/, '')}`
}

function hasProtocol(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol)
}
