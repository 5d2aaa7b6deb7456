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
  readonly databaseConnections?: number | undefined
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
export const isDatabaseAddress = (text: string): boolean => hasProtocol(text, /^postgres(?:ql)?:$/)

/** An address that Redis clients accept. */
export const isRedisAddress = (text: string): boolean =>
  hasProtocol(text, /^rediss?:$/) && new URL(text).hostname !== ''

/** A bucket with an optional path: `s3://bucket/path`. */
export const isBucketAddress = (text: string): boolean =>
  /^s3:\/\/[a-z\d][a-z\d.-]{1,62}(?:\/[\w!.*'()/-]*)?$/.test(text)

/** URL of an S3-compatible server. Keys are given separately, since `fetch` refuses URLs that contain them. */
export const isBucketServer = (text: string): boolean =>
  hasProtocol(text, /^https?:$/) && new URL(text).username + new URL(text).password === ''

/** A name prefix that Redis, OpenSearch and PostgreSQL all accept. */
export const isEnginePrefix = (text: string): boolean => /^[a-z][a-z\d_]{0,39}$/.test(text)

/** Parses the index setting; undefined if it is invalid. */
export function indexPlaceOf(text: string): IndexPlace | undefined {
  if (text === 'folder') return { engine: 'folder' }
  if (isDatabaseAddress(text)) return { engine: 'pgvector', address: text }
  if (isBucketAddress(text)) return { engine: 'bucket', address: text }
  const nodes = text.split(/[\s,]+/).filter((node) => node !== '')
  const areNodes = nodes.length > 0 && nodes.every((node) => hasProtocol(node, /^https?:$/))
  return areNodes ? { engine: 'opensearch', nodes } : undefined
}

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
export function hasProtocol(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol)
}
