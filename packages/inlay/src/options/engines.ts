import { anyText, httpAddress, integer, textLike, type Kind } from './kinds.ts'
import { group, option, type Row, type Rows } from './rows.ts'

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

/** Servers for the data that would otherwise be stored in the data folder. */
export interface EngineOptions {
  /** PostgreSQL for the records: `postgres://user:password@host:port/database`. Needs the package `pg`. */
  readonly database?: string | undefined
  /**
   * Maximum number of connections of this process to PostgreSQL, for the records and for an index there. Default 10
   * each.
   */
  readonly maxDatabaseConnections?: number | undefined
  /**
   * Location of the index: `http` or `https` URLs of OpenSearch nodes separated by commas, `postgres://…` for pgvector,
   * `s3://bucket/path` for LanceDB in a bucket, `folder` for the data folder. Default: in `database`, if set.
   */
  readonly index?: string | undefined
  /** Number of shards of an OpenSearch index. Default 1. */
  readonly indexShards?: number | undefined
  /** Number of replicas of each shard. Default: one with two or more nodes. */
  readonly indexReplicas?: number | undefined
  /** Redis or Valkey for running answers: `redis://user:password@host:port/number`. Needs the package `redis`. */
  readonly redis?: string | undefined
  /** Bucket for uploaded files: `s3://bucket/path`. Needs the package `aws4fetch`. */
  readonly files?: string | undefined
  /** Access to the buckets. */
  readonly s3?: S3Access | undefined
  /** Prefix of key names in Redis and of index names in OpenSearch and PostgreSQL. Default `inlay`. */
  readonly prefix?: string | undefined
}

/** Parsed index setting. */
export type IndexPlace =
  | { readonly engine: 'opensearch'; readonly nodes: readonly string[] }
  | { readonly engine: 'pgvector'; readonly address: string }
  | { readonly engine: 'bucket'; readonly address: string }
  | { readonly engine: 'folder' }

/** An address that PostgreSQL clients accept. */
const isDatabaseAddress = (text: string): boolean => hasProtocol(text, /^postgres(?:ql)?:$/)

/** An address that Redis clients accept. */
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
  endpoint: option(bucketServer, {
    name: 'INLAY_S3_ENDPOINT',
    meaning: 'URL of the S3-compatible server',
    without: 'Amazon S3 in the given region',
    isSecret: true,
  }),
  region: option(
    textLike('a name, such as eu-central-1', (given) => /^[a-z\d-]{1,40}$/i.test(given)),
    {
      name: 'INLAY_S3_REGION',
      meaning: 'region of the buckets',
      without: 'AWS_REGION, else us-east-1',
    },
  ),
  accessKeyId: option(anyText('a key'), {
    name: 'INLAY_S3_ACCESS_KEY_ID',
    meaning: 'access key of the buckets',
    without: 'AWS_ACCESS_KEY_ID; an index in a bucket also uses the role of the machine',
    isSecret: true,
  }),
  secretAccessKey: option(anyText('a key'), {
    name: 'INLAY_S3_SECRET_ACCESS_KEY',
    meaning: 'secret of the access key',
    without: 'AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if set',
    isSecret: true,
  }),
  sessionToken: option(anyText('a token')),
}

const engineRows: Rows<EngineOptions> = {
  database: option(
    textLike(
      'postgres://user:password@host:port/database, with %40 for @ and the like in the password',
      isDatabaseAddress,
    ),
    {
      name: 'INLAY_DATABASE_URL',
      meaning: 'PostgreSQL database for the records; needs the package pg',
      without: 'SQLite in INLAY_DATA',
      isSecret: true,
    },
  ),
  maxDatabaseConnections: option(integer(1, 1000), {
    name: 'INLAY_DATABASE_CONNECTIONS',
    meaning: 'maximum number of connections per process to PostgreSQL, for the records and again for an index there',
    without: '10 connections',
  }),
  index: option(
    textLike(
      'http or https addresses of OpenSearch nodes separated by commas, postgres://… for pgvector, s3://bucket/path for LanceDB in a bucket, or folder for INLAY_DATA',
      (given) => indexPlaceOf(given) !== undefined,
    ),
    {
      name: 'INLAY_INDEX_URL',
      meaning: 'location of the index',
      without: 'in the database of INLAY_DATABASE_URL, else LanceDB in INLAY_DATA',
      isSecret: true,
    },
  ),
  indexShards: option(integer(1, 1024), {
    name: 'INLAY_INDEX_SHARDS',
    meaning: 'shards of a new index in OpenSearch',
    without: '1 shard',
  }),
  indexReplicas: option(integer(0, 100), {
    name: 'INLAY_INDEX_REPLICAS',
    meaning: 'replicas of each shard of a new index in OpenSearch',
    without: 'one with two or more nodes',
  }),
  redis: option(textLike('redis://user:password@host:port/number, or rediss:// for TLS', isRedisAddress), {
    name: 'INLAY_REDIS_URL',
    meaning: 'Redis or Valkey server for sharing running answers; needs the package redis',
    without: 'shared through the database of the records',
    isSecret: true,
  }),
  files: option(textLike('s3://bucket/path', isBucketAddress), {
    name: 'INLAY_FILES_URL',
    meaning: 'bucket for uploaded files; needs the package aws4fetch',
    without: 'files are stored in INLAY_DATA',
    isSecret: true,
  }),
  s3: group('{ endpoint, region, accessKeyId, secretAccessKey }', s3Rows),
  prefix: option(textLike('lower-case letters, digits and _, at most 40, a letter first', isEnginePrefix), {
    name: 'INLAY_ENGINE_PREFIX',
    meaning:
      'prefix of names in Redis, OpenSearch and pgvector, for installations that share a server; their records still need separate databases or schemas',
    without: 'inlay',
  }),
}

export const enginesRow: Row<EngineOptions> = group(
  'an object of addresses: { database, index, redis, files }',
  engineRows,
)

/** Lists the storage locations, one per line, without users, passwords and parameters. */
export function engineLines({ database, index, redis, files }: EngineOptions): string[] {
  const lines = { Records: database, Index: index ?? database, Files: files, 'Running answers': redis }
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

/** Whether a text is a URL with one of these protocols. */
function hasProtocol(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol)
}
